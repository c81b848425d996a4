// 2-D convolutions in groups, float32: output channels n of a group read only its C input channels.
// x is [B, H, W, G * C], w [N, KH, KW, C], y and e [B, OH, OW, N]; N is a multiple of G.

#include <string.h>

#include "../../fixed.h"
#include "../../float32.h"
#include "../../opcodes.h"
#include "../../common/inner_f32.h"
#include "../../common/window.h"
#include "../../common/axis_part.h"

// First input channel of output n's group.
static int32_t group_start(int32_t n, int32_t N, int32_t G, int32_t C) {
    return odt_min(n / odt_max(N / G, 1), G - 1) * C;
}

void odt_group_conv2d_f32(const odt_group_conv2d_f32_t *a) {
    int32_t C = a->C, N = a->N, KW = a->KW, width = a->G * C;
    int32_t filter = a->KH * KW * C;
    float *y = a->y;
    for (int32_t b = 0; b < a->B; b++) {
        for (int32_t oh = 0; oh < a->OH; oh++) {
            odt_poll();
            int32_t ih = oh * a->SH - a->PT;
            odt_taps_t th = odt_taps(ih, a->KH, a->H);
            for (int32_t ow = 0; ow < a->OW; ow++) {
                int32_t iw = ow * a->SW - a->PL;
                odt_taps_t tw = odt_taps(iw, KW, a->W);
                for (int32_t n = 0; n < N; n++) {
                    int32_t first = group_start(n, N, a->G, C);
                    float acc = a->b[n];
                    for (int32_t kh = th.from; kh < th.to; kh++) {
                        for (int32_t kw = tw.from; kw < tw.to; kw++) {
                            const float *w = a->w + n * filter + (kh * KW + kw) * C;
                            int32_t at = ((b * a->H + ih + kh) * a->W + iw + kw) * width + first;
                            odt_lanes_dot(&acc, a->x + at, w, filter, C, 1);
                        }
                    }
                    odt_lanes_end(&acc, y++, 1, a->relu);
                }
            }
        }
    }
}

void odt_group_conv2d_dx_f32(const odt_group_conv2d_dx_f32_t *a) {
    int32_t C = a->C, N = a->N, KW = a->KW, width = a->G * C;
    int32_t filter = a->KH * KW * C;
    float *dx = a->dx;
    memset(dx, 0, (size_t)(a->B * a->H) * (size_t)(a->W * width) * sizeof(float));
    for (int32_t b = 0; b < a->B; b++) {
        for (int32_t ih = 0; ih < a->H; ih++) {
            odt_poll();
            for (int32_t iw = 0; iw < a->W; iw++, dx += width) {
                odt_dx_taps_t h = odt_dx_taps(ih, a->PT, a->SH, a->KH, a->OH);
                for (; odt_dx_taps_more(&h); odt_dx_taps_next(&h)) {
                    odt_dx_taps_t w = odt_dx_taps(iw, a->PL, a->SW, KW, a->OW);
                    for (; odt_dx_taps_more(&w); odt_dx_taps_next(&w)) {
                        const float *e = a->e + ((b * a->OH + h.o) * a->OW + w.o) * N;
                        const float *tap = a->w + (h.k * KW + w.k) * C;
                        for (int32_t n = 0; n < N; n++) {
                            float *to = dx + group_start(n, N, a->G, C);
                            odt_axpy_f32(to, e[n], tap + n * filter, C);
                        }
                    }
                }
                odt_store_all(dx, width);
            }
        }
    }
}

void odt_group_conv2d_dw_f32(const odt_group_conv2d_dw_f32_t *a) {
    int32_t C = a->C, N = a->N, KW = a->KW, width = a->G * C;
    int32_t filter = a->KH * KW * C;
    memset(a->dw, 0, (size_t)a->R * (size_t)filter * sizeof(float));
    if (!odt_within(a->at, a->R, N)) {
        return;
    }
    const float *e = a->e + a->at;
    for (int32_t b = 0; b < a->B; b++) {
        for (int32_t oh = 0; oh < a->OH; oh++) {
            odt_poll();
            int32_t ih = oh * a->SH - a->PT;
            odt_taps_t th = odt_taps(ih, a->KH, a->H);
            for (int32_t ow = 0; ow < a->OW; ow++, e += N) {
                int32_t iw = ow * a->SW - a->PL;
                odt_taps_t tw = odt_taps(iw, KW, a->W);
                for (int32_t n = 0; n < a->R; n++) {
                    int32_t first = group_start(a->at + n, N, a->G, C);
                    for (int32_t kh = th.from; kh < th.to; kh++) {
                        for (int32_t kw = tw.from; kw < tw.to; kw++) {
                            int32_t at = ((b * a->H + ih + kh) * a->W + iw + kw) * width + first;
                            float *row = a->dw + n * filter + (kh * KW + kw) * C;
                            odt_axpy_f32(row, e[n], a->x + at, C);
                        }
                    }
                }
            }
        }
    }
    odt_store_all(a->dw, a->R * filter);
}
