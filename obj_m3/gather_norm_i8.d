gather_norm_i8.o: /work/h/kernels/native/kernels/norm/gather_norm_i8.c \
 /work/h/kernels/native/kernels/norm/../../data.h \
 /work/h/kernels/native/kernels/norm/../../odt.h \
 /work/h/kernels/native/kernels/norm/../../fixed.h \
 /work/h/kernels/native/kernels/norm/../../core.h \
 /work/h/kernels/native/kernels/norm/../../opcodes.h
