sampling_f32.o: /work/h/kernels/native/kernels/sampling/sampling_f32.c \
 /work/h/kernels/native/kernels/sampling/../../data.h \
 /work/h/kernels/native/kernels/sampling/../../odt.h \
 /work/h/kernels/native/kernels/sampling/../../float32.h \
 /work/h/kernels/native/kernels/sampling/../../opcodes.h \
 /work/h/kernels/native/kernels/sampling/../common/begin.h \
 /work/h/kernels/native/kernels/sampling/../common/../../fixed.h \
 /work/h/kernels/native/kernels/sampling/../common/../../core.h \
 /work/h/kernels/native/kernels/sampling/../common/../../odt.h \
 /work/h/kernels/native/kernels/sampling/../common/../../opcodes.h \
 /work/h/kernels/native/kernels/sampling/sampling.h \
 /work/h/kernels/native/kernels/sampling/../../fixed.h
