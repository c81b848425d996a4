// Depthwise 2-D convolutions, int8 (depthwise2d_i8.c): the arguments of the cores' loops.

#ifndef ODT_DEPTHWISE_H
#define ODT_DEPTHWISE_H

#include "../core.h"
#include "../opcodes.h"
#include "correlate.h"

// Forward, or the gradient of the input as phases (phase.h): y = clamp(zy + q * (bias + sum (x - zx) * w)), w is read
// in steps.
typedef struct {
    const int8_t *x, *w;
    const int32_t *bias; // or NULL
    const odt_multiplier_t *q;
    int8_t *y;
    int32_t *peak;
    int32_t B, N, H, W, KH, KW, SH, SW, top, left, OH, OW, zx, zy, lo; // odt_tiny_plan() reads H to OW in this order
    int32_t w_n, w_kh, w_kw, y_b, y_oh, y_ow; // from one row to the next, from one column
    int32_t x_h, x_w;
    #if ODT_M0_DEPTHWISE
    int32_t is_one; // whether all filters meet the same channel, x has no other
    #endif
} odt_depthwise_t;

// Channels computed at a time: as vectors or registers allow. Taps kept for them on the stack, in at most 1 KB.
#if !ODT_PANEL
enum { ODT_DEPTHWISE_LANES = 32, ODT_DEPTHWISE_TAPS = 16 };
typedef int16_t odt_depthwise_weight_t;
#define ODT_UNROLL
#else
enum { ODT_DEPTHWISE_LANES = 4, ODT_DEPTHWISE_TAPS = 32 };
typedef int32_t odt_depthwise_weight_t;
#if ODT_M0 // which has loops of its own for all but large strides and filters
#define ODT_UNROLL
#else
#define ODT_UNROLL _Pragma("GCC unroll 4")
#endif
#endif

// Whether each weight of a filter meets one input: a kernel as large as the image, without padding. On a Cortex-M0+
// this pays from the first weight on.
static inline int odt_is_whole(
    int32_t H, int32_t W, int32_t KH, int32_t KW, int32_t PT, int32_t PL, int32_t OH, int32_t OW) {
    return KH == H && KW == W && (PT | PL) == 0 && OH == 1 && OW == 1 && KH * KW > (ODT_M0 ? 0 : 9);
}

// Channels first .. stop - 1 of the odt_depthwise_t in `arguments`; this function is an odt_work_t.
void odt_depthwise_channels_i8(const void *arguments, int32_t first, int32_t stop, int32_t *peak);

// The same layer with rows and columns exchanged.
static inline odt_depthwise_t odt_turned(const odt_depthwise_t *a) {
    odt_depthwise_t t = *a;
    t.H = a->W, t.W = a->H, t.KH = a->KW, t.KW = a->KH, t.SH = a->SW, t.SW = a->SH, t.top = a->left, t.left = a->top;
    t.OH = a->OW, t.OW = a->OH, t.x_h = a->x_w, t.x_w = a->x_h, t.w_kh = a->w_kw, t.w_kw = a->w_kh;
    t.y_oh = a->y_ow, t.y_ow = a->y_oh;
    return t;
}

static inline void odt_depthwise_i8(const odt_depthwise_t *a) {
    odt_split(odt_depthwise_channels_i8, a, a->N, ODT_DEPTHWISE_LANES, a->peak);
}

#if ODT_M0_DEPTHWISE || ODT_M4

// Whether an axis has strides of 2, or can be treated so because it has one place, where a single tap meets one error.
static inline int odt_is_halved(int32_t stride, int32_t size, int32_t taps, int32_t pad, int32_t errors) {
    return taps >= 1 && taps <= 3 && (stride == 2 || (size == 1 && taps == 1 && pad == 0 && errors == 1));
}

// Whether the gradient of a layer's input goes by squares: with strides of 2 and filters up to 3x3, counted from the
// padding, inputs 2 * j and 2 * j + 1 of an axis meet only errors j - 1 and j.
#define ODT_IS_SQUARES(a) \
    ((a)->SH * (a)->SW > 1 && odt_is_halved((a)->SH, (a)->H, (a)->KH, (a)->PT, (a)->OH) \
        && odt_is_halved((a)->SW, (a)->W, (a)->KW, (a)->PL, (a)->OW))

#endif

#if ODT_M0_DEPTHWISE

// Channels first .. stop - 1; raises the peak. Returns 0 and does nothing for strides above 2 or more than 49 taps.
int odt_depthwise_i8__m0(const odt_depthwise_t *a, int32_t first, int32_t stop);

// A convolution of one channel, with 3x3 filters: all channels of the output; returns whether it was done.
int odt_correlate_one_i8__m0(const odt_correlation_t *a);

// The gradient of the input by squares; returns whether it was done.
int odt_depthwise_dx_i8__m0(const odt_depthwise2d_dx_i8_t *a, int32_t first, int32_t stop, int32_t *peak);

// The gradient of the filters. Returns 0 and does nothing for strides above 2, or filters that leave no room for a
// tile.
int odt_depthwise_dw_i8__m0(const odt_depthwise2d_dw_i8_t *a, int32_t first, int32_t stop);

// A convolution in groups, as sums of depthwise ones: output n of the N is the sum over its group's `inputs`. `d`
// describes what the first input of the first group meets; from output to output of a group w goes on by w_n.
typedef struct {
    odt_depthwise_t d;
    int32_t inputs, outputs;  // of a group
    int32_t w_group, w_input; // from the first weight of a group to the next group's, of an input to the next input's
    int32_t q_step;           // 1; 0: there is one multiplier
    int32_t is_points;        // filters of 1x1 with strides of 1
    int32_t is_squares;       // the gradient of the input with strides of 2: x are the errors (ODT_IS_SQUARES)
} odt_groups_t;

// Outputs first .. stop - 1; raises the peak. Returns whether it was done: not for strides above 2 or large filters.
int odt_sum_groups_i8__m0(const odt_groups_t *g, int32_t first, int32_t stop, int32_t *peak);

// The same for filters of 1x1 with strides of 1: d's H and W, which are the outputs' too, x_w and y_ow say where pixels
// lie.
int odt_point_groups_i8__m0(const odt_groups_t *g, int32_t first, int32_t stop, int32_t *peak);

// The gradient of the filters of such a layer. That of filter n is at dw[n * dw_n] and, from tap to tap, dw_w further.
// Pixels are x_w and e_w bytes apart.
typedef struct {
    odt_depthwise2d_dw_i8_t d;
    int32_t x_w, e_w, inputs, outputs, dw_n, dw_w;
} odt_groups_dw_t;

// Filters first .. stop - 1 of the R, whose dw is 0. Returns whether it was done.
int odt_sum_groups_dw_i8__m0(const odt_groups_dw_t *g, int32_t first, int32_t stop);

// The same for filters of 1x1 with strides of 1.
void odt_point_groups_dw_i8__m0(const odt_groups_dw_t *g, int32_t first, int32_t stop);

#endif

#if ODT_X86

// Channels first .. stop - 1; raises the peak. Returns whether it was done: for at most 64 taps, with VNNI, or with
// AVX2 and at least 16 channels.
int odt_depthwise_i8__x86(const odt_depthwise_t *a, int32_t first, int32_t stop, int32_t *peak);

// The same with VNNI only; the function above tries it first.
#if ODT_HAS_VNNI
int odt_depthwise_dot_i8__x86(const odt_depthwise_t *a, int32_t first, int32_t stop, int32_t *peak);
#else
static inline int odt_depthwise_dot_i8__x86(const odt_depthwise_t *a, int32_t first, int32_t stop, int32_t *peak) {
    (void)a;
    (void)first;
    (void)stop;
    (void)peak;
    return 0;
}
#endif

#endif

#if ODT_M4

// Channels first .. stop - 1 of images of a few pixels. Returns 0 and does nothing for other images or fewer than four
// channels.
int odt_depthwise_tiny_i8__m4(const odt_depthwise_t *a, int32_t first, int32_t stop);
int odt_depthwise_dw_tiny_i8__m4(const odt_depthwise2d_dw_i8_t *a, int32_t first, int32_t stop);

// The gradient of the input by squares, its pixels `pixel` bytes apart: of one layer, or the sum of a few layers'. Each
// layer's e and w lie after those of the layer before. Returns whether it was done: not with fewer than four channels.
enum { ODT_SUMMED = ODT_MPY ? 1 : 2 };
int odt_depthwise_dx_i8__m4(
    const odt_depthwise2d_dx_i8_t *a, int32_t layers, int32_t pixel, int32_t first, int32_t stop, int32_t *peak);

#if ODT_MPY
static inline int odt_depthwise_dx_few_i8__m4(const odt_depthwise2d_dx_i8_t *a, int32_t *peak) {
    (void)a, (void)peak;
    return 0;
}
#else
// The same of all of fewer than four channels, which are computed as four.
int odt_depthwise_dx_few_i8__m4(const odt_depthwise2d_dx_i8_t *a, int32_t *peak);
#endif

// Channels n .. n + 3; raises the peak. Returns whether it was done: not with fewer channels or large filters.
int odt_depthwise_i8__m4(const odt_depthwise_t *a, int32_t n, int32_t *peak);

// Channels n .. n + 3 of the gradient of the filters; returns whether it was done.
int odt_depthwise_dw_i8__m4(const odt_depthwise2d_dw_i8_t *a, int32_t n);

// All of two or three channels with strides of the gradient of the filters; returns whether it was done.
#if !ODT_MPY
int odt_depthwise_dw_few_i8__m4(const odt_depthwise2d_dw_i8_t *a);
#endif

// Channels first .. stop - 1, one at a time; raises the peak. Returns whether it was done: for rows of at most three
// taps and strides of 1; not for the largest filters.
int odt_depthwise_one_i8__m4(const odt_depthwise_t *a, int32_t first, int32_t stop, int32_t *peak);
int odt_depthwise_apart_i8__m4(const odt_depthwise_t *a, int32_t first, int32_t stop, int32_t *peak);
int odt_depthwise_dw_apart_i8__m4(const odt_depthwise2d_dw_i8_t *a, int32_t first, int32_t stop);

#endif

#endif
