sigmoid_i8.o: /work/h/kernels/native/kernels/activation/sigmoid_i8.c \
 /work/h/kernels/native/kernels/activation/../../opcodes.h \
 /work/h/kernels/native/kernels/activation/../../odt.h \
 /work/h/kernels/native/kernels/activation/../common/elements.h \
 /work/h/kernels/native/kernels/activation/../common/../../core.h \
 /work/h/kernels/native/kernels/activation/../common/rescale.h \
 /work/h/kernels/native/kernels/activation/../common/../../fixed.h \
 /work/h/kernels/native/kernels/activation/../common/../../core.h \
 /work/h/kernels/native/kernels/activation/../common/../../odt.h
