// Softmax of rows [M, N] and its gradient, which needs y only, int8.

#include "../../fixed.h"
#include "../../opcodes.h"

void odt_softmax_i8(const odt_softmax_i8_t *a) {
    uint32_t scale = odt_scale_mul(odt_scale(a->factor), odt_scale(*a->sx));
    odt_multiplier_t q = odt_multiplier(odt_scale_mul(scale, ODT_LOG2E));
    int32_t N = a->N;
    for (int32_t m = 0; m < a->M; m++) {
        const int8_t *x = a->x + m * N;
        int8_t *y = a->y + m * N;
        int32_t top = -128;
        for (int32_t i = 0; i < N; i++) {
            top = odt_max(top, x[i]);
        }
        uint32_t sum = 0;
        for (int32_t i = 0; i < N; i++) {
            sum += odt_exp2n(odt_rescaled((top - x[i]) * 65536, q));
            sum = sum < 1u << 30 ? sum : 1u << 30;
        }
        for (int32_t i = 0; i < N; i++) {
            uint32_t p = odt_exp2n(odt_rescaled((top - x[i]) * 65536, q));
            y[i] = (int8_t)odt_min((int32_t)((512 * p + sum) / (2 * sum)) - 128, 127);
        }
    }
}

void odt_softmax_dx_i8(const odt_softmax_dx_i8_t *a) {
    int32_t N = a->N, peak = *a->peak;
    odt_multiplier_t q = odt_checked(a->q);
    for (int32_t m = 0; m < a->M; m++) {
        const int8_t *e = a->e + m * N, *y = a->y + m * N;
        int8_t *dx = a->dx + m * N;
        uint32_t mean = 0; // of e, in 1/256; it wraps
        for (int32_t i = 0; i < N; i++) {
            mean += (uint32_t)(e[i] * (y[i] + 128));
        }
        for (int32_t i = 0; i < N; i++) {
            uint32_t v = (uint32_t)(y[i] + 128) * ((uint32_t)(256 * e[i]) - mean);
            dx[i] = odt_clamp(odt_rescaled((int32_t)v, q), 0, -127, &peak);
        }
    }
    *a->peak = peak;
}
