// Convolutions, int8, as matrix products by panels. A panel is four rows of one factor, packed on the stack in the
// layout that the core multiplies fastest. It is multiplied by columns of the other factor, which is read in place. The
// forward pass and the gradient of the input are one operation, odt_correlate_i8(); the gradient of the filters is
// odt_correlate_dw_i8(). A dense layer is a convolution of one tap.
//
// 32-bit cores use panels for all of these (core.h). A PC with AVX2 has its own products (product_i8__x86.c). On other
// PCs the compiler vectorizes the plain loops in dense_*_i8.c and conv2d_*_i8.c, which are used unless they are short.
//
//                  correlate: forward      the gradient of the input   correlate_dw: of the filters
//     Cortex-M4    conv2d_i8__m4.c         conv2d_dx_i8__m4.c          conv2d_dw_i8__m4.c
//     others       conv2d_i8__panel.inc    conv2d_i8__panel.inc        conv2d_dw_i8__panel.inc, both in panel_i8.c
//                  with panel_i8__m0.inc on a Cortex-M0+, panel_i8__rv32.inc on RISC-V, else panel_i8__c.inc

#ifndef ODT_CORRELATE_H
#define ODT_CORRELATE_H

#include <stdint.h>

#include "../core.h"
#include "../odt.h"
#include "../opcodes.h"
#include "../threads.h"
#include "route.h"
#include "x86/avx2__x86.h"

// sums[r] = sum_k (x[k] - zx) * w[r * step + k], `fours` > 0 times four rows of K > 0 (dense_i8__m0.h, dense_i8__c.h,
// dense_i8__m4.c).
void odt_dot4_i8(const int8_t *x, const int8_t *w, int32_t step, int32_t K, int32_t zx, int32_t *sums, int32_t fours);

#if ODT_PANEL && !ODT_SMALL
// sums[k] += sum_n e[n] * w[n * K + k], with N > 0 errors and K > 0 sums (dense_dx_i8.c).
void odt_add_columns_i8(int32_t *sums, const int16_t *e, const int8_t *w, int32_t N, int32_t K);
#endif

// Whether matrix products are faster than plain loops: on 32-bit cores, and on PCs with vectors for them.
static inline int odt_has_products(void) {
    #if ODT_X86
    return odt_has_avx2();
    #else
    return ODT_PANEL;
    #endif
}

// Converts sums to outputs of one channel: y[i * step] = clamp(zy + q * (sums[i][place] + offset)); raises the peak.
void odt_finish_i8(const int32_t (*sums)[4], int32_t place, int32_t offset, const odt_multiplier_t *q,
    int32_t zy, int32_t lo, int32_t count, int8_t *y, int32_t step, int32_t *peak);

#if ODT_M0
// Converts consecutive sums to errors: dx[i] = clamp(q * sums[i]); raises the peak.
void odt_finish_errors_i8(const int32_t *sums, const odt_multiplier_t *q, int32_t count, int8_t *dx, int32_t *peak);
#endif

// y[b, oh, ow, n] = clamp(zy + q[n] * (bias[n] + sum_(kh,kw,c) (x - zx) * w)) with x at row
// oh*SH - top + kh, column ow*SW - left + kw, of [B, H, W, C]; zx outside. Steps are distances in
// memory, so that a filter may be read transposed and backwards, and y be written with gaps.
typedef struct {
    const int8_t *x, *w;
    const int32_t *bias;       // or NULL
    const odt_multiplier_t *q; // one for all n if q_step is 0
    int8_t *y;
    int32_t *peak;
    // what a single channel of x meets is read as an odt_depthwise_t, which begins alike
    int32_t B, N, H, W, KH, KW, SH, SW, top, left, OH, OW, zx, zy, lo;
    int32_t w_n, w_kh, w_kw, y_b, y_oh, y_ow;
    int32_t C, w_c, q_step;
    int32_t x_skip; // bytes of a pixel of x outside its C channels: other groups' channels
    // 0; or bytes of a row of x [C, W] and y [N, W], as in the gradient of a dense layer's input. x_skip is 1 - C then,
    // y_ow 1.
    int32_t turned;
} odt_correlation_t;

// How many taps of a filter's row read adjacent memory and are multiplied as one line: all, or one if other groups'
// channels lie between. A small module has no panels for groups.
static inline int32_t odt_line_taps(int32_t KW, int32_t x_skip) {
    return ODT_SMALL || !x_skip ? KW : 1;
}

// Bytes from a pixel of x to the next.
static inline int32_t odt_pixel(int32_t C, int32_t x_skip) {
    return ODT_SMALL ? C : C + x_skip;
}

// Bytes from one of x's channels to the next, and from one of y's.
static inline int32_t odt_apart(const odt_correlation_t *a) {
    return ODT_M0 && !ODT_SMALL && a->turned ? a->turned : 1;
}

// Whether each window is one pixel, at its output's position.
static inline int odt_is_pointwise(const odt_correlation_t *a) {
    return a->KH == 1 && a->KW == 1 && a->SH == 1 && a->SW == 1 && a->top == 0 && a->left == 0 && a->OH == a->H
        && a->OW == a->W;
}

// Whether all outputs of a channel have the same distance.
static inline int odt_is_dense(const odt_correlation_t *a) {
    int32_t line = a->OW * a->y_ow;
    return (a->OH == 1 || a->y_oh == line) && (a->B == 1 || a->y_b == a->OH * line);
}

// Whether a filter's weights lie in the order of a window's inputs.
static inline int odt_is_contiguous(const odt_correlation_t *a) {
    return a->w_c == 1 && (a->KW == 1 || a->w_kw == a->C) && (a->KH == 1 || a->w_kh == a->KW * a->C);
}

void odt_correlate_part_i8(const odt_correlation_t *a);

// The number of taps of an axis that meet the image, over all outputs (conv2d_i8__panel.inc).
int32_t odt_met_taps(int32_t outputs, int32_t stride, int32_t pad, int32_t taps, int32_t size);

// Convolution with a single filter (single_i8.c), if odt_is_single().
int odt_is_single(const odt_correlation_t *a);
void odt_correlate_single_i8(const odt_correlation_t *a);

// dw[n, kh, kw, c] = sum_(b,oh,ow) e[b, oh, ow, n] * (x - zx), x as above and 0 outside. Positions of e are e_step >= N
// apart.
typedef struct {
    int32_t *dw;
    const int8_t *e, *x;
    int32_t B, H, W, C, N, e_step, KH, KW, SH, SW, top, left, OH, OW, zx, x_skip;
} odt_correlation_dw_t;

void odt_correlate_dw_part_i8(const odt_correlation_dw_t *a);

// The gradient of the input by panels, phase by phase (phase.h). Pixels of dx and e are dx_pixel >= C and e_pixel >= N
// bytes apart.
void odt_conv2d_dx_by_panels_i8(const odt_conv2d_dx_i8_t *a, int32_t dx_pixel, int32_t e_pixel);

// The gradient of a transposed convolution's filters by panels; returns 0 and does nothing if panels do not pay.
int odt_transposed2d_dw_by_panels_i8(const odt_transposed2d_dw_i8_t *a);

// Rows of a weight gradient, in the order of inputs: dw[n * dw_step + i] = or += e0[n] * (x0[i] - zx) + e1[n] * (x1[i]
// - zx), i < count <= ODT_PRODUCTS. Without x1 there is one sample; if ODT_PAIR is 2, it is the first.
enum { ODT_PRODUCTS = 96, ODT_PAIR = ODT_M0 || ODT_M4 ? 2 : 1 };
typedef struct {
    int32_t *dw;
    const int8_t *e0, *e1; // NULL: 0
    const int8_t *x0, *x1;
    const int32_t *words;  // count & ~7 inputs
    int32_t dw_step, rows, count, zx, is_first;
} odt_products_t;

void odt_products_words_i8(int32_t *words, const int8_t *x0, const int8_t *x1, int32_t count, int32_t zx);
void odt_products_i8(const odt_products_t *p);

#if ODT_X86
// The same with a PC's vectors (product_i8__x86.c); returns 0 and does nothing if the processor has none or numbers are
// out of their range.
int odt_correlate_i8__x86(const odt_correlation_t *a);

int odt_correlate_dw_i8__x86(const odt_correlation_dw_t *a);

// The same with VNNI only (dot_i8__x86.c, dot_dw_i8__x86.c); the functions above try these first.
#if ODT_HAS_VNNI
int odt_correlate_dot_i8__x86(const odt_correlation_t *a);
int odt_correlate_dw_dot_i8__x86(const odt_correlation_dw_t *a);
#else
static inline int odt_correlate_dot_i8__x86(const odt_correlation_t *a) {
    (void)a;
    return 0;
}

static inline int odt_correlate_dw_dot_i8__x86(const odt_correlation_dw_t *a) {
    (void)a;
    return 0;
}
#endif
#endif

// On all cores (conv2d_i8__threads.c).
#ifdef ODT_THREADS
void odt_correlate_i8(const odt_correlation_t *a);
void odt_correlate_dw_i8(const odt_correlation_dw_t *a);
#else
static inline void odt_correlate_i8(const odt_correlation_t *a) {
    odt_correlate_part_i8(a);
}

static inline void odt_correlate_dw_i8(const odt_correlation_dw_t *a) {
    odt_correlate_dw_part_i8(a);
}
#endif

#endif
