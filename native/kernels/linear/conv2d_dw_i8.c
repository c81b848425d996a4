// 2-D convolutions, int8: the gradient of the filters. x is [B, H, W, C], e [B, OH, OW, N], dw [R, KH, KW, C]: for
// filters at .. at + R - 1.

#include <string.h>

#include "../../core.h"
#include "../../fixed.h"
#include "../../opcodes.h"
#include "../../threads.h"
#include "../../common/inner_i8.h"
#include "../../common/window.h"
#include "../../common/axis_part.h"
#include "../../common/words.h"
#include "../../cores/correlate.h"

static void conv2d_dw_by_panels(const odt_conv2d_dw_i8_t *a) {
    odt_correlation_dw_t g = {.dw = a->dw,
        .e = a->e + a->at,
        .x = a->x,
        .B = a->B,
        .H = a->H,
        .W = a->W,
        .C = a->C,
        .N = a->R,
        .e_step = a->N,
        .KH = a->KH,
        .KW = a->KW,
        .SH = a->SH,
        .SW = a->SW,
        .top = a->PT,
        .left = a->PL,
        .OH = a->OH,
        .OW = a->OW,
        .zx = a->zx};
    odt_correlate_dw_i8(&g);
}

// Whether most errors are 0, as after a max-pooling. Going from one nonzero error to the next then takes less time than
// panels of all errors. The decision is made from a sample of positions.
static ODT_COMPACT int is_sparse(const odt_conv2d_dw_i8_t *a) {
    int32_t positions = a->B * a->OH * a->OW, run = a->KW * a->C, KH = a->KH;
    #if ODT_M0 && !ODT_SMALL
    if (run < 1 || KH < 1 || KH > (ODT_DW_INPUTS - 4) / run || a->zx != (int8_t)a->zx) {
        return 0;
    }
    #endif
    // odd, so that all positions of a window are sampled
    int32_t step = (positions + ODT_DW_SAMPLES - 1) / ODT_DW_SAMPLES | 1;
    int32_t direct = ODT_DW_ERROR + KH * (ODT_DW_ERROR_ROW + ODT_DW_ERROR_TAP * run);
    int32_t row = (KH > 1 ? ODT_DW_TAP + ODT_DW_MORE : ODT_DW_TAP) * run + (run + 3) / 4 * ODT_DW_PANEL_WORD;
    int32_t panel = (a->R + 3) / 4 * (ODT_DW_PANEL + KH * (ODT_DW_PANEL_ROW + row)) - a->R * ODT_DW_SCAN;
    #if ODT_M4
    panel += KH * ((run + 3) / 4 * (ODT_DW_PACK_WORD + ODT_DW_PACK / odt_max(a->OW, 1)));
    #endif
    for (; panel > INT32_MAX / (2 * ODT_DW_SAMPLES); panel >>= 1) {
        direct >>= 1;
    }
    // the time that panels take
    int32_t left = (positions + step - 1) / step * panel - 1;
    int32_t most = left < 0 ? -1 : left / odt_max(direct, 1), errors = 0;
    for (int32_t m = 0; m < positions && errors <= most; m += step) {
        errors += odt_count_errors(a->e + m * a->N + a->at, a->R);
    }
    return errors <= most;
}

#if ODT_M0 && !ODT_SMALL

#include "../../cores/m0/conv2d_dw_i8__m0.h"

#else

#if ODT_M4

#include "../../cores/m4/words__m4.h"

// sums[i] += e * (x[i] - zx)
static __attribute__((noinline)) void add_products_of_row(
    int32_t *sums, int32_t e, const int8_t *x, int32_t zx, int32_t count) {
    int32_t whole = zx == (int8_t)zx ? count & ~3 : 0;
    if (whole) {
        odt_add_fours(sums, x, whole >> 2, e, odt_twice(-zx));
    }
    odt_axpy_i8(sums + whole, e, x + whole, odt_wrap_mul(e, zx), count - whole);
}

#endif

// Adds the contributions of nonzero errors of channels n .. stop - 1 to their filters' gradients, for image b and the
// output whose window begins at ih and iw. It is a separate function, because otherwise gcc has no registers left for
// odt_axpy_i8().
static __attribute__((noinline)) void add_errors(
    const odt_conv2d_dw_i8_t *a, const int8_t *e, int32_t n, int32_t stop, int32_t b, int32_t ih, int32_t iw) {
    int32_t C = a->C, KW = a->KW, filter = a->KH * KW * C;
    odt_taps_t th = odt_taps(ih, a->KH, a->H), tw = odt_taps(iw, KW, a->W);
    int32_t run = (tw.to - tw.from) * C, line = a->W * C;
    if (th.from >= th.to || run <= 0) {
        return;
    }
    const int8_t *x = a->x + ((b * a->H + ih + th.from) * a->W + iw + tw.from) * C;
    int32_t *dw = a->dw + n * filter + (th.from * KW + tw.from) * C;
    for (; n < stop; n++, dw += filter) {
        int32_t error = e[n];
        if (error == 0) {
            continue;
        }
        const int8_t *from = x;
        int32_t *to = dw;
        for (int32_t kh = th.from; kh < th.to; kh++, from += line, to += KW * C) {
            #if ODT_M4
            if (run >= 4) {
                add_products_of_row(to, error, from, a->zx, run);
                continue;
            }
            #endif
            odt_axpy_i8(to, error, from, odt_wrap_mul(error, a->zx), run);
        }
    }
}

// Channels first .. stop - 1, from one nonzero error to the next.
static void conv2d_dw_channels(const void *arguments, int32_t first, int32_t stop, int32_t *peak) {
    const odt_conv2d_dw_i8_t *a = arguments;
    int32_t N = a->N, filter = a->KH * a->KW * a->C;
    const int8_t *e = a->e + a->at;
    (void)peak;
    memset(a->dw + first * filter, 0, (size_t)(stop - first) * (size_t)filter * sizeof(int32_t));
    for (int32_t b = 0; b < a->B; b++) {
        for (int32_t oh = 0; oh < a->OH; oh++) {
            odt_poll();
            for (int32_t ow = 0; ow < a->OW; ow++, e += N) {
                for (int32_t n = first; n < stop; n++) {
                    if (e[n]) {
                        add_errors(a, e, n, stop, b, oh * a->SH - a->PT, ow * a->SW - a->PL);
                        break;
                    }
                }
            }
        }
    }
}

#endif

void odt_conv2d_dw_i8(const odt_conv2d_dw_i8_t *a) {
    if (!odt_within(a->at, a->R, a->N)) {
        memset(a->dw, 0, (size_t)a->R * (size_t)(a->KH * a->KW * a->C) * sizeof(int32_t));
    } else if ((odt_has_products() || a->KW * a->C < ODT_SHORT_RUN) && (ODT_X86 || !is_sparse(a))) {
        conv2d_dw_by_panels(a);
    } else {
        odt_split(conv2d_dw_channels, a, a->R, 1, NULL);
    }
}
