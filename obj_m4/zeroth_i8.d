zeroth_i8.o: /work/h/kernels/native/kernels/update/zeroth_i8.c \
 /work/h/kernels/native/kernels/update/../../fixed.h \
 /work/h/kernels/native/kernels/update/../../core.h \
 /work/h/kernels/native/kernels/update/../../odt.h \
 /work/h/kernels/native/kernels/update/../../opcodes.h \
 /work/h/kernels/native/kernels/update/apply_i8.h \
 /work/h/kernels/native/kernels/update/zeroth.h
