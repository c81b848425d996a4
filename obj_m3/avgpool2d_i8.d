avgpool2d_i8.o: /work/h/kernels/native/kernels/pool/avgpool2d_i8.c \
 /work/h/kernels/native/kernels/pool/../../opcodes.h \
 /work/h/kernels/native/kernels/pool/../../odt.h \
 /work/h/kernels/native/kernels/pool/../common/elements.h \
 /work/h/kernels/native/kernels/pool/../common/../../core.h \
 /work/h/kernels/native/kernels/pool/../common/rescale.h \
 /work/h/kernels/native/kernels/pool/../common/../../fixed.h \
 /work/h/kernels/native/kernels/pool/../common/../../core.h \
 /work/h/kernels/native/kernels/pool/../common/../../odt.h \
 /work/h/kernels/native/kernels/pool/../common/inner_i8.h \
 /work/h/kernels/native/kernels/pool/avgpool2d.h \
 /work/h/kernels/native/kernels/pool/../common/window.h
