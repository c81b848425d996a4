scales_i8.o: /work/h/kernels/native/kernels/step/scales_i8.c \
 /work/h/kernels/native/kernels/step/../../fixed.h \
 /work/h/kernels/native/kernels/step/../../core.h \
 /work/h/kernels/native/kernels/step/../../odt.h \
 /work/h/kernels/native/kernels/step/../../opcodes.h \
 /work/h/kernels/native/kernels/step/../common/rescale.h \
 /work/h/kernels/native/kernels/step/../common/../../core.h \
 /work/h/kernels/native/kernels/step/../common/../../fixed.h
