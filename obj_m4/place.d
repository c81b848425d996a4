place.o: /work/h/kernels/native/kernels/join/place.c \
 /work/h/kernels/native/kernels/join/../../opcodes.h \
 /work/h/kernels/native/kernels/join/../../odt.h \
 /work/h/kernels/native/kernels/join/../common/within.h
