sampling.o: /work/h/kernels/native/kernels/sampling/sampling.c \
 /work/h/kernels/native/kernels/sampling/../../opcodes.h \
 /work/h/kernels/native/kernels/sampling/../../odt.h \
 /work/h/kernels/native/kernels/sampling/sampling.h \
 /work/h/kernels/native/kernels/sampling/../../fixed.h \
 /work/h/kernels/native/kernels/sampling/../../core.h
