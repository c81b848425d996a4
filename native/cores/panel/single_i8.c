// Convolutions with a single filter, int8 (correlate.h), on 32-bit cores. Each row of the filter is multiplied by four
// windows at a time, which are read in place. A panel would have three empty rows. The stack holds 1.8 KB.

#include "../../core.h"
#include "../correlate.h"

#if ODT_PANEL && !ODT_SMALL

#include "../../fixed.h"
#include "../../common/elements.h"
#include "../../common/inner_i8.h"
#include "../../common/window.h"

enum {
    BLOCK = 48,           // outputs at a time
};

int odt_is_single(const odt_correlation_t *a) {
    int32_t filter = a->KH * a->KW * a->C;
    return a->N == 1 && a->OH * a->OW >= 4 && a->x_skip == 0 && a->KH <= ODT_SINGLE_ROWS && filter > 0
        && (filter <= ODT_SINGLE_WEIGHTS || odt_is_contiguous(a));
}

// Adds x * w - less to the sums of `count` <= BLOCK windows, `step` bytes apart; w is a row of `length` > 0 weights.
static __attribute__((noinline)) void add_windows(
    int32_t (*sums)[4], const int8_t *x, int32_t step, int32_t count, const int8_t *w, int32_t length, int32_t less) {
    int32_t dots[BLOCK];
    if (count < 4) {
        for (int32_t i = 0; i < count; i++) { // one at a time, each computed four times
            odt_dot4_i8(w, x + i * step, 0, length, 0, dots + i, 1);
        }
    } else {
        if (count & 3) { // the last four windows; some are computed twice
            odt_dot4_i8(w, x + (count - 4) * step, step, length, 0, dots + count - 4, 1);
        }
        odt_dot4_i8(w, x, step, length, 0, dots, count / 4);
    }
    for (int32_t i = 0; i < count; i++) {
        sums[i][0] = odt_wrap_add(sums[i][0], odt_wrap_sub(dots[i], less));
    }
}

// The correction for zx: sums of the filter's rows over taps t.
static void sum_rows(const odt_correlation_t *a, const int8_t *w, odt_taps_t t, int32_t *less) {
    for (int32_t kh = 0; kh < a->KH; kh++) {
        less[kh] =
            a->zx ? odt_wrap_mul(a->zx, odt_sum_i8(w + (kh * a->KW + t.from) * a->C, (t.to - t.from) * a->C)) : 0;
    }
}

static void finish_single(
    const odt_correlation_t *a, const int32_t (*sums)[4], int32_t count, int8_t *y, int32_t step) {
#if ODT_M4
    odt_rescaler_t q = odt_rescaler(odt_checked(a->q));
    odt_outputs_t o = odt_outputs_from(a->zy, a->lo, *a->peak);
    for (int32_t i = 0; i < count; i++, y += step) {
        *y = odt_output(&o, odt_rescale_by(&q, sums[i][0]));
    }
    *a->peak = o.peak;
    #else
    odt_finish_i8(sums, 0, 0, a->q, a->zy, a->lo, count, y, step, a->peak);
    #endif
}

// Outputs of a column or, if it has fewer than four, of a row.
#if ODT_M0
ODT_COMPACT
#endif
void odt_correlate_single_i8(const odt_correlation_t *a) {
    int32_t sums[BLOCK][4];
    int8_t copy[ODT_SINGLE_WEIGHTS];
    const int8_t *w = a->w;
    int32_t C = a->C, KW = a->KW, line = a->W * C, upright = a->OH >= 4, less[ODT_SINGLE_ROWS];
    int32_t all = upright ? a->OH : a->OW, others = upright ? a->OW : a->OH;
    if (!odt_is_contiguous(a)) {
        int8_t *to = copy;
        for (int32_t kh = 0; kh < a->KH; kh++) {
            for (int32_t kw = 0; kw < KW; kw++) {
                const int8_t *from = w + kh * a->w_kh + kw * a->w_kw;
                for (int32_t c = 0; c < C; c++, from += a->w_c) {
                    *to++ = *from;
                }
            }
        }
        w = copy;
    }
    odt_taps_t summed = {0, -1};
    for (int32_t image = 0; image < a->B; image++) {
        const int8_t *x = a->x + image * a->H * line;
        for (int32_t other = 0; other < others; other++) {
            for (int32_t first = 0; first < all; first += BLOCK) {
                int32_t count = odt_min(BLOCK, all - first), bias = a->bias ? a->bias[0] : 0;
                odt_poll();
                for (int32_t i = 0; i < count; i++) {
                    sums[i][0] = bias;
                }
                // Windows with the same taps of a row: all windows of a column, or all inside the image.
                for (int32_t i = 0, here; i < count; i += here) {
                    int32_t iw = (upright ? other : first + i) * a->SW - a->left;
                    odt_taps_t t = odt_taps(iw, KW, a->W);
                    here = upright ? count : t.to - t.from < KW ? 1 : odt_min((a->W - KW - iw) / a->SW + 1, count - i);
                    if (t.from >= t.to) {
                        continue;
                    }
                    if (t.from != summed.from || t.to != summed.to) {
                        sum_rows(a, w, t, less);
                        summed = t;
                    }
                    for (int32_t kh = 0; kh < a->KH; kh++) {
                        odt_taps_t o = odt_outputs(kh, a->top, a->SH, a->H, a->OH); // outputs that meet row kh
                        int32_t from = odt_max(o.from, upright ? first : other),
                                to = upright ? first + count : other + 1;
                        to = odt_min(o.to, to);
                        if (from < to) {
                            const int8_t *at = x + (from * a->SH - a->top + kh) * line + (iw + t.from) * C;
                            add_windows(sums + (upright ? from - first : i), at, upright ? a->SH * line : a->SW * C,
                                upright ? to - from : here, w + (kh * KW + t.from) * C, (t.to - t.from) * C, less[kh]);
                        }
                    }
                }
                int32_t oh = upright ? first : other, ow = upright ? other : first;
                finish_single(a, (const int32_t (*)[4])sums, count, a->y + image * a->y_b + oh * a->y_oh + ow * a->y_ow,
                    upright ? a->y_oh : a->y_ow);
            }
        }
    }
}

#endif
