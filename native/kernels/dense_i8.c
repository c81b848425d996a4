// Dense layers, int8: forward, gradients of input, weights and bias, scaling by channel.
// x is [M, K], w [N, K], y and e [M, N].

#include <string.h>

#include "../fixed.h"
#include "../opcodes.h"
#include "inner_i8.h"

void odt_dense_i8(const odt_dense_i8_t *a) {
    int32_t M = a->M, K = a->K, N = a->N, peak = *a->peak;
    for (int32_t n = 0; n < N; n++) {
        const int8_t *w = a->w + n * K;
        odt_multiplier_t q = odt_checked(&a->q[n]);
        int32_t bias = a->b[n];
        if (a->zx) {
            bias -= a->zx * odt_sum_i8(w, K);
        }
        for (int32_t m = 0; m < M; m++) {
            int32_t v = odt_rescaled(bias + odt_dot_i8(a->x + m * K, w, K), q);
            a->y[m * N + n] = odt_clamp(v, a->zy, a->lo, &peak);
        }
    }
    *a->peak = peak;
}

void odt_dense_dx_i8(const odt_dense_dx_i8_t *a) {
    int32_t M = a->M, K = a->K, N = a->N, peak = *a->peak;
    odt_multiplier_t q = odt_checked(a->q);
    for (int32_t m = 0; m < M; m++) {
        for (int32_t k = 0; k < K; k += ODT_BLOCK) {
            int32_t block = odt_min(K - k, ODT_BLOCK);
            int32_t acc[ODT_BLOCK] = {0};
            for (int32_t n = 0; n < N; n++) {
                int32_t e = a->e[m * N + n];
                if (e) {
                    odt_axpy_i8(acc, e, a->w + n * K + k, 0, block);
                }
            }
            for (int32_t i = 0; i < block; i++) {
                a->dx[m * K + k + i] = odt_clamp(odt_rescaled(acc[i], q), 0, -127, &peak);
            }
        }
    }
    *a->peak = peak;
}

void odt_dense_dw_i8(const odt_dense_dw_i8_t *a) {
    int32_t M = a->M, K = a->K, N = a->N;
    memset(a->dw, 0, (size_t)N * (size_t)K * sizeof(int32_t));
    for (int32_t n = 0; n < N; n++) {
        for (int32_t m = 0; m < M; m++) {
            int32_t e = a->e[m * N + n];
            if (e) {
                odt_axpy_i8(a->dw + n * K, e, a->x + m * K, e * a->zx, K);
            }
        }
    }
}

void odt_bias_dw_i8(const odt_bias_dw_i8_t *a) {
    int32_t M = a->M, N = a->N;
    memset(a->db, 0, (size_t)N * sizeof(int32_t));
    for (int32_t m = 0; m < M; m++) {
        for (int32_t n = 0; n < N; n++) {
            a->db[n] += a->e[m * N + n];
        }
    }
}

void odt_channel_scale_i8(const odt_channel_scale_i8_t *a) {
    int32_t M = a->M, N = a->N, peak = INT32_MAX;
    uint32_t key = odt_hash32((uint32_t)a->c[ODT_KEY], (uint32_t)a->id), i = 0;
    for (int32_t m = 0; m < M; m++) {
        for (int32_t n = 0; n < N; n++, i++) {
            int32_t v = odt_rescaled_random(a->e[i], odt_checked(&a->q[n]), odt_hash32(key, i));
            a->y[i] = odt_clamp(v, 0, -127, &peak);
        }
    }
}
