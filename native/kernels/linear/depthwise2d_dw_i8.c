// Depthwise 2-D convolutions, int8: the gradient of the filters.
// x is [B, H, W, N], e [B, OH, OW, N], dw [R, KH, KW]: of channels at .. at + R - 1.

#include <string.h>

#include "../../core.h"
#include "../../fixed.h"
#include "../../opcodes.h"
#include "../../threads.h"
#include "../../common/window.h"
#include "../../common/axis_part.h"
#include "../../cores/depthwise.h"

#if !ODT_SMALL

// dw = or += e * (x - zx); elements of x are `step` bytes apart.
static __attribute__((noinline)) void add_apart(
    int32_t *dw, const int8_t *x, int32_t step, int32_t count, int32_t zx, int32_t e, int is_first) {
    int32_t *end = dw + count;
    if (is_first) {
        for (; dw != end; x += step) {
            *dw++ = odt_wrap_mul(e, odt_wrap_sub(*x, zx));
        }
        return;
    }
    for (; dw != end; x += step, dw++) {
        *dw = odt_wrap_add(*dw, odt_wrap_mul(e, odt_wrap_sub(*x, zx)));
    }
}

// Where odt_is_whole().
static void depthwise_dw_whole(const odt_depthwise2d_dw_i8_t *a, int32_t first, int32_t stop) {
    int32_t N = a->N, taps = a->KH * a->KW;
    for (int32_t n = first; n < stop; n++) {
        for (int32_t b = 0; b < a->B; b++) {
            int32_t at = a->at + n, e = a->e[b * N + at];
            if (b == 0 || e) {
                odt_poll();
                add_apart(a->dw + n * taps, a->x + b * taps * N + at, N, taps, a->zx, e, b == 0);
            }
        }
    }
}

#endif

// acc += e * (x - zx) over a row of `count` outputs.
static inline __attribute__((always_inline)) void add_row(int32_t *acc, const int8_t *e, const int8_t *x,
    int32_t e_step, int32_t x_step, int32_t count, int32_t zero, int32_t lanes) {
    int16_t zx = (int16_t)zero;
    for (; count; count--, e += e_step, x += x_step) {
        ODT_UNROLL
        for (int32_t i = 0; i < lanes; i++) {
            // -128 * -255 exceeds an int16: a product of 32 bits
            acc[i] = odt_wrap_add(acc[i], e[i] * (int16_t)odt_wrap_sub(x[i], zx));
        }
    }
}

// Channels first .. stop - 1.
static void depthwise_dw_channels(const void *arguments, int32_t first, int32_t stop, int32_t *peak) {
    const odt_depthwise2d_dw_i8_t *a = arguments;
    int32_t N = a->N, taps = a->KH * a->KW;
    (void)peak;
    #if !ODT_SMALL
    if (odt_is_whole(a->H, a->W, a->KH, a->KW, a->PT, a->PL, a->OH, a->OW)) {
        depthwise_dw_whole(a, first, stop);
        return;
    }
    #endif
    // The loops of a core process channels from `first` on, and advance it.
    #if ODT_M4
    if (odt_depthwise_dw_tiny_i8__m4(a, first, stop)) {
        return;
    }
    #if !ODT_MPY
    if (stop - first == a->R && odt_depthwise_dw_few_i8__m4(a)) {
        return;
    }
    #endif
    while (first < stop && odt_depthwise_dw_i8__m4(a, odt_min(first, a->R - ODT_DEPTHWISE_LANES))) {
        first += ODT_DEPTHWISE_LANES;
    }
    if (first < stop && odt_depthwise_dw_apart_i8__m4(a, first, stop)) {
        return;
    }
    #endif
    #if ODT_M0_DEPTHWISE
    if (odt_depthwise_dw_i8__m0(a, first, stop)) {
        return;
    }
    #endif
    for (int32_t tap = 0; tap < taps; tap++) {
        int32_t kh = tap / a->KW, kw = tap % a->KW;
        odt_taps_t rows = odt_outputs(kh, a->PT, a->SH, a->H, a->OH);
        odt_taps_t columns = odt_outputs(kw, a->PL, a->SW, a->W, a->OW);
        int32_t count = odt_max(columns.to - columns.from, 0), iw = columns.from * a->SW - a->PL + kw;
        for (int32_t n = first; n < stop; n += ODT_DEPTHWISE_LANES) {
            int32_t lanes = odt_min(ODT_DEPTHWISE_LANES, stop - n), from = a->at + n;
            int32_t acc[ODT_DEPTHWISE_LANES] = {0};
            for (int32_t b = 0; b < a->B; b++) {
                odt_poll();
                for (int32_t oh = rows.from; oh < rows.to; oh++) {
                    int32_t ih = oh * a->SH - a->PT + kh;
                    const int8_t *e = a->e + ((b * a->OH + oh) * a->OW + columns.from) * N + from;
                    const int8_t *x = a->x + ((b * a->H + ih) * a->W + iw) * N + from;
                    if (lanes == ODT_DEPTHWISE_LANES) {
                        add_row(acc, e, x, N, a->SW * N, count, a->zx, ODT_DEPTHWISE_LANES);
                    } else {
                        add_row(acc, e, x, N, a->SW * N, count, a->zx, lanes);
                    }
                }
            }
            for (int32_t i = 0; i < lanes; i++) {
                a->dw[(n + i) * taps + tap] = acc[i];
            }
        }
    }
}

void odt_depthwise2d_dw_i8(const odt_depthwise2d_dw_i8_t *a) {
    if (!odt_within(a->at, a->R, a->N)) {
        memset(a->dw, 0, (size_t)a->R * (size_t)(a->KH * a->KW) * sizeof(int32_t));
        return;
    }
    odt_split(depthwise_dw_channels, a, a->R, ODT_DEPTHWISE_LANES, NULL);
}
