open.o: /work/h/kernels/native/kernels/activation/open.c \
 /work/h/kernels/native/kernels/activation/../../float32.h \
 /work/h/kernels/native/kernels/activation/../../opcodes.h \
 /work/h/kernels/native/kernels/activation/../../odt.h
