momentum_i16.o: /work/h/kernels/native/kernels/update/momentum_i16.c \
 /work/h/kernels/native/kernels/update/../../fixed.h \
 /work/h/kernels/native/kernels/update/../../core.h \
 /work/h/kernels/native/kernels/update/../../odt.h \
 /work/h/kernels/native/kernels/update/../../opcodes.h \
 /work/h/kernels/native/kernels/update/exponents_i16.h
