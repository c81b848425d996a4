sampling_i8.o: /work/h/kernels/native/kernels/sampling/sampling_i8.c \
 /work/h/kernels/native/kernels/sampling/../../data.h \
 /work/h/kernels/native/kernels/sampling/../../odt.h \
 /work/h/kernels/native/kernels/sampling/../../opcodes.h \
 /work/h/kernels/native/kernels/sampling/../common/begin.h \
 /work/h/kernels/native/kernels/sampling/../common/../../fixed.h \
 /work/h/kernels/native/kernels/sampling/../common/../../core.h \
 /work/h/kernels/native/kernels/sampling/../common/../../odt.h \
 /work/h/kernels/native/kernels/sampling/../common/../../opcodes.h \
 /work/h/kernels/native/kernels/sampling/../common/elements.h \
 /work/h/kernels/native/kernels/sampling/../common/../../core.h \
 /work/h/kernels/native/kernels/sampling/../common/rescale.h \
 /work/h/kernels/native/kernels/sampling/../loss/targets_i8.h \
 /work/h/kernels/native/kernels/sampling/../loss/../../data.h \
 /work/h/kernels/native/kernels/sampling/../loss/../../fixed.h \
 /work/h/kernels/native/kernels/sampling/sampling.h \
 /work/h/kernels/native/kernels/sampling/../../fixed.h
