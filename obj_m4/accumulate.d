accumulate.o: /work/h/kernels/native/kernels/step/accumulate.c \
 /work/h/kernels/native/kernels/step/../../fixed.h \
 /work/h/kernels/native/kernels/step/../../core.h \
 /work/h/kernels/native/kernels/step/../../odt.h \
 /work/h/kernels/native/kernels/step/../../float32.h \
 /work/h/kernels/native/kernels/step/../../opcodes.h
