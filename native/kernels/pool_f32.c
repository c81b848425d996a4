// Pooling, float32: largest of a window, average of an image, and their gradients.
// x is [B, H, W, N] or [B, S, N], y and e [B, OH, OW, N] or [B, N].

#include <string.h>

#include "../float32.h"
#include "../opcodes.h"
#include "inner_f32.h"
#include "window.h"

// Index of the first largest x of a window's channel n, or -1 where it has no position.
static int32_t first_largest(const float *x, odt_taps_t th, odt_taps_t tw, int32_t corner,
    int32_t W, int32_t N) {
    int32_t best = -1;
    for (int32_t kh = th.from; kh < th.to; kh++) {
        for (int32_t kw = tw.from; kw < tw.to; kw++) {
            int32_t at = corner + (kh * W + kw) * N;
            if (best < 0 || x[at] > x[best]) {
                best = at;
            }
        }
    }
    return best;
}

void odt_maxpool2d_f32(const odt_maxpool2d_f32_t *a) {
    int32_t N = a->N;
    float *y = a->y;
    for (int32_t b = 0; b < a->B; b++) {
        for (int32_t oh = 0; oh < a->OH; oh++) {
            int32_t ih = oh * a->SH - a->PT;
            odt_taps_t th = odt_taps(ih, a->KH, a->H);
            for (int32_t ow = 0; ow < a->OW; ow++) {
                int32_t iw = ow * a->SW - a->PL;
                odt_taps_t tw = odt_taps(iw, a->KW, a->W);
                int32_t corner = ((b * a->H + ih) * a->W + iw) * N;
                for (int32_t n = 0; n < N; n++) {
                    int32_t at = first_largest(a->x, th, tw, corner + n, a->W, N);
                    *y++ = at < 0 ? 0.0f : a->x[at];
                }
            }
        }
    }
}

void odt_maxpool2d_dx_f32(const odt_maxpool2d_dx_f32_t *a) {
    int32_t N = a->N;
    const float *e = a->e;
    memset(a->dx, 0, (size_t)(a->B * a->H) * (size_t)(a->W * N) * sizeof(float));
    for (int32_t b = 0; b < a->B; b++) {
        for (int32_t oh = 0; oh < a->OH; oh++) {
            int32_t ih = oh * a->SH - a->PT;
            odt_taps_t th = odt_taps(ih, a->KH, a->H);
            for (int32_t ow = 0; ow < a->OW; ow++) {
                int32_t iw = ow * a->SW - a->PL;
                odt_taps_t tw = odt_taps(iw, a->KW, a->W);
                int32_t corner = ((b * a->H + ih) * a->W + iw) * N;
                for (int32_t n = 0; n < N; n++) {
                    int32_t at = first_largest(a->x, th, tw, corner + n, a->W, N);
                    if (at >= 0) {
                        a->dx[at] = odt_store(a->dx[at] + e[n]);
                    }
                }
                e += N;
            }
        }
    }
}

void odt_globalavg_f32(const odt_globalavg_f32_t *a) {
    int32_t S = a->S, N = a->N;
    float part = 1.0f / (float)S;
    for (int32_t b = 0; b < a->B; b++) {
        float *y = a->y + b * N;
        memset(y, 0, (size_t)N * sizeof(float));
        for (int32_t s = 0; s < S; s++) {
            odt_axpy_f32(y, 1.0f, a->x + (b * S + s) * N, N);
        }
        for (int32_t n = 0; n < N; n++) {
            y[n] = odt_store(y[n] * part);
        }
    }
}

void odt_globalavg_dx_f32(const odt_globalavg_dx_f32_t *a) {
    int32_t N = a->N;
    float part = 1.0f / (float)a->S;
    float *dx = a->dx;
    for (int32_t b = 0; b < a->B; b++) {
        for (int32_t s = 0; s < a->S; s++) {
            for (int32_t n = 0; n < N; n++) {
                *dx++ = odt_store(a->e[b * N + n] * part);
            }
        }
    }
}
