// 2-D convolutions, int8: the gradient of the input.
// w is [N, KH, KW, C], e [B, OH, OW, N], dx [B, H, W, C].

#include <string.h>

#include "../../core.h"
#include "../../fixed.h"
#include "../../opcodes.h"
#include "../../threads.h"
#include "../../common/inner_i8.h"
#include "../../common/window.h"
#include "../../cores/correlate.h"
#include "phase.h"

#if ODT_M0 && !ODT_SMALL
#include "../../cores/m0/conv2d_dx_i8__m0.inc"
#endif
#if ODT_M4
#include "../../cores/m4/words__m4.h"
#endif

// Sets dx to 0 if a stride is longer than the filter, because then most of dx is in no window.
static void clear(const odt_conv2d_dx_i8_t *a, int32_t pixel) {
    int32_t pixels = a->B * a->H * a->W, C = a->C;
    int8_t *dx = a->dx;
    *a->peak = odt_max(*a->peak, 0);
    if (pixel == C) {
        #if ODT_M4
        odt_set_zeros(dx, pixels * C);
        #else
        memset(dx, 0, (size_t)(pixels * C));
        #endif
        return;
    }
    for (; pixels > 0; pixels--, dx += pixel) {
        memset(dx, 0, (size_t)C);
    }
}

ODT_COMPACT void odt_conv2d_dx_by_panels_i8(const odt_conv2d_dx_i8_t *a, int32_t dx_pixel, int32_t e_pixel) {
    int32_t C = a->C, row = a->KW * C, inputs = a->W * dx_pixel;
    if (a->KH < a->SH || a->KW < a->SW) {
        clear(a, dx_pixel);
    }
    for (int32_t kh = 0; kh < a->SH; kh++) {
        odt_phase_t h = odt_phase(kh, a->PT, a->SH, a->H, a->KH);
        for (int32_t kw = 0; kw < a->SW; kw++) {
            odt_phase_t w = odt_phase(kw, a->PL, a->SW, a->W, a->KW);
            if (h.outputs == 0 || w.outputs == 0 || h.taps == 0 || w.taps == 0) {
                continue;
            }
            int32_t last = (kh + (h.taps - 1) * a->SH) * row + (kw + (w.taps - 1) * a->SW) * C;
            odt_correlation_t c = {.x = a->e, .w = a->w + last, .q = a->q,
                .y = a->dx + h.first * inputs + w.first * dx_pixel, .peak = a->peak, .B = a->B, .H = a->OH,
                .W = a->OW, .C = a->N, .N = C, .KH = h.taps, .KW = w.taps,
                .SH = 1, .SW = 1, .top = h.pad, .left = w.pad, .OH = h.outputs, .OW = w.outputs,
                .lo = -127, .w_n = 1, .w_kh = -a->SH * row, .w_kw = -a->SW * C, .w_c = a->KH * row,
                .y_b = a->H * inputs, .y_oh = a->SH * inputs, .y_ow = a->SW * dx_pixel, .x_skip = e_pixel - a->N};
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
                odt_dx_taps_t h = odt_dx_taps(ih, a->PT, a->SH, KH, a->OH);
                for (; odt_dx_taps_more(&h); odt_dx_taps_next(&h)) {
                    odt_dx_taps_t w = odt_dx_taps(iw, a->PL, a->SW, KW, a->OW);
                    for (; odt_dx_taps_more(&w); odt_dx_taps_next(&w)) {
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
    #if ODT_M0 && !ODT_SMALL
    if (is_sparse(a)) {
        odt_split(conv2d_dx_of_errors, a, a->B * a->H, 1, a->peak);
        return;
    }
    #endif
    if (odt_has_products() || a->C < ODT_SHORT_RUN) {
        odt_conv2d_dx_by_panels_i8(a, a->C, a->N);
    } else {
        odt_split(conv2d_dx_rows, a, a->B * a->H, 1, a->peak);
    }
}
