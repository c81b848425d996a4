range_i8.o: /work/h/kernels/native/kernels/step/range_i8.c \
 /work/h/kernels/native/kernels/step/../../fixed.h \
 /work/h/kernels/native/kernels/step/../../core.h \
 /work/h/kernels/native/kernels/step/../../odt.h \
 /work/h/kernels/native/kernels/step/../../opcodes.h
