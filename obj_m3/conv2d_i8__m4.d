conv2d_i8__m4.o: /work/h/kernels/native/kernels/linear/conv2d_i8__m4.c \
 /work/h/kernels/native/kernels/linear/../../core.h \
 /work/h/kernels/native/kernels/linear/conv2d_i8.h \
 /work/h/kernels/native/kernels/linear/../../odt.h \
 /work/h/kernels/native/kernels/linear/../../threads.h
