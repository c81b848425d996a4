// Depthwise 2-D convolutions, int8 (depthwise2d_i8.c), as cores' own loops take them.

#ifndef ODT_DEPTHWISE2D_I8_H
#define ODT_DEPTHWISE2D_I8_H

#include "../../core.h"
#include "../../opcodes.h"
#include "conv2d_i8.h"

// Forward, or the gradient of the input as phases (phase.h): y = clamp(zy + q * (bias + sum (x - zx) * w)),
// w read in steps.
typedef struct {
    const int8_t *x, *w;
    const int32_t *bias; // or NULL
    const odt_multiplier_t *q;
    int8_t *y;
    int32_t *peak;
    int32_t B, N, H, W, KH, KW, SH, SW, top, left, OH, OW, zx, zy, lo; // from H to OW as odt_tiny_plan() takes them
    int32_t w_n, w_kh, w_kw, y_b, y_oh, y_ow;
} odt_depthwise_t;

// Channels that are computed at a time: what vectors like, or what registers hold; taps of theirs that are held on the
// stack, in 1 KB at most.
#if !ODT_PANEL
enum { ODT_DEPTHWISE_LANES = 32, ODT_DEPTHWISE_TAPS = 16 };
typedef int16_t odt_depthwise_weight_t;
#define ODT_UNROLL
#else
enum { ODT_DEPTHWISE_LANES = 4, ODT_DEPTHWISE_TAPS = 32 };
typedef int32_t odt_depthwise_weight_t;
#define ODT_UNROLL _Pragma("GCC unroll 4")
#endif

// Channels first .. stop - 1 of an odt_depthwise_t; an odt_work_t.
void odt_depthwise_channels_i8(const void *arguments, int32_t first, int32_t stop, int32_t *peak);

static inline void odt_depthwise_i8(const odt_depthwise_t *a) {
    odt_split(odt_depthwise_channels_i8, a, a->N, ODT_DEPTHWISE_LANES, a->peak);
}

#if ODT_M0_DEPTHWISE

// Channels first .. stop - 1; adds to the peak. Returns whether it was done: not with strides above 2 or more than 49
// taps.
int odt_depthwise_i8__m0(const odt_depthwise_t *a, int32_t first, int32_t stop);

// The gradient of the input of strided filters; returns whether it was done: of filters of 3x3 at most and strides of 2, in one
// row, too.
int odt_depthwise_dx_i8__m0(const odt_depthwise2d_dx_i8_t *a, int32_t first, int32_t stop, int32_t *peak);

// The gradient of these filters; returns whether it was done: with strides of at most 2, of filters that leave a tile room.
int odt_depthwise_dw_i8__m0(const odt_depthwise2d_dw_i8_t *a, int32_t first, int32_t stop);

#endif

#if ODT_M4

// Channels first .. stop - 1 of images of a few pixels; returns whether they are, and channels four at least.
int odt_depthwise_tiny_i8__m4(const odt_depthwise_t *a, int32_t first, int32_t stop);
int odt_depthwise_dw_tiny_i8__m4(const odt_depthwise2d_dw_i8_t *a, int32_t first, int32_t stop);

// Channels n .. n + 3; adds to the peak. Returns whether it was done: not if there are fewer channels, or
// filters are large.
int odt_depthwise_i8__m4(const odt_depthwise_t *a, int32_t n, int32_t *peak);

// Channels n .. n + 3 of the gradient of the filters; returns whether it was done.
int odt_depthwise_dw_i8__m4(const odt_depthwise2d_dw_i8_t *a, int32_t n);

#endif

#endif
