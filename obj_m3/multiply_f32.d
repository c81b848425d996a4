multiply_f32.o: /work/h/kernels/native/kernels/join/multiply_f32.c \
 /work/h/kernels/native/kernels/join/../../float32.h \
 /work/h/kernels/native/kernels/join/../../opcodes.h \
 /work/h/kernels/native/kernels/join/../../odt.h
