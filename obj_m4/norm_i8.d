norm_i8.o: /work/h/kernels/native/kernels/norm/norm_i8.c \
 /work/h/kernels/native/kernels/norm/../../core.h \
 /work/h/kernels/native/kernels/norm/../../opcodes.h \
 /work/h/kernels/native/kernels/norm/../../odt.h \
 /work/h/kernels/native/kernels/norm/../common/elements.h \
 /work/h/kernels/native/kernels/norm/../common/../../core.h \
 /work/h/kernels/native/kernels/norm/../common/rescale.h \
 /work/h/kernels/native/kernels/norm/../common/../../fixed.h \
 /work/h/kernels/native/kernels/norm/../common/../../core.h \
 /work/h/kernels/native/kernels/norm/../common/../../odt.h
