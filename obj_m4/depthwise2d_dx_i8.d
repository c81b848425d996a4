depthwise2d_dx_i8.o: \
 /work/h/kernels/native/kernels/linear/depthwise2d_dx_i8.c \
 /work/h/kernels/native/kernels/linear/../../fixed.h \
 /work/h/kernels/native/kernels/linear/../../core.h \
 /work/h/kernels/native/kernels/linear/../../odt.h \
 /work/h/kernels/native/kernels/linear/../../opcodes.h \
 /work/h/kernels/native/kernels/linear/depthwise2d_i8.h \
 /work/h/kernels/native/kernels/linear/../../core.h \
 /work/h/kernels/native/kernels/linear/conv2d_i8.h \
 /work/h/kernels/native/kernels/linear/../../odt.h \
 /work/h/kernels/native/kernels/linear/../../threads.h \
 /work/h/kernels/native/kernels/linear/phase.h
