avgpool2d_f32.o: /work/h/kernels/native/kernels/pool/avgpool2d_f32.c \
 /work/h/kernels/native/kernels/pool/../../float32.h \
 /work/h/kernels/native/kernels/pool/../../opcodes.h \
 /work/h/kernels/native/kernels/pool/../../odt.h \
 /work/h/kernels/native/kernels/pool/avgpool2d.h \
 /work/h/kernels/native/kernels/pool/../common/window.h
