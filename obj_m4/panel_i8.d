panel_i8.o: /work/h/kernels/native/kernels/linear/panel_i8.c \
 /work/h/kernels/native/kernels/linear/../../core.h \
 /work/h/kernels/native/kernels/linear/conv2d_i8.h \
 /work/h/kernels/native/kernels/linear/../../odt.h \
 /work/h/kernels/native/kernels/linear/../../threads.h
