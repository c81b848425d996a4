maxpool2d_f32.o: /work/h/kernels/native/kernels/pool/maxpool2d_f32.c \
 /work/h/kernels/native/kernels/pool/../../float32.h \
 /work/h/kernels/native/kernels/pool/../../opcodes.h \
 /work/h/kernels/native/kernels/pool/../../odt.h \
 /work/h/kernels/native/kernels/pool/../common/inner_f32.h \
 /work/h/kernels/native/kernels/pool/../common/../../float32.h \
 /work/h/kernels/native/kernels/pool/../common/window.h \
 /work/h/kernels/native/kernels/pool/maxpool2d_choice.h
