program.o: /work/h/kernels/native/program.c \
 /work/h/kernels/native/fixed.h /work/h/kernels/native/core.h \
 /work/h/kernels/native/odt.h /work/h/kernels/native/opcodes.h \
 /work/h/kernels/native/table.h
