float32.o: /work/h/kernels/native/float32.c /work/h/kernels/native/core.h \
 /work/h/kernels/native/float32.h
