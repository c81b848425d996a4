maxpool2d_i8.o: /work/h/kernels/native/kernels/pool/maxpool2d_i8.c \
 /work/h/kernels/native/kernels/pool/../../fixed.h \
 /work/h/kernels/native/kernels/pool/../../core.h \
 /work/h/kernels/native/kernels/pool/../../odt.h \
 /work/h/kernels/native/kernels/pool/../../opcodes.h \
 /work/h/kernels/native/kernels/pool/../common/inner_i8.h \
 /work/h/kernels/native/kernels/pool/../common/../../fixed.h \
 /work/h/kernels/native/kernels/pool/../common/window.h \
 /work/h/kernels/native/kernels/pool/maxpool2d_choice.h
