rocket_i16.o: /work/h/kernels/native/kernels/features/rocket_i16.c \
 /work/h/kernels/native/kernels/features/rocket.h \
 /work/h/kernels/native/kernels/features/../../bytes.h \
 /work/h/kernels/native/kernels/features/../../core.h
