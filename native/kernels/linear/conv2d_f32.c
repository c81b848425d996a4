// 2-D convolutions, float32: forward, gradients of input and filters.
// x is [B, H, W, C], w [N, KH, KW, C], y and e [B, OH, OW, N].

#include <string.h>

#include "../../float32.h"
#include "../../opcodes.h"
#include "../../common/inner_f32.h"
#include "../../common/window.h"
#include "../../common/axis_part.h"

void odt_conv2d_f32(const odt_conv2d_f32_t *a) {
    int32_t C = a->C, N = a->N, KH = a->KH, KW = a->KW;
    int32_t filter = KH * KW * C;
    float *y = a->y;
    for (int32_t b = 0; b < a->B; b++) {
        for (int32_t oh = 0; oh < a->OH; oh++) {
            int32_t ih = oh * a->SH - a->PT;
            odt_taps_t th = odt_taps(ih, KH, a->H);
            for (int32_t ow = 0; ow < a->OW; ow++) {
                odt_poll();
                int32_t iw = ow * a->SW - a->PL;
                odt_taps_t tw = odt_taps(iw, KW, a->W);
                int32_t run = (tw.to - tw.from) * C;
                for (int32_t n = 0; n < N; n += ODT_LANES) {
                    float acc[ODT_LANES];
                    int32_t lanes = odt_lanes_begin(acc, a->b, n, N);
                    for (int32_t kh = th.from; kh < th.to && run; kh++) {
                        int32_t at = ((b * a->H + ih + kh) * a->W + iw + tw.from) * C;
                        const float *w = a->w + n * filter + (kh * KW + tw.from) * C;
                        odt_lanes_dot(acc, a->x + at, w, filter, run, lanes);
                    }
                    odt_lanes_end(acc, y + n, lanes, a->relu);
                }
                y += N;
            }
        }
    }
}

void odt_conv2d_dx_f32(const odt_conv2d_dx_f32_t *a) {
    int32_t C = a->C, N = a->N, KH = a->KH, KW = a->KW;
    int32_t filter = KH * KW * C;
    float *dx = a->dx;
    memset(dx, 0, (size_t)(a->B * a->H) * (size_t)(a->W * C) * sizeof(float));
    for (int32_t b = 0; b < a->B; b++) {
        for (int32_t ih = 0; ih < a->H; ih++) {
            for (int32_t iw = 0; iw < a->W; iw++) {
                odt_poll();
                odt_dx_taps_t h = odt_dx_taps(ih, a->PT, a->SH, KH, a->OH);
                for (; odt_dx_taps_more(&h); odt_dx_taps_next(&h)) {
                    odt_dx_taps_t w = odt_dx_taps(iw, a->PL, a->SW, KW, a->OW);
                    for (; odt_dx_taps_more(&w); odt_dx_taps_next(&w)) {
                        const float *e = a->e + ((b * a->OH + h.o) * a->OW + w.o) * N;
                        const float *tap = a->w + (h.k * KW + w.k) * C;
                        for (int32_t n = 0; n < N; n++) {
                            odt_axpy_f32(dx, e[n], tap + n * filter, C);
                        }
                    }
                }
                odt_store_all(dx, C);
                dx += C;
            }
        }
    }
}

void odt_conv2d_dw_f32(const odt_conv2d_dw_f32_t *a) {
    int32_t C = a->C, N = a->N, KH = a->KH, KW = a->KW;
    int32_t filter = KH * KW * C;
    memset(a->dw, 0, (size_t)a->R * (size_t)filter * sizeof(float));
    if (!odt_within(a->at, a->R, N)) {
        return;
    }
    for (int32_t b = 0; b < a->B; b++) {
        for (int32_t oh = 0; oh < a->OH; oh++) {
            int32_t ih = oh * a->SH - a->PT;
            odt_taps_t th = odt_taps(ih, KH, a->H);
            for (int32_t ow = 0; ow < a->OW; ow++) {
                odt_poll();
                int32_t iw = ow * a->SW - a->PL;
                odt_taps_t tw = odt_taps(iw, KW, a->W);
                const float *e = a->e + ((b * a->OH + oh) * a->OW + ow) * N + a->at;
                int32_t run = (tw.to - tw.from) * C;
                for (int32_t n = 0; n < a->R; n++) {
                    for (int32_t kh = th.from; kh < th.to && run; kh++) {
                        int32_t at = ((b * a->H + ih + kh) * a->W + iw + tw.from) * C;
                        float *dw = a->dw + n * filter + (kh * KW + tw.from) * C;
                        odt_axpy_f32(dw, e[n], a->x + at, run);
                    }
                }
            }
        }
    }
    odt_store_all(a->dw, a->R * filter);
}
