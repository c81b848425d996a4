norm_f32.o: /work/h/kernels/native/kernels/norm/norm_f32.c \
 /work/h/kernels/native/kernels/norm/../../fixed.h \
 /work/h/kernels/native/kernels/norm/../../core.h \
 /work/h/kernels/native/kernels/norm/../../odt.h \
 /work/h/kernels/native/kernels/norm/../../float32.h \
 /work/h/kernels/native/kernels/norm/../../opcodes.h
