targets_f32.o: /work/h/kernels/native/kernels/loss/targets_f32.c \
 /work/h/kernels/native/kernels/loss/../../fixed.h \
 /work/h/kernels/native/kernels/loss/../../core.h \
 /work/h/kernels/native/kernels/loss/../../odt.h \
 /work/h/kernels/native/kernels/loss/../../float32.h \
 /work/h/kernels/native/kernels/loss/../../opcodes.h \
 /work/h/kernels/native/kernels/loss/targets_f32.h \
 /work/h/kernels/native/kernels/loss/../../data.h
