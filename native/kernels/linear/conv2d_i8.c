// 2-D convolutions, int8: the forward pass.
// x is [B, H, W, C], w [N, KH, KW, C], y [B, OH, OW, N].

#include "../../core.h"
#include "../../fixed.h"
#include "../../opcodes.h"
#include "../../threads.h"
#include "../../common/inner_i8.h"
#include "../../common/window.h"
#include "../../cores/correlate.h"

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
    if (odt_has_products() || a->KW * a->C < ODT_SHORT_RUN) {
        conv2d_by_panels(a);
    } else {
        odt_split(conv2d_channels, a, a->N, 1, a->peak);
    }
}
