checks.o: /work/h/kernels/native/checks.c /work/h/kernels/native/data.h \
 /work/h/kernels/native/odt.h /work/h/kernels/native/fixed.h \
 /work/h/kernels/native/core.h /work/h/kernels/native/opcodes.h
