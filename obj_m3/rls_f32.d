rls_f32.o: /work/h/kernels/native/kernels/online/rls_f32.c \
 /work/h/kernels/native/kernels/online/rls.h \
 /work/h/kernels/native/kernels/online/../../bytes.h \
 /work/h/kernels/native/kernels/online/../../fixed.h \
 /work/h/kernels/native/kernels/online/../../core.h \
 /work/h/kernels/native/kernels/online/../../odt.h \
 /work/h/kernels/native/kernels/online/../../float32.h
