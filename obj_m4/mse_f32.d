mse_f32.o: /work/h/kernels/native/kernels/loss/mse_f32.c \
 /work/h/kernels/native/kernels/loss/../../data.h \
 /work/h/kernels/native/kernels/loss/../../odt.h \
 /work/h/kernels/native/kernels/loss/../../fixed.h \
 /work/h/kernels/native/kernels/loss/../../core.h \
 /work/h/kernels/native/kernels/loss/../../float32.h \
 /work/h/kernels/native/kernels/loss/../../opcodes.h
