// Dense layers, int8: forward, gradients of input, weights and bias, scaling by channel.
// x is [M, K], w [N, K], y and e [M, N].

#include <string.h>

#include "../fixed.h"
#include "../opcodes.h"
#include "dense_m4.h"
#include "dot_i8.h"
#include "inner_i8.h"
#include "panel_i8.h"
#include "rescale.h"
#include "rows.h"

#if ODT_PANEL
// Rows from which packing weights pays.
enum { MANY = 4 };
#endif

#if ODT_PANEL && !ODT_DSP

// Four outputs of a sample from their sums; the peak.
static int32_t finish_four(const int32_t *sums, const int32_t *bias, const odt_multiplier_t *q, int32_t zy, int32_t lo,
    int32_t peak, int8_t *y) {
    #if !defined(MICROPY_ENABLE_DYNRUNTIME)
    #pragma GCC unroll 4
    #endif
    for (int32_t i = 0; i < 4; i++) {
        int32_t v = odt_rescale_once(odt_wrap_add(bias[i], sums[i]), &q[i]);
        if (v < 0 && lo == zy) { // both as odt_clamp_by(), which takes longer
            y[i] = (int8_t)lo;
        } else if (v >= 0 && v <= peak && v <= 127 - zy) {
            y[i] = (int8_t)(v + zy);
        } else {
            y[i] = odt_clamp_by(v, zy, lo, &peak);
        }
    }
    return peak;
}
#endif

void odt_dense_i8(const odt_dense_i8_t *a) {
    #if ODT_PANEL
    // As a convolution of one row of M pixels by filters of one tap.
    if (a->M >= MANY) {
        odt_correlation_t c = {.x = a->x, .w = a->w, .bias = a->b, .q = a->q, .y = a->y, .peak = a->peak,
            .B = 1, .H = 1, .W = a->M, .C = a->K, .N = a->N, .KH = 1, .KW = 1, .SH = 1, .SW = 1, .OH = 1,
            .OW = a->M, .zx = a->zx, .zy = a->zy, .lo = a->lo, .w_n = a->K, .w_c = 1, .y_ow = a->N,
            .q_step = 1};
        odt_correlate_i8(&c);
        return;
    }
    #endif
    int32_t M = a->M, K = a->K, N = a->N, peak = *a->peak, n = 0;
    #if ODT_DSP
    n = odt_dense_few_i8(a, &peak);
    #elif ODT_PANEL
    for (int32_t m = 0; m < M; m++) {
        const int8_t *x = a->x + m * K, *w = a->w;
        for (n = 0; n + 4 <= N; n += 4, w += 4 * K) {
            int32_t sums[4];
            odt_dot4_i8(x, w, K, K, a->zx, sums);
            peak = finish_four(sums, a->b + n, a->q + n, a->zy, a->lo, peak, a->y + m * N + n);
        }
    }
    #endif
    for (; n < N; n++) {
        const int8_t *w = a->w + n * K;
        odt_multiplier_t q = odt_checked(&a->q[n]);
        int32_t bias = a->b[n];
        if (a->zx) {
            bias = odt_wrap_sub(bias, odt_wrap_mul(a->zx, odt_sum_i8(w, K)));
        }
        for (int32_t m = 0; m < M; m++) {
            int32_t v = odt_rescaled(odt_wrap_add(bias, odt_dot_i8(a->x + m * K, w, K)), q);
            a->y[m * N + n] = odt_clamp(v, a->zy, a->lo, &peak);
        }
    }
    *a->peak = peak;
}

void odt_dense_dx_i8(const odt_dense_dx_i8_t *a) {
    #if ODT_PANEL
    if (a->M >= MANY) {
        odt_correlation_t c = {.x = a->e, .w = a->w, .q = a->q, .y = a->dx, .peak = a->peak,
            .B = 1, .H = 1, .W = a->M, .C = a->N, .N = a->K, .KH = 1, .KW = 1, .SH = 1, .SW = 1, .OH = 1,
            .OW = a->M, .lo = -127, .w_n = 1, .w_c = a->K, .y_ow = a->K};
        odt_correlate_i8(&c);
        return;
    }
    #endif
    int32_t M = a->M, K = a->K, N = a->N, peak = *a->peak;
    odt_multiplier_t q = odt_checked(a->q);
    for (int32_t m = 0; m < M; m++) {
        odt_poll();
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
    const int8_t *first = a->e + a->at;
    if (!odt_within(a->at, a->R, a->N)) {
        memset(a->dw, 0, (size_t)a->R * (size_t)a->K * sizeof(int32_t));
        return;
    }
    #if ODT_PANEL
    if (a->M >= MANY) {
        odt_filter_gradient_t g = {.dw = a->dw, .e = first, .x = a->x, .B = 1, .H = 1, .W = a->M, .C = a->K,
            .N = a->R, .e_step = a->N, .KH = 1, .KW = 1, .SH = 1, .SW = 1, .OH = 1, .OW = a->M, .zx = a->zx};
        odt_filter_gradient_i8(&g);
        return;
    }
    #endif
    int32_t M = a->M, K = a->K;
    if (M == 1) {
        int32_t *dw = a->dw;
        for (int32_t n = 0; n < a->R; n++) {
            int32_t e = first[n], offset = odt_wrap_mul(e, a->zx);
            for (int32_t k = 0; k < K; k++) {
                *dw++ = e * a->x[k] - offset;
            }
        }
        return;
    }
    memset(a->dw, 0, (size_t)a->R * (size_t)K * sizeof(int32_t));
    for (int32_t n = 0; n < a->R; n++) {
        odt_poll();
        for (int32_t m = 0; m < M; m++) {
            int32_t e = first[m * a->N + n];
            if (e) {
                odt_axpy_i8(a->dw + n * K, e, a->x + m * K, odt_wrap_mul(e, a->zx), K);
            }
        }
    }
}

void odt_bias_dw_i8(const odt_bias_dw_i8_t *a) {
    int32_t M = a->M, N = a->N, n = 0;
    #if ODT_PANEL
    for (; n + 4 <= N; n += 4) {
        int32_t s0 = 0, s1 = 0, s2 = 0, s3 = 0;
        const int8_t *e = a->e + n;
        for (int32_t m = M; m; m--, e += N) {
            s0 += e[0];
            s1 += e[1];
            s2 += e[2];
            s3 += e[3];
        }
        a->db[n] = s0;
        a->db[n + 1] = s1;
        a->db[n + 2] = s2;
        a->db[n + 3] = s3;
    }
    #endif
    memset(a->db + n, 0, (size_t)(N - n) * sizeof(int32_t));
    for (int32_t m = 0; n < N && m < M; m++) {
        for (int32_t i = n; i < N; i++) {
            a->db[i] += a->e[m * N + i];
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
