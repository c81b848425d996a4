logmel_i16.o: /work/h/kernels/native/kernels/features/logmel_i16.c \
 /work/h/kernels/native/kernels/features/logmel.h \
 /work/h/kernels/native/kernels/features/../../bytes.h \
 /work/h/kernels/native/kernels/features/../../core.h \
 /work/h/kernels/native/kernels/features/spectrum.h
