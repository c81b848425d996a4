concat_i8.o: /work/h/kernels/native/kernels/join/concat_i8.c \
 /work/h/kernels/native/kernels/join/../../opcodes.h \
 /work/h/kernels/native/kernels/join/../../odt.h \
 /work/h/kernels/native/kernels/join/../common/elements.h \
 /work/h/kernels/native/kernels/join/../common/../../core.h \
 /work/h/kernels/native/kernels/join/../common/rescale.h \
 /work/h/kernels/native/kernels/join/../common/../../fixed.h \
 /work/h/kernels/native/kernels/join/../common/../../core.h \
 /work/h/kernels/native/kernels/join/../common/../../odt.h \
 /work/h/kernels/native/kernels/join/../common/within.h
