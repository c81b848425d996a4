gather_f32.o: /work/h/kernels/native/kernels/step/gather_f32.c \
 /work/h/kernels/native/kernels/step/../../data.h \
 /work/h/kernels/native/kernels/step/../../odt.h \
 /work/h/kernels/native/kernels/step/../../fixed.h \
 /work/h/kernels/native/kernels/step/../../core.h \
 /work/h/kernels/native/kernels/step/../../float32.h \
 /work/h/kernels/native/kernels/step/../../opcodes.h
