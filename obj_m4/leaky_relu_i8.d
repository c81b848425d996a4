leaky_relu_i8.o: \
 /work/h/kernels/native/kernels/activation/leaky_relu_i8.c \
 /work/h/kernels/native/kernels/activation/../../fixed.h \
 /work/h/kernels/native/kernels/activation/../../core.h \
 /work/h/kernels/native/kernels/activation/../../odt.h \
 /work/h/kernels/native/kernels/activation/../../opcodes.h
