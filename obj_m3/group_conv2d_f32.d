group_conv2d_f32.o: \
 /work/h/kernels/native/kernels/linear/group_conv2d_f32.c \
 /work/h/kernels/native/kernels/linear/../../fixed.h \
 /work/h/kernels/native/kernels/linear/../../core.h \
 /work/h/kernels/native/kernels/linear/../../odt.h \
 /work/h/kernels/native/kernels/linear/../../float32.h \
 /work/h/kernels/native/kernels/linear/../../opcodes.h \
 /work/h/kernels/native/kernels/linear/../common/inner_f32.h \
 /work/h/kernels/native/kernels/linear/../common/../../float32.h \
 /work/h/kernels/native/kernels/linear/../common/window.h \
 /work/h/kernels/native/kernels/linear/../common/within.h
