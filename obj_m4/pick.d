pick.o: /work/h/kernels/native/kernels/dynamic/pick.c \
 /work/h/kernels/native/kernels/dynamic/../../fixed.h \
 /work/h/kernels/native/kernels/dynamic/../../core.h \
 /work/h/kernels/native/kernels/dynamic/../../odt.h \
 /work/h/kernels/native/kernels/dynamic/../../opcodes.h
