// Dense layers, float32: forward, gradients of input, weights and bias. x is [M, K], w [N, K], y and e [M, N]. The
// order of additions within each sum is fixed; which sums are computed side by side is not.

#include <string.h>

#include "../../float32.h"
#include "../../opcodes.h"
#include "../../common/inner_f32.h"
#include "../../common/axis_part.h"

void odt_dense_f32(const odt_dense_f32_t *a) {
    int32_t K = a->K, N = a->N;
    for (int32_t m = 0; m < a->M; m++) {
        const float *x = a->x + m * K;
        float *y = a->y + m * N;
        for (int32_t n = 0; n < N; n += ODT_LANES) {
            odt_poll();
            float acc[ODT_LANES];
            int32_t lanes = odt_lanes_begin(acc, a->b, n, N);
            odt_lanes_dot(acc, x, a->w + n * K, K, K, lanes);
            odt_lanes_end(acc, y + n, lanes, a->relu);
        }
    }
}

void odt_dense_dx_f32(const odt_dense_dx_f32_t *a) {
    int32_t K = a->K, N = a->N;
    for (int32_t m = 0; m < a->M; m++) {
        float *dx = a->dx + m * K;
        memset(dx, 0, (size_t)K * sizeof(float));
        for (int32_t n = 0; n < N; n++) {
            odt_poll();
            odt_axpy_f32(dx, a->e[m * N + n], a->w + n * K, K);
        }
        odt_store_all(dx, K);
    }
}

void odt_dense_dw_f32(const odt_dense_dw_f32_t *a) {
    int32_t K = a->K, N = a->N;
    int is_within = odt_within(a->at, a->R, N);
    for (int32_t n = 0; n < a->R; n++) {
        float *dw = a->dw + n * K;
        memset(dw, 0, (size_t)K * sizeof(float));
        for (int32_t m = 0; m < a->M && is_within; m++) {
            odt_poll();
            odt_axpy_f32(dw, a->e[m * N + a->at + n], a->x + m * K, K);
        }
        odt_store_all(dw, K);
    }
}

void odt_bias_dw_f32(const odt_bias_dw_f32_t *a) {
    int32_t N = a->N;
    memset(a->db, 0, (size_t)N * sizeof(float));
    for (int32_t m = 0; m < a->M; m++) {
        odt_axpy_f32(a->db, 1.0f, a->e + m * N, N);
    }
    odt_store_all(a->db, N);
}
