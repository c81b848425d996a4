// Depthwise 2-D convolutions, int8: forward, gradients of input and filters.
// x is [B, H, W, N], w [N, KH, KW], y and e [B, OH, OW, N].

#include <string.h>

#include "../fixed.h"
#include "../opcodes.h"
#include "inner_i8.h"
#include "window.h"

void odt_depthwise2d_i8(const odt_depthwise2d_i8_t *a) {
    int32_t N = a->N, KW = a->KW, taps = a->KH * KW, zx = a->zx, peak = *a->peak;
    int8_t *y = a->y;
    for (int32_t b = 0; b < a->B; b++) {
        for (int32_t oh = 0; oh < a->OH; oh++) {
            int32_t ih = oh * a->SH - a->PT;
            odt_taps_t th = odt_taps(ih, a->KH, a->H);
            for (int32_t ow = 0; ow < a->OW; ow++) {
                int32_t iw = ow * a->SW - a->PL;
                odt_taps_t tw = odt_taps(iw, KW, a->W);
                for (int32_t n = 0; n < N; n += ODT_BLOCK) {
                    int32_t block = odt_min(N - n, ODT_BLOCK);
                    int32_t acc[ODT_BLOCK];
                    memcpy(acc, a->b + n, (size_t)block * sizeof(int32_t));
                    for (int32_t kh = th.from; kh < th.to; kh++) {
                        for (int32_t kw = tw.from; kw < tw.to; kw++) {
                            const int8_t *w = a->w + n * taps + kh * KW + kw;
                            const int8_t *x =
                                a->x + ((b * a->H + ih + kh) * a->W + iw + kw) * N + n;
                            for (int32_t i = 0; i < block; i++) {
                                acc[i] += (x[i] - zx) * w[i * taps];
                            }
                        }
                    }
                    for (int32_t i = 0; i < block; i++) {
                        int32_t v = odt_rescaled(acc[i], odt_checked(&a->q[n + i]));
                        *y++ = odt_clamp(v, a->zy, a->lo, &peak);
                    }
                }
            }
        }
    }
    *a->peak = peak;
}

void odt_depthwise2d_dx_i8(const odt_depthwise2d_dx_i8_t *a) {
    int32_t N = a->N, KW = a->KW, taps = a->KH * KW, peak = *a->peak;
    int8_t *dx = a->dx;
    for (int32_t b = 0; b < a->B; b++) {
        for (int32_t ih = 0; ih < a->H; ih++) {
            for (int32_t iw = 0; iw < a->W; iw++) {
                for (int32_t n = 0; n < N; n += ODT_BLOCK) {
                    int32_t block = odt_min(N - n, ODT_BLOCK);
                    int32_t acc[ODT_BLOCK] = {0};
                    odt_back_t h = odt_back(ih, a->PT, a->SH, a->KH, a->OH);
                    for (; odt_back_more(&h); odt_back_next(&h)) {
                        odt_back_t w = odt_back(iw, a->PL, a->SW, KW, a->OW);
                        for (; odt_back_more(&w); odt_back_next(&w)) {
                            const int8_t *e = a->e + ((b * a->OH + h.o) * a->OW + w.o) * N + n;
                            const int8_t *tap = a->w + n * taps + h.k * KW + w.k;
                            for (int32_t i = 0; i < block; i++) {
                                acc[i] += e[i] * tap[i * taps];
                            }
                        }
                    }
                    for (int32_t i = 0; i < block; i++) {
                        int32_t v = odt_rescaled(acc[i], odt_checked(&a->q[n + i]));
                        *dx++ = odt_clamp(v, 0, -127, &peak);
                    }
                }
            }
        }
    }
    *a->peak = peak;
}

void odt_depthwise2d_dw_i8(const odt_depthwise2d_dw_i8_t *a) {
    int32_t N = a->N, taps = a->KH * a->KW, zx = a->zx;
    for (int32_t tap = 0; tap < taps; tap++) {
        int32_t kh = tap / a->KW, kw = tap % a->KW;
        odt_taps_t rows = odt_outputs(kh, a->PT, a->SH, a->H, a->OH);
        odt_taps_t columns = odt_outputs(kw, a->PL, a->SW, a->W, a->OW);
        for (int32_t n = 0; n < N; n += ODT_BLOCK) {
            int32_t block = odt_min(N - n, ODT_BLOCK);
            int32_t acc[ODT_BLOCK] = {0};
            for (int32_t b = 0; b < a->B; b++) {
                for (int32_t oh = rows.from; oh < rows.to; oh++) {
                    int32_t ih = oh * a->SH - a->PT + kh;
                    for (int32_t ow = columns.from; ow < columns.to; ow++) {
                        int32_t iw = ow * a->SW - a->PL + kw;
                        const int8_t *e = a->e + ((b * a->OH + oh) * a->OW + ow) * N + n;
                        const int8_t *x = a->x + ((b * a->H + ih) * a->W + iw) * N + n;
                        for (int32_t i = 0; i < block; i++) {
                            acc[i] += e[i] * (x[i] - zx);
                        }
                    }
                }
            }
            for (int32_t i = 0; i < block; i++) {
                a->dw[(n + i) * taps + tap] = acc[i];
            }
        }
    }
}
