bare.o: /tmp/bare/bare.c /work/h/kernels/native/odt.h
