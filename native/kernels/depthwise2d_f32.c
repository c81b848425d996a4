// Depthwise 2-D convolutions, float32: forward, gradients of input and filters.
// x is [B, H, W, N], w [KH, KW, N], y and e [B, OH, OW, N].

#include <string.h>

#include "../float32.h"
#include "../opcodes.h"
#include "inner_f32.h"
#include "window.h"

// acc[i] += x[i] * w[i]
static void multiply_add(float *acc, const float *x, const float *w, int32_t n) {
    for (int32_t i = 0; i < n; i++) {
        acc[i] = acc[i] + x[i] * w[i];
    }
}

void odt_depthwise2d_f32(const odt_depthwise2d_f32_t *a) {
    int32_t N = a->N, KW = a->KW;
    float *y = a->y;
    for (int32_t b = 0; b < a->B; b++) {
        for (int32_t oh = 0; oh < a->OH; oh++) {
            int32_t ih = oh * a->SH - a->PT;
            odt_taps_t th = odt_taps(ih, a->KH, a->H);
            for (int32_t ow = 0; ow < a->OW; ow++) {
                int32_t iw = ow * a->SW - a->PL;
                odt_taps_t tw = odt_taps(iw, KW, a->W);
                memcpy(y, a->b, (size_t)N * sizeof(float));
                for (int32_t kh = th.from; kh < th.to; kh++) {
                    for (int32_t kw = tw.from; kw < tw.to; kw++) {
                        int32_t at = ((b * a->H + ih + kh) * a->W + iw + kw) * N;
                        multiply_add(y, a->x + at, a->w + (kh * KW + kw) * N, N);
                    }
                }
                odt_lanes_end(y, y, N, a->relu);
                y += N;
            }
        }
    }
}

void odt_depthwise2d_dx_f32(const odt_depthwise2d_dx_f32_t *a) {
    int32_t N = a->N, KW = a->KW;
    float *dx = a->dx;
    memset(dx, 0, (size_t)(a->B * a->H) * (size_t)(a->W * N) * sizeof(float));
    for (int32_t b = 0; b < a->B; b++) {
        for (int32_t ih = 0; ih < a->H; ih++) {
            for (int32_t iw = 0; iw < a->W; iw++) {
                odt_back_t h = odt_back(ih, a->PT, a->SH, a->KH, a->OH);
                for (; odt_back_more(&h); odt_back_next(&h)) {
                    odt_back_t w = odt_back(iw, a->PL, a->SW, KW, a->OW);
                    for (; odt_back_more(&w); odt_back_next(&w)) {
                        const float *e = a->e + ((b * a->OH + h.o) * a->OW + w.o) * N;
                        multiply_add(dx, e, a->w + (h.k * KW + w.k) * N, N);
                    }
                }
                odt_store_all(dx, N);
                dx += N;
            }
        }
    }
}

void odt_depthwise2d_dw_f32(const odt_depthwise2d_dw_f32_t *a) {
    int32_t N = a->N, KW = a->KW;
    memset(a->dw, 0, (size_t)(a->KH * KW) * (size_t)N * sizeof(float));
    for (int32_t b = 0; b < a->B; b++) {
        for (int32_t oh = 0; oh < a->OH; oh++) {
            int32_t ih = oh * a->SH - a->PT;
            odt_taps_t th = odt_taps(ih, a->KH, a->H);
            for (int32_t ow = 0; ow < a->OW; ow++) {
                int32_t iw = ow * a->SW - a->PL;
                odt_taps_t tw = odt_taps(iw, KW, a->W);
                const float *e = a->e + ((b * a->OH + oh) * a->OW + ow) * N;
                for (int32_t kh = th.from; kh < th.to; kh++) {
                    for (int32_t kw = tw.from; kw < tw.to; kw++) {
                        int32_t at = ((b * a->H + ih + kh) * a->W + iw + kw) * N;
                        multiply_add(a->dw + (kh * KW + kw) * N, e, a->x + at, N);
                    }
                }
            }
        }
    }
    odt_store_all(a->dw, a->KH * KW * N);
}
