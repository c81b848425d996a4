opcodes.o: /work/h/kernels/native/opcodes.c /work/h/kernels/native/core.h \
 /work/h/kernels/native/opcodes.h /work/h/kernels/native/odt.h \
 /work/h/kernels/native/table.h
