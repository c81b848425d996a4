rank.o: /work/h/kernels/native/kernels/dynamic/rank.c \
 /work/h/kernels/native/kernels/dynamic/../../fixed.h \
 /work/h/kernels/native/kernels/dynamic/../../core.h \
 /work/h/kernels/native/kernels/dynamic/../../odt.h \
 /work/h/kernels/native/kernels/dynamic/../../float32.h \
 /work/h/kernels/native/kernels/dynamic/../../opcodes.h
