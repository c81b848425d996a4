adam_i32.o: /work/h/kernels/native/kernels/update/adam_i32.c \
 /work/h/kernels/native/kernels/update/../../fixed.h \
 /work/h/kernels/native/kernels/update/../../core.h \
 /work/h/kernels/native/kernels/update/../../odt.h \
 /work/h/kernels/native/kernels/update/../../float32.h \
 /work/h/kernels/native/kernels/update/../../opcodes.h
