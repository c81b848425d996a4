apply_f32.o: /work/h/kernels/native/kernels/update/apply_f32.c \
 /work/h/kernels/native/kernels/update/../../float32.h \
 /work/h/kernels/native/kernels/update/../../opcodes.h \
 /work/h/kernels/native/kernels/update/../../odt.h
