// Kernels for stock firmware on an RP2040 that replace the small ones (mod_piece.c, natmod.mk). They are compiled for
// speed and use the chip's divider. There is one list X(instruction) per piece.

#ifndef ODT_FAST_LISTS_H
#define ODT_FAST_LISTS_H

#include "../table.h"

// Of a piece with ODT_FAST; the last has no kernel.
typedef struct {
    odt_kernel_t kernel;
    int32_t number;
} odt_faster_t;

enum { ODT_FAST_PIECES = 2 };

// _odt_fast.mpy
#define ODT_FAST_1(X) \
    X(ADAM_I8, adam_i8) \
    X(ADAM_I16, adam_i16) \
    X(BIAS_DW_I8, bias_dw_i8) \
    X(RELU_DX_I8, relu_dx_i8) \
    X(RESCALE, rescale) \
    X(BIAS_I8, bias_i8)

// _odt_fast_conv.mpy
#define ODT_FAST_2(X) \
    X(CONV2D_I8, conv2d_i8) \
    X(CONV2D_DX_I8, conv2d_dx_i8) \
    X(CONV2D_DW_I8, conv2d_dw_i8) \
    X(DENSE_I8, dense_i8) \
    X(DENSE_DX_I8, dense_dx_i8) \
    X(DENSE_DW_I8, dense_dw_i8) \
    X(MAXPOOL2D_CHOICE_I8, maxpool2d_choice_i8) \
    X(UNPOOL2D_I8, unpool2d_i8)

#endif
