dropout.o: /work/h/kernels/native/kernels/dropout/dropout.c \
 /work/h/kernels/native/kernels/dropout/../../fixed.h \
 /work/h/kernels/native/kernels/dropout/../../core.h \
 /work/h/kernels/native/kernels/dropout/../../odt.h \
 /work/h/kernels/native/kernels/dropout/../../float32.h \
 /work/h/kernels/native/kernels/dropout/../../opcodes.h \
 /work/h/kernels/native/kernels/dropout/../common/begin.h \
 /work/h/kernels/native/kernels/dropout/../common/../../fixed.h \
 /work/h/kernels/native/kernels/dropout/../common/../../opcodes.h
