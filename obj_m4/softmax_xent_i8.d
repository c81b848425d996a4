softmax_xent_i8.o: /work/h/kernels/native/kernels/loss/softmax_xent_i8.c \
 /work/h/kernels/native/kernels/loss/../../data.h \
 /work/h/kernels/native/kernels/loss/../../odt.h \
 /work/h/kernels/native/kernels/loss/../../fixed.h \
 /work/h/kernels/native/kernels/loss/../../core.h \
 /work/h/kernels/native/kernels/loss/../../opcodes.h \
 /work/h/kernels/native/kernels/loss/targets_i8.h
