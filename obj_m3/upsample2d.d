upsample2d.o: /work/h/kernels/native/kernels/join/upsample2d.c \
 /work/h/kernels/native/kernels/join/../../opcodes.h \
 /work/h/kernels/native/kernels/join/../../odt.h
