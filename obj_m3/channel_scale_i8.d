channel_scale_i8.o: \
 /work/h/kernels/native/kernels/linear/channel_scale_i8.c \
 /work/h/kernels/native/kernels/linear/../../fixed.h \
 /work/h/kernels/native/kernels/linear/../../core.h \
 /work/h/kernels/native/kernels/linear/../../odt.h \
 /work/h/kernels/native/kernels/linear/../../opcodes.h \
 /work/h/kernels/native/kernels/linear/../common/rescale.h \
 /work/h/kernels/native/kernels/linear/../common/../../core.h \
 /work/h/kernels/native/kernels/linear/../common/../../fixed.h
