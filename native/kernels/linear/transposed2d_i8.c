// Transposed 2-D convolutions, int8: each input position adds its channels' values times the filters to a window of y.
// x is [B, H, W, C], w [N, KH, KW, C], y and e [B, OH, OW, N]; oh = ih * SH - PT + kh.

#include <string.h>

#include "../../core.h"
#include "../../fixed.h"
#include "../../opcodes.h"
#include "../../common/inner_i8.h"
#include "../../common/rescale.h"
#include "../../common/window.h"
#include "../../common/axis_part.h"
#include "../../cores/correlate.h"
#include "../../cores/m4/conv2d_i8__m4.h"
#include "phase.h"

// The forward pass by panels: outputs one stride apart have the same taps, as the inputs in conv2d_dx_i8.c. The
// gradient of the input is a convolution of the errors.
#if ODT_PANEL

static void transposed2d_by_panels(const odt_transposed2d_i8_t *a) {
    int32_t C = a->C, N = a->N, row = a->KW * C, outputs = a->OW * N;
    for (int32_t kh = 0; kh < a->SH; kh++) {
        odt_phase_t h = odt_phase(kh, a->PT, a->SH, a->OH, a->KH);
        for (int32_t kw = 0; kw < a->SW; kw++) {
            odt_phase_t w = odt_phase(kw, a->PL, a->SW, a->OW, a->KW);
            if (h.outputs == 0 || w.outputs == 0) {
                continue;
            }
            int32_t last = (kh + (h.taps - 1) * a->SH) * row + (kw + (w.taps - 1) * a->SW) * C;
            int is_empty = h.taps == 0 || w.taps == 0;
            odt_correlation_t c = {.x = a->x, .w = is_empty ? a->w : a->w + last, .bias = a->b, .q = a->q,
                .y = a->y + h.first * outputs + w.first * N, .peak = a->peak, .B = a->B, .H = a->H,
                .W = a->W, .C = C, .N = N, .KH = is_empty ? 0 : h.taps, .KW = is_empty ? 0 : w.taps,
                .SH = 1, .SW = 1, .top = h.pad, .left = w.pad, .OH = h.outputs, .OW = w.outputs, .zx = a->zx,
                .zy = a->zy, .lo = a->lo, .w_n = a->KH * row, .w_kh = -a->SH * row, .w_kw = -a->SW * C, .w_c = 1,
                .y_b = a->OH * outputs, .y_oh = a->SH * outputs, .y_ow = a->SW * N, .q_step = 1};
            odt_correlate_i8(&c);
        }
    }
}

#endif

#if ODT_PANEL && !ODT_SMALL

// For images of one pixel, as at the start of a decoder: an output is one row of a filter times the pixel. Panels would
// mostly multiply padding.
static int transposed2d_of_pixels(const odt_transposed2d_i8_t *a) {
    enum { MOST = 64 };
    int32_t taps = a->KH * a->KW, C = a->C, N = a->N, zx = a->zx, sums[MOST];
    if (a->H != 1 || a->W != 1 || a->PT || a->PL || a->OH != a->KH || a->OW != a->KW || taps < 4 || taps > MOST
        || zx != (int8_t)zx) {
        return 0;
    }
    for (int32_t n = 0; n < N; n++) {
        odt_rescaler_t q = odt_rescaler(odt_checked(&a->q[n]));
        const int8_t *w = a->w + n * taps * C;
        for (int32_t b = 0; b < a->B; b++) {
            const int8_t *x = a->x + b * C;
            int8_t *y = a->y + b * taps * N + n;
            odt_poll();
            odt_dot4_i8(x, w, C, C, zx, sums, taps / 4);
            if (taps % 4) { // the last four taps; some are computed twice
                odt_dot4_i8(x, w + (taps - 4) * C, C, C, zx, sums + taps - 4, 1);
            }
            for (int32_t i = 0; i < taps; i++, y += N) {
                *y = odt_clamp_by(odt_rescale_by(&q, odt_wrap_add(sums[i], a->b[n])), a->zy, a->lo, a->peak);
            }
        }
    }
    return 1;
}

#else

static inline int transposed2d_of_pixels(const odt_transposed2d_i8_t *a) {
    (void)a;
    return 0;
}

#endif

#if ODT_PANEL && !ODT_M4

void odt_transposed2d_i8(const odt_transposed2d_i8_t *a) {
    if (!transposed2d_of_pixels(a)) {
        transposed2d_by_panels(a);
    }
}

#else

static void transposed2d_by_outputs(const odt_transposed2d_i8_t *a) {
    int32_t C = a->C, N = a->N, KW = a->KW, peak = *a->peak;
    int32_t filter = a->KH * KW * C;
    int8_t *y = a->y;
    for (int32_t b = 0; b < a->B; b++) {
        for (int32_t oh = 0; oh < a->OH; oh++) {
            odt_poll();
            odt_dx_taps_t first_h = odt_dx_taps(oh, a->PT, a->SH, a->KH, a->H);
            for (int32_t ow = 0; ow < a->OW; ow++) {
                odt_dx_taps_t first_w = odt_dx_taps(ow, a->PL, a->SW, KW, a->W);
                for (int32_t n = 0; n < N; n++) {
                    int32_t acc = a->b[n];
                    for (odt_dx_taps_t h = first_h; odt_dx_taps_more(&h); odt_dx_taps_next(&h)) {
                        for (odt_dx_taps_t w = first_w; odt_dx_taps_more(&w); odt_dx_taps_next(&w)) {
                            const int8_t *tap = a->w + n * filter + (h.k * KW + w.k) * C;
                            const int8_t *x = a->x + ((b * a->H + h.o) * a->W + w.o) * C;
                            acc = odt_wrap_add(acc, odt_dot_from_i8(x, a->zx, tap, C));
                        }
                    }
                    int32_t v = odt_rescaled(acc, odt_checked(&a->q[n]));
                    *y++ = odt_clamp(v, a->zy, a->lo, &peak);
                }
            }
        }
    }
    *a->peak = peak;
}

void odt_transposed2d_i8(const odt_transposed2d_i8_t *a) {
    if (transposed2d_of_pixels(a)) {
        return;
    }
    #if ODT_M4 // a few separate taps are gathered, others are multiplied as whole words
    int32_t most = (a->KH + a->SH - 1) / a->SH * ((a->KW + a->SW - 1) / a->SW) * a->C;
    if (a->C % 4 == 0 || (most <= ODT_FEW_DEPTH && a->zx == (int8_t)a->zx)) {
        transposed2d_by_panels(a);
        return;
    }
    #endif
    transposed2d_by_outputs(a);
}

#endif

#if ODT_PANEL

void odt_transposed2d_dx_i8(const odt_transposed2d_dx_i8_t *a) {
    int32_t C = a->C, row = a->KW * C, inputs = a->W * C;
    odt_correlation_t c = {.x = a->e, .w = a->w, .q = a->q, .y = a->dx, .peak = a->peak, .B = a->B, .H = a->OH,
        .W = a->OW, .C = a->N, .N = C, .KH = a->KH, .KW = a->KW, .SH = a->SH, .SW = a->SW, .top = a->PT, .left = a->PL,
        .OH = a->H, .OW = a->W, .lo = -127, .w_n = 1, .w_kh = row, .w_kw = C, .w_c = a->KH * row,
        .y_b = a->H * inputs, .y_oh = inputs, .y_ow = C};
    odt_correlate_i8(&c);
}

#else

void odt_transposed2d_dx_i8(const odt_transposed2d_dx_i8_t *a) {
    int32_t C = a->C, N = a->N, KW = a->KW, peak = *a->peak;
    int32_t filter = a->KH * KW * C;
    odt_multiplier_t q = odt_checked(a->q);
    int8_t *dx = a->dx;
    for (int32_t b = 0; b < a->B; b++) {
        for (int32_t ih = 0; ih < a->H; ih++) {
            odt_poll();
            int32_t oh = ih * a->SH - a->PT;
            odt_taps_t th = odt_taps(oh, a->KH, a->OH);
            for (int32_t iw = 0; iw < a->W; iw++) {
                int32_t ow = iw * a->SW - a->PL;
                odt_taps_t tw = odt_taps(ow, KW, a->OW);
                for (int32_t c = 0; c < C; c += ODT_BLOCK) {
                    int32_t block = odt_min(C - c, ODT_BLOCK);
                    int32_t acc[ODT_BLOCK] = {0};
                    for (int32_t kh = th.from; kh < th.to; kh++) {
                        for (int32_t kw = tw.from; kw < tw.to; kw++) {
                            const int8_t *e = a->e + ((b * a->OH + oh + kh) * a->OW + ow + kw) * N;
                            const int8_t *tap = a->w + (kh * KW + kw) * C + c;
                            for (int32_t n = 0; n < N; n++) {
                                odt_axpy_i8(acc, e[n], tap + n * filter, 0, block);
                            }
                        }
                    }
                    for (int32_t i = 0; i < block; i++) {
                        *dx++ = odt_clamp(odt_rescaled(acc[i], q), 0, -127, &peak);
                    }
                }
            }
        }
    }
    *a->peak = peak;
}

#endif

#if ODT_PANEL && !ODT_SMALL

// The errors at a tap of input position (ih, iw) of image b; NULL outside the output.
static const int8_t *errors_of(const odt_transposed2d_dw_i8_t *a, int32_t b, int32_t oh, int32_t ow) {
    if (oh < 0 || oh >= a->OH || ow < 0 || ow >= a->OW) {
        return NULL;
    }
    return a->e + ((b * a->OH + oh) * a->OW + ow) * a->N + a->at;
}

// Adds input iw of row ih, and if `two` also iw + 1, times the errors at their outputs.
static void add_inputs(const odt_transposed2d_dw_i8_t *a, odt_products_t *p, int32_t *words, int32_t b, int32_t ih,
    int32_t iw, int two) {
    int32_t C = a->C;
    for (int32_t c = 0; c < C; c += ODT_PRODUCTS) {
        p->count = odt_min(C - c, ODT_PRODUCTS);
        p->x0 = a->x + ((b * a->H + ih) * a->W + iw) * C + c;
        p->x1 = ODT_PAIR == 1 ? NULL : two ? p->x0 + C : p->x0;
        odt_products_words_i8(words, p->x0, p->x1, p->count, p->zx);
        for (int32_t kh = 0; kh < a->KH; kh++) {
            for (int32_t kw = 0; kw < a->KW; kw++) {
                int32_t oh = ih * a->SH - a->PT + kh, ow = iw * a->SW - a->PL + kw;
                p->e0 = errors_of(a, b, oh, ow);
                p->e1 = two ? errors_of(a, b, oh, ow + a->SW) : NULL;
                p->dw = a->dw + (kh * a->KW + kw) * C + c;
                if (p->e0 || p->e1) {
                    odt_products_i8(p);
                }
            }
        }
    }
}

static void transposed2d_dw_by_rows(const odt_transposed2d_dw_i8_t *a) {
    int32_t words[ODT_PRODUCTS];
    odt_products_t p = {.words = words, .dw_step = a->KH * a->KW * a->C, .rows = a->R, .zx = a->zx};
    for (int32_t b = 0; b < a->B; b++) {
        for (int32_t ih = 0; ih < a->H; ih++) {
            odt_poll();
            for (int32_t iw = 0; iw < a->W; iw += ODT_PAIR) {
                add_inputs(a, &p, words, b, ih, iw, ODT_PAIR == 2 && iw + 1 < a->W);
            }
        }
    }
}

#else

static void transposed2d_dw_by_rows(const odt_transposed2d_dw_i8_t *a) {
    int32_t C = a->C, N = a->N, KW = a->KW;
    int32_t filter = a->KH * KW * C;
    const int8_t *x = a->x;
    for (int32_t b = 0; b < a->B; b++) {
        for (int32_t ih = 0; ih < a->H; ih++) {
            odt_poll();
            int32_t oh = ih * a->SH - a->PT;
            odt_taps_t th = odt_taps(oh, a->KH, a->OH);
            for (int32_t iw = 0; iw < a->W; iw++, x += C) {
                int32_t ow = iw * a->SW - a->PL;
                odt_taps_t tw = odt_taps(ow, KW, a->OW);
                for (int32_t kh = th.from; kh < th.to; kh++) {
                    for (int32_t kw = tw.from; kw < tw.to; kw++) {
                        int32_t o = (b * a->OH + oh + kh) * a->OW + ow + kw;
                        const int8_t *e = a->e + o * N + a->at;
                        int32_t *tap = a->dw + (kh * KW + kw) * C;
                        for (int32_t n = 0; n < a->R; n++) {
                            odt_axpy_i8(tap + n * filter, e[n], x, odt_wrap_mul(e[n], a->zx), C);
                        }
                    }
                }
            }
        }
    }
}

#endif

void odt_transposed2d_dw_i8(const odt_transposed2d_dw_i8_t *a) {
    int is_within = odt_within(a->at, a->R, a->N);
    #if ODT_PANEL && !ODT_SMALL && !ODT_M4 && !ODT_MPY
    if (is_within && odt_transposed2d_dw_by_panels_i8(a)) {
        return;
    }
    #endif
    memset(a->dw, 0, (size_t)a->R * (size_t)(a->KH * a->KW * a->C) * sizeof(int32_t));
    if (is_within) {
        transposed2d_dw_by_rows(a);
    }
}
