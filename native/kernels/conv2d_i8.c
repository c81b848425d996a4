// 2-D convolutions, int8: forward, gradients of input and filters.
// x is [B, H, W, C], w [N, KH, KW, C], y and e [B, OH, OW, N].

#include <string.h>

#include "../fixed.h"
#include "../opcodes.h"
#include "../threads.h"
#include "inner_i8.h"
#include "panel_i8.h"
#include "phase.h"
#include "rows.h"
#include "window.h"

// Loops shorter than this do not pay for being vectorised.
enum { SHORT = 16 };

static void conv2d_by_panels(const odt_conv2d_i8_t *a) {
    int32_t row = a->KW * a->C, outputs = a->OW * a->N;
    odt_correlation_t c = {.x = a->x, .w = a->w, .bias = a->b, .q = a->q, .y = a->y, .peak = a->peak,
        .B = a->B, .H = a->H, .W = a->W, .C = a->C, .N = a->N, .KH = a->KH, .KW = a->KW, .SH = a->SH,
        .SW = a->SW, .top = a->PT, .left = a->PL, .OH = a->OH, .OW = a->OW, .zx = a->zx, .zy = a->zy,
        .lo = a->lo, .w_n = a->KH * row, .w_kh = row, .w_kw = a->C, .w_c = 1,
        .y_b = a->OH * outputs, .y_oh = outputs, .y_ow = a->N, .q_step = 1};
    odt_correlate_i8(&c);
}

// Channels first .. stop - 1.
static void conv2d_channels(const void *arguments, int32_t first, int32_t stop, int32_t *peak) {
    const odt_conv2d_i8_t *a = arguments;
    int32_t C = a->C, N = a->N, KH = a->KH, KW = a->KW;
    int32_t filter = KH * KW * C;
    for (int32_t n = first; n < stop; n++) {
        const int8_t *w = a->w + n * filter;
        odt_multiplier_t q = odt_checked(&a->q[n]);
        int32_t whole = a->zx ? odt_sum_i8(w, filter) : 0;
        for (int32_t b = 0; b < a->B; b++) {
            for (int32_t oh = 0; oh < a->OH; oh++) {
                odt_poll();
                int32_t ih = oh * a->SH - a->PT;
                odt_taps_t th = odt_taps(ih, KH, a->H);
                for (int32_t ow = 0; ow < a->OW; ow++) {
                    int32_t iw = ow * a->SW - a->PL;
                    odt_taps_t tw = odt_taps(iw, KW, a->W);
                    int32_t run = (tw.to - tw.from) * C;
                    int is_whole = th.to - th.from == KH && run == KW * C;
                    int32_t acc = a->b[n], weights = is_whole ? whole : 0;
                    for (int32_t kh = th.from; kh < th.to && run; kh++) {
                        const int8_t *row = w + (kh * KW + tw.from) * C;
                        int32_t at = ((b * a->H + ih + kh) * a->W + iw + tw.from) * C;
                        acc = odt_wrap_add(acc, odt_dot_i8(a->x + at, row, run));
                        if (!is_whole && a->zx) {
                            weights += odt_sum_i8(row, run);
                        }
                    }
                    int32_t v = odt_rescaled(odt_wrap_sub(acc, odt_wrap_mul(a->zx, weights)), q);
                    int32_t at = ((b * a->OH + oh) * a->OW + ow) * N + n;
                    a->y[at] = odt_clamp(v, a->zy, a->lo, peak);
                }
            }
        }
    }
}

void odt_conv2d_i8(const odt_conv2d_i8_t *a) {
    if (ODT_PANEL || a->KW * a->C < SHORT) {
        conv2d_by_panels(a);
    } else {
        odt_split(conv2d_channels, a, a->N, 1, a->peak);
    }
}

static void conv2d_dx_by_panels(const odt_conv2d_dx_i8_t *a) {
    int32_t C = a->C, row = a->KW * C, inputs = a->W * C;
    for (int32_t kh = 0; kh < a->SH; kh++) {
        odt_phase_t h = odt_phase(kh, a->PT, a->SH, a->H, a->KH);
        for (int32_t kw = 0; kw < a->SW; kw++) {
            odt_phase_t w = odt_phase(kw, a->PL, a->SW, a->W, a->KW);
            if (h.outputs == 0 || w.outputs == 0) {
                continue;
            }
            int32_t last = (kh + (h.taps - 1) * a->SH) * row + (kw + (w.taps - 1) * a->SW) * C;
            int is_empty = h.taps == 0 || w.taps == 0;
            odt_correlation_t c = {.x = a->e, .w = is_empty ? a->w : a->w + last, .q = a->q,
                .y = a->dx + h.first * inputs + w.first * C, .peak = a->peak, .B = a->B, .H = a->OH,
                .W = a->OW, .C = a->N, .N = C, .KH = is_empty ? 0 : h.taps, .KW = is_empty ? 0 : w.taps,
                .SH = 1, .SW = 1, .top = h.pad, .left = w.pad, .OH = h.outputs, .OW = w.outputs,
                .lo = -127, .w_n = 1, .w_kh = -a->SH * row, .w_kw = -a->SW * C, .w_c = a->KH * row,
                .y_b = a->H * inputs, .y_oh = a->SH * inputs, .y_ow = a->SW * C};
            odt_correlate_i8(&c);
        }
    }
}

// Rows first .. stop - 1 of all images.
static void conv2d_dx_rows(const void *arguments, int32_t first, int32_t stop, int32_t *peak) {
    const odt_conv2d_dx_i8_t *a = arguments;
    int32_t C = a->C, N = a->N, KH = a->KH, KW = a->KW;
    int32_t filter = KH * KW * C;
    odt_multiplier_t q = odt_checked(a->q);
    int8_t *dx = a->dx + first * a->W * C;
    for (int32_t row = first; row < stop; row++) {
        int32_t b = row / a->H, ih = row - b * a->H;
        odt_poll();
        for (int32_t iw = 0; iw < a->W; iw++) {
            for (int32_t c = 0; c < C; c += ODT_BLOCK) {
                int32_t block = odt_min(C - c, ODT_BLOCK);
                int32_t acc[ODT_BLOCK] = {0};
                odt_back_t h = odt_back(ih, a->PT, a->SH, KH, a->OH);
                for (; odt_back_more(&h); odt_back_next(&h)) {
                    odt_back_t w = odt_back(iw, a->PL, a->SW, KW, a->OW);
                    for (; odt_back_more(&w); odt_back_next(&w)) {
                        const int8_t *e = a->e + ((b * a->OH + h.o) * a->OW + w.o) * N;
                        const int8_t *tap = a->w + (h.k * KW + w.k) * C + c;
                        for (int32_t n = 0; n < N; n++) {
                            if (e[n]) {
                                odt_axpy_i8(acc, e[n], tap + n * filter, 0, block);
                            }
                        }
                    }
                }
                for (int32_t i = 0; i < block; i++) {
                    *dx++ = odt_clamp(odt_rescaled(acc[i], q), 0, -127, peak);
                }
            }
        }
    }
}

void odt_conv2d_dx_i8(const odt_conv2d_dx_i8_t *a) {
    if (ODT_PANEL || a->C < SHORT) {
        conv2d_dx_by_panels(a);
    } else {
        odt_split(conv2d_dx_rows, a, a->B * a->H, 1, a->peak);
    }
}

static void conv2d_dw_by_panels(const odt_conv2d_dw_i8_t *a) {
    odt_filter_gradient_t g = {.dw = a->dw, .e = a->e + a->at, .x = a->x, .B = a->B, .H = a->H,
        .W = a->W, .C = a->C, .N = a->R, .e_step = a->N, .KH = a->KH, .KW = a->KW, .SH = a->SH, .SW = a->SW, .top = a->PT,
        .left = a->PL, .OH = a->OH, .OW = a->OW, .zx = a->zx};
    odt_filter_gradient_i8(&g);
}

// Whether so many errors are 0, as behind a max-pooling, that going from one to the next that is not
// costs less than panels of all: judged by some positions, in instructions of an M4 for a row of taps.
static int is_sparse(const odt_conv2d_dw_i8_t *a) {
    enum { SAMPLES = 64, START = 20, DIRECT = 3, PANEL = 5 };
    int32_t positions = a->B * a->OH * a->OW, run = a->KW * a->C;
    int32_t step = (positions + SAMPLES - 1) / SAMPLES | 1; // odd, so that it meets all places of a window
    int64_t direct = 0, panels = 0;
    for (int32_t m = 0; m < positions; m += step) {
        const int8_t *e = a->e + m * a->N + a->at;
        for (int32_t n = 0; n < a->R; n++) {
            direct += e[n] != 0;
        }
        panels += (a->R + 3) / 4;
    }
    return direct * (START + (int64_t)DIRECT * run) < panels * (START + (int64_t)PANEL * run);
}

// What error e of image b, of the output that begins at ih and iw, adds to its filter's gradient. In a function of
// its own, as otherwise gcc has no registers left for odt_axpy_i8().
static __attribute__((noinline)) void add_error(const odt_conv2d_dw_i8_t *a, int32_t e, int32_t b, int32_t ih, int32_t iw,
    int32_t *dw) {
    int32_t C = a->C, KW = a->KW;
    odt_taps_t th = odt_taps(ih, a->KH, a->H), tw = odt_taps(iw, KW, a->W);
    int32_t run = (tw.to - tw.from) * C, line = a->W * C;
    if (th.from >= th.to || run <= 0) {
        return;
    }
    const int8_t *x = a->x + ((b * a->H + ih + th.from) * a->W + iw + tw.from) * C;
    dw += (th.from * KW + tw.from) * C;
    for (int32_t kh = th.from; kh < th.to; kh++, x += line, dw += KW * C) {
        odt_axpy_i8(dw, e, x, odt_wrap_mul(e, a->zx), run);
    }
}

// Channels first .. stop - 1, from one error that is not 0 to the next.
static void conv2d_dw_channels(const void *arguments, int32_t first, int32_t stop, int32_t *peak) {
    const odt_conv2d_dw_i8_t *a = arguments;
    int32_t N = a->N, filter = a->KH * a->KW * a->C;
    (void)peak;
    memset(a->dw + first * filter, 0, (size_t)(stop - first) * (size_t)filter * sizeof(int32_t));
    for (int32_t n = first; n < stop; n++) {
        int32_t *dw = a->dw + n * filter;
        for (int32_t b = 0; b < a->B; b++) {
            for (int32_t oh = 0; oh < a->OH; oh++) {
                odt_poll();
                const int8_t *e = a->e + (b * a->OH + oh) * a->OW * N + a->at + n;
                for (int32_t ow = 0; ow < a->OW; ow++, e += N) {
                    if (*e) {
                        add_error(a, *e, b, oh * a->SH - a->PT, ow * a->SW - a->PL, dw);
                    }
                }
            }
        }
    }
}

void odt_conv2d_dw_i8(const odt_conv2d_dw_i8_t *a) {
    if (!odt_within(a->at, a->R, a->N)) {
        memset(a->dw, 0, (size_t)a->R * (size_t)(a->KH * a->KW * a->C) * sizeof(int32_t));
    } else if ((ODT_PANEL || a->KW * a->C < SHORT) && !is_sparse(a)) {
        conv2d_dw_by_panels(a);
    } else {
        odt_split(conv2d_dw_channels, a, a->R, 1, NULL);
    }
}
