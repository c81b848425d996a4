elements.o: /work/h/kernels/native/kernels/common/elements.c \
 /work/h/kernels/native/kernels/common/../../core.h \
 /work/h/kernels/native/kernels/common/elements.h \
 /work/h/kernels/native/kernels/common/rescale.h \
 /work/h/kernels/native/kernels/common/../../fixed.h \
 /work/h/kernels/native/kernels/common/../../core.h \
 /work/h/kernels/native/kernels/common/../../odt.h
