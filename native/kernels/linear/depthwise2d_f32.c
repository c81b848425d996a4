// Depthwise 2-D convolutions, float32: forward, gradients of input and filters.
// x is [B, H, W, N], w [N, KH, KW], y and e [B, OH, OW, N].

#include <string.h>

#include "../../float32.h"
#include "../../opcodes.h"
#include "../../common/inner_f32.h"
#include "../../common/window.h"
#include "../../common/axis_part.h"

// acc[i] += x[i] * w[i * stride]
static void multiply_add(float *acc, const float *x, const float *w, int32_t stride, int32_t n) {
    for (int32_t i = 0; i < n; i++) {
        acc[i] = acc[i] + x[i] * w[i * stride];
    }
}

void odt_depthwise2d_f32(const odt_depthwise2d_f32_t *a) {
    int32_t N = a->N, KW = a->KW, taps = a->KH * KW;
    float *y = a->y;
    for (int32_t b = 0; b < a->B; b++) {
        for (int32_t oh = 0; oh < a->OH; oh++) {
            odt_poll();
            int32_t ih = oh * a->SH - a->PT;
            odt_taps_t th = odt_taps(ih, a->KH, a->H);
            for (int32_t ow = 0; ow < a->OW; ow++) {
                int32_t iw = ow * a->SW - a->PL;
                odt_taps_t tw = odt_taps(iw, KW, a->W);
                memmove(y, a->b, (size_t)N * sizeof(float));
                for (int32_t kh = th.from; kh < th.to; kh++) {
                    for (int32_t kw = tw.from; kw < tw.to; kw++) {
                        int32_t at = ((b * a->H + ih + kh) * a->W + iw + kw) * N;
                        multiply_add(y, a->x + at, a->w + kh * KW + kw, taps, N);
                    }
                }
                odt_lanes_end(y, y, N, a->relu);
                y += N;
            }
        }
    }
}

void odt_depthwise2d_dx_f32(const odt_depthwise2d_dx_f32_t *a) {
    int32_t N = a->N, KW = a->KW, taps = a->KH * KW;
    float *dx = a->dx;
    memset(dx, 0, (size_t)(a->B * a->H) * (size_t)(a->W * N) * sizeof(float));
    for (int32_t b = 0; b < a->B; b++) {
        for (int32_t ih = 0; ih < a->H; ih++) {
            odt_poll();
            for (int32_t iw = 0; iw < a->W; iw++) {
                odt_dx_taps_t h = odt_dx_taps(ih, a->PT, a->SH, a->KH, a->OH);
                for (; odt_dx_taps_more(&h); odt_dx_taps_next(&h)) {
                    odt_dx_taps_t w = odt_dx_taps(iw, a->PL, a->SW, KW, a->OW);
                    for (; odt_dx_taps_more(&w); odt_dx_taps_next(&w)) {
                        const float *e = a->e + ((b * a->OH + h.o) * a->OW + w.o) * N;
                        multiply_add(dx, e, a->w + h.k * KW + w.k, taps, N);
                    }
                }
                odt_store_all(dx, N);
                dx += N;
            }
        }
    }
}

void odt_depthwise2d_dw_f32(const odt_depthwise2d_dw_f32_t *a) {
    int32_t N = a->N, R = a->R, taps = a->KH * a->KW;
    if (!odt_within(a->at, R, N)) {
        memset(a->dw, 0, (size_t)R * (size_t)taps * sizeof(float));
        return;
    }
    for (int32_t tap = 0; tap < taps; tap++) {
        int32_t kh = tap / a->KW, kw = tap % a->KW;
        odt_taps_t rows = odt_outputs(kh, a->PT, a->SH, a->H, a->OH);
        odt_taps_t columns = odt_outputs(kw, a->PL, a->SW, a->W, a->OW);
        for (int32_t n = 0; n < R; n += ODT_BLOCK) {
            int32_t block = R - n < ODT_BLOCK ? R - n : ODT_BLOCK, from = a->at + n;
            float acc[ODT_BLOCK] = {0.0f};
            for (int32_t b = 0; b < a->B; b++) {
                odt_poll();
                for (int32_t oh = rows.from; oh < rows.to; oh++) {
                    int32_t ih = oh * a->SH - a->PT + kh;
                    for (int32_t ow = columns.from; ow < columns.to; ow++) {
                        int32_t iw = ow * a->SW - a->PL + kw;
                        const float *e = a->e + ((b * a->OH + oh) * a->OW + ow) * N + from;
                        const float *x = a->x + ((b * a->H + ih) * a->W + iw) * N + from;
                        multiply_add(acc, x, e, 1, block);
                    }
                }
            }
            for (int32_t i = 0; i < block; i++) {
                a->dw[(n + i) * taps + tap] = odt_store(acc[i]);
            }
        }
    }
}
