// Joining and parting: columns of several tensors in one, products, images enlarged; gradients.
// `place`, `slice` and `upsample2d` move bytes and serve int8 and float32 alike: in float32 the
// columns N and K, and `at`, count bytes.

#include <string.h>

#include "../fixed.h"
#include "../float32.h"
#include "../opcodes.h"
#include "inner_i8.h"
#include "rows.h"

void odt_concat_i8(const odt_concat_i8_t *a) {
    int32_t K = a->K, N = a->N, peak = *a->peak;
    odt_multiplier_t q = odt_checked(a->q);
    if (!odt_within(a->at, K, N)) {
        return;
    }
    for (int32_t m = 0; m < a->M; m++) {
        const int8_t *x = a->x + m * K;
        int8_t *y = a->y + m * N + a->at;
        for (int32_t k = 0; k < K; k++) {
            int32_t v = odt_rescaled((int32_t)((uint32_t)x[k] - (uint32_t)a->zx), q);
            y[k] = odt_clamp(v, a->zy, a->lo, &peak);
        }
    }
    *a->peak = peak;
}

void odt_place(const odt_place_t *a) {
    if (!odt_within(a->at, a->K, a->N)) {
        return;
    }
    for (int32_t m = 0; m < a->M; m++) {
        memmove(a->y + m * a->N + a->at, a->x + m * a->K, (size_t)a->K);
    }
}

void odt_slice(const odt_slice_t *a) {
    if (!odt_within(a->at, a->K, a->N)) {
        memset(a->y, 0, (size_t)a->M * (size_t)a->K);
        return;
    }
    for (int32_t m = 0; m < a->M; m++) {
        memmove(a->y + m * a->K, a->x + m * a->N + a->at, (size_t)a->K);
    }
}

void odt_multiply_i8(const odt_multiply_i8_t *a) {
    int32_t peak = *a->peak;
    odt_multiplier_t q = odt_checked(a->q);
    for (int32_t i = 0; i < a->N; i++) {
        uint32_t u = (uint32_t)a->a[i] - (uint32_t)a->za, v = (uint32_t)a->b[i] - (uint32_t)a->zb;
        a->y[i] = odt_clamp(odt_rescaled((int32_t)(u * v), q), a->zy, a->lo, &peak);
    }
    *a->peak = peak;
}

void odt_multiply_f32(const odt_multiply_f32_t *a) {
    for (int32_t i = 0; i < a->N; i++) {
        a->y[i] = odt_store(a->a[i] * a->b[i]);
    }
}

void odt_upsample2d(const odt_upsample2d_t *a) {
    int32_t N = a->N;
    size_t row = (size_t)(a->W * a->SW) * (size_t)N;
    int8_t *y = a->y;
    const int8_t *x = a->x;
    for (int32_t rows = a->B * a->H; rows; rows--) {
        int8_t *first = y;
        for (int32_t w = 0; w < a->W; w++, x += N) {
            for (int32_t sw = 0; sw < a->SW; sw++, y += N) {
                memmove(y, x, (size_t)N);
            }
        }
        for (int32_t sh = 1; sh < a->SH; sh++, y += row) {
            memmove(y, first, row);
        }
    }
}

void odt_upsample2d_dx_i8(const odt_upsample2d_dx_i8_t *a) {
    int32_t N = a->N, SW = a->SW, width = a->W * SW, peak = *a->peak;
    odt_multiplier_t q = odt_checked(a->q);
    int8_t *dx = a->dx;
    for (int32_t row = 0; row < a->B * a->H; row++) {
        for (int32_t w = 0; w < a->W; w++) {
            const int8_t *e = a->e + (row * a->SH * width + w * SW) * N;
            for (int32_t n = 0; n < N; n++) {
                int32_t acc = 0;
                for (int32_t sh = 0; sh < a->SH; sh++) {
                    for (int32_t sw = 0; sw < SW; sw++) {
                        acc += e[(sh * width + sw) * N + n];
                    }
                }
                *dx++ = odt_clamp(odt_rescaled(acc, q), 0, -127, &peak);
            }
        }
    }
    *a->peak = peak;
}

void odt_upsample2d_dx_f32(const odt_upsample2d_dx_f32_t *a) {
    int32_t N = a->N, SW = a->SW, width = a->W * SW;
    float *dx = a->dx;
    for (int32_t row = 0; row < a->B * a->H; row++) {
        for (int32_t w = 0; w < a->W; w++) {
            const float *e = a->e + (row * a->SH * width + w * SW) * N;
            for (int32_t n = 0; n < N; n++) {
                float acc = 0.0f;
                for (int32_t sh = 0; sh < a->SH; sh++) {
                    for (int32_t sw = 0; sw < SW; sw++) {
                        acc = acc + e[(sh * width + sw) * N + n];
                    }
                }
                *dx++ = odt_store(acc);
            }
        }
    }
}
