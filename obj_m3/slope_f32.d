slope_f32.o: /work/h/kernels/native/kernels/update/slope_f32.c \
 /work/h/kernels/native/kernels/update/../../data.h \
 /work/h/kernels/native/kernels/update/../../odt.h \
 /work/h/kernels/native/kernels/update/../../float32.h \
 /work/h/kernels/native/kernels/update/../../opcodes.h \
 /work/h/kernels/native/kernels/update/zeroth.h \
 /work/h/kernels/native/kernels/update/../../fixed.h \
 /work/h/kernels/native/kernels/update/../../core.h
