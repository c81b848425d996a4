// Transposed 2-D convolutions, float32: each input position adds its channels' values times the filters to a window of
// y. x is [B, H, W, C], w [N, KH, KW, C], y and e [B, OH, OW, N]; oh = ih * SH - PT + kh.

#include <string.h>

#include "../../float32.h"
#include "../../opcodes.h"
#include "../../common/inner_f32.h"
#include "../../common/window.h"
#include "../../common/axis_part.h"

void odt_transposed2d_f32(const odt_transposed2d_f32_t *a) {
    int32_t C = a->C, N = a->N, KW = a->KW;
    int32_t filter = a->KH * KW * C;
    float *y = a->y;
    for (int32_t b = 0; b < a->B; b++) {
        for (int32_t oh = 0; oh < a->OH; oh++) {
            odt_poll();
            for (int32_t ow = 0; ow < a->OW; ow++) {
                for (int32_t n = 0; n < N; n++) {
                    float acc = a->b[n];
                    odt_dx_taps_t h = odt_dx_taps(oh, a->PT, a->SH, a->KH, a->H);
                    for (; odt_dx_taps_more(&h); odt_dx_taps_next(&h)) {
                        odt_dx_taps_t w = odt_dx_taps(ow, a->PL, a->SW, KW, a->W);
                        for (; odt_dx_taps_more(&w); odt_dx_taps_next(&w)) {
                            const float *tap = a->w + n * filter + (h.k * KW + w.k) * C;
                            const float *x = a->x + ((b * a->H + h.o) * a->W + w.o) * C;
                            odt_lanes_dot(&acc, x, tap, filter, C, 1);
                        }
                    }
                    odt_lanes_end(&acc, y++, 1, a->relu);
                }
            }
        }
    }
}

void odt_transposed2d_dx_f32(const odt_transposed2d_dx_f32_t *a) {
    int32_t C = a->C, N = a->N, KW = a->KW;
    int32_t filter = a->KH * KW * C;
    float *dx = a->dx;
    memset(dx, 0, (size_t)(a->B * a->H) * (size_t)(a->W * C) * sizeof(float));
    for (int32_t b = 0; b < a->B; b++) {
        for (int32_t ih = 0; ih < a->H; ih++) {
            odt_poll();
            int32_t oh = ih * a->SH - a->PT;
            odt_taps_t th = odt_taps(oh, a->KH, a->OH);
            for (int32_t iw = 0; iw < a->W; iw++, dx += C) {
                int32_t ow = iw * a->SW - a->PL;
                odt_taps_t tw = odt_taps(ow, KW, a->OW);
                for (int32_t kh = th.from; kh < th.to; kh++) {
                    for (int32_t kw = tw.from; kw < tw.to; kw++) {
                        const float *e = a->e + ((b * a->OH + oh + kh) * a->OW + ow + kw) * N;
                        const float *tap = a->w + (kh * KW + kw) * C;
                        for (int32_t n = 0; n < N; n++) {
                            odt_axpy_f32(dx, e[n], tap + n * filter, C);
                        }
                    }
                }
                odt_store_all(dx, C);
            }
        }
    }
}

void odt_transposed2d_dw_f32(const odt_transposed2d_dw_f32_t *a) {
    int32_t C = a->C, N = a->N, KW = a->KW;
    int32_t filter = a->KH * KW * C;
    memset(a->dw, 0, (size_t)a->R * (size_t)filter * sizeof(float));
    if (!odt_within(a->at, a->R, N)) {
        return;
    }
    const float *x = a->x;
    for (int32_t b = 0; b < a->B; b++) {
        for (int32_t ih = 0; ih < a->H; ih++) {
            odt_poll();
            int32_t oh = ih * a->SH - a->PT;
            odt_taps_t th = odt_taps(oh, a->KH, a->OH);
            for (int32_t iw = 0; iw < a->W; iw++, x += C) {
                int32_t ow = iw * a->SW - a->PL;
                odt_taps_t tw = odt_taps(ow, KW, a->OW);
                for (int32_t kh = th.from; kh < th.to; kh++) {
                    for (int32_t kw = tw.from; kw < tw.to; kw++) {
                        int32_t o = (b * a->OH + oh + kh) * a->OW + ow + kw;
                        const float *e = a->e + o * N + a->at;
                        float *tap = a->dw + (kh * KW + kw) * C;
                        for (int32_t n = 0; n < a->R; n++) {
                            odt_axpy_f32(tap + n * filter, e[n], x, C);
                        }
                    }
                }
            }
        }
    }
    odt_store_all(a->dw, a->R * filter);
}
