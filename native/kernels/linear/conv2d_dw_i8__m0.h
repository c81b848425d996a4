// The gradient of the filters by panels (conv2d_dw_i8__panel.h) on a Cortex-M0+: errors of -128.
//
// No error is -128 (numerics.md). Were it, lanes (panel_i8__m0.h) would meet where x is -128 too: so it is taken as -127
// and one more.

#ifndef ODT_CONV2D_DW_I8_M0_H
#define ODT_CONV2D_DW_I8_M0_H

#include "../../core.h"
#include "../common/words__m0.h"

// Whether one of N errors of `count` positions, `step` apart, is -128.
static __attribute__((noinline)) int is_extreme(const int8_t *e, int32_t N, int32_t count, int32_t step) {
    if (N == step) { // one row of all
        N *= count;
        step = N;
        count = 1;
    }
    #if !ODT_SMALL
    if (N > 0 && count > 0 && (((uintptr_t)e | (uintptr_t)N | (uintptr_t)step) & 3) == 0) {
        return odt_is_least_in(e, N / 4, count, step - N);
    }
    #endif
    uint32_t word, found = 0;
    for (; count > 0; count--, e += step) {
        const int8_t *at = e, *end = e + N;
        for (; at != end && ((uintptr_t)at & 3); at++) {
            found |= *at == -128;
        }
        for (; end - at >= 4; at += 4) {
            word = odt_load_word(at) ^ 0x80808080;
            found |= (word - 0x01010101) & ~word & 0x80808080;
        }
        for (; at != end; at++) {
            found |= *at == -128;
        }
    }
    return found != 0;
}

// dw -= x - zx for channel n of position m of the outputs.
static void add_error(const odt_correlation_dw_t *a, int32_t n, int32_t m) {
    int32_t row = m / a->OW, ow = m - row * a->OW, b = row / a->OH;
    int32_t ih = (row - b * a->OH) * a->SH - a->top, iw = ow * a->SW - a->left;
    odt_taps_t th = odt_taps(ih, a->KH, a->H), tw = odt_taps(iw, a->KW, a->W);
    for (int32_t kh = th.from; kh < th.to; kh++) {
        for (int32_t kw = tw.from; kw < tw.to; kw++) {
            int32_t *dw = a->dw + ((n * a->KH + kh) * a->KW + kw) * a->C;
            const int8_t *x = a->x + ((b * a->H + ih + kh) * a->W + iw + kw) * odt_pixel(a->C, a->x_skip);
            for (int32_t c = 0; c < a->C; c++) {
                dw[c] = odt_wrap_sub(dw[c], odt_wrap_sub(x[c], a->zx));
            }
        }
    }
}

static void tame_errors(const odt_correlation_dw_t *a, int32_t n, int32_t m, int32_t count, panel_t *panel,
    int32_t *totals) {
    for (int32_t k = 0; k < count; k++) {
        const int8_t *e = a->e + (m + k) * a->e_step + n;
        int32_t r[ROWS] = {0};
        for (int32_t i = 0; i < odt_min(ROWS, a->N - n); i++) {
            r[i] = e[i];
            if (r[i] == -128) {
                r[i] = -127;
                totals[i]++;
                add_error(a, n + i, m + k);
            }
        }
        put(panel, k, r);
    }
}

#endif
