// Dense layers, int8: gradients of the weights and, of convolutions too, of the bias.
// x is [M, K], e [M, N], dw [R, K]: of rows at .. at + R - 1.

#include <string.h>

#include "../../core.h"
#include "../../fixed.h"
#include "../../opcodes.h"
#include "../common/inner_i8.h"
#include "../common/within.h"
#include "conv2d_i8.h"

void odt_dense_dw_i8(const odt_dense_dw_i8_t *a) {
    const int8_t *first = a->e + a->at;
    if (!odt_within(a->at, a->R, a->N)) {
        memset(a->dw, 0, (size_t)a->R * (size_t)a->K * sizeof(int32_t));
        return;
    }
    #if ODT_PANEL
    if (a->M >= ODT_MANY_ERRORS) {
        odt_correlation_dw_t g = {.dw = a->dw, .e = first, .x = a->x, .B = 1, .H = 1, .W = a->M, .C = a->K,
            .N = a->R, .e_step = a->N, .KH = 1, .KW = 1, .SH = 1, .SW = 1, .OH = 1, .OW = a->M, .zx = a->zx};
        odt_correlate_dw_i8(&g);
        return;
    }
    #endif
    int32_t M = a->M, K = a->K;
    if (M == 1) {
        int32_t *dw = a->dw;
        for (int32_t n = 0; n < a->R; n++) {
            int32_t e = first[n], offset = odt_wrap_mul(e, a->zx);
            for (int32_t k = 0; k < K; k++) {
                *dw++ = odt_wrap_sub(e * a->x[k], offset);
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
