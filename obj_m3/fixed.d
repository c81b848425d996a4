fixed.o: /work/h/kernels/native/fixed.c /work/h/kernels/native/core.h \
 /work/h/kernels/native/fixed.h /work/h/kernels/native/odt.h
