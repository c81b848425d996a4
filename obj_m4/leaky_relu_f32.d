leaky_relu_f32.o: \
 /work/h/kernels/native/kernels/activation/leaky_relu_f32.c \
 /work/h/kernels/native/kernels/activation/../../float32.h \
 /work/h/kernels/native/kernels/activation/../../opcodes.h \
 /work/h/kernels/native/kernels/activation/../../odt.h
