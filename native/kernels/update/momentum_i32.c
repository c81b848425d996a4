// Momentum and Nesterov momentum of int8 models with state in float32: gradients [N, K] become directions. As in
// momentum_f32.c; with state in int16: momentum_i16.c.

#include "../../fixed.h"
#include "../../float32.h"
#include "../../opcodes.h"

void odt_momentum_i32(const odt_momentum_i32_t *a) {
    int32_t K = a->K;
    float G = odt_float(odt_scale_mul(odt_scale(a->factor), odt_scale(*a->gs)));
    float mu = odt_float((uint32_t)a->mu);
    for (int32_t n = 0; n < a->N; n++) {
        int32_t *d = a->d + n * K;
        float *v = a->v + n * K;
        uint32_t top = 0;
        for (int32_t k = 0; k < K; k++) {
            v[k] = odt_store(mu * v[k] + (float)d[k] * G);
            uint32_t magnitude = odt_bits(v[k]) & 0x7FFFFFFF;
            top = magnitude > top ? magnitude : top;
        }
        // E scales the row so that the largest d has 23 bits.
        int32_t E = top ? odt_limit(odt_log2_floor(top) - 22, -100, 100) : 0;
        float factor = odt_float(odt_scale_shift(ODT_ONE, -E));
        for (int32_t k = 0; k < K; k++) {
            d[k] = top ? odt_to_int(v[k] * factor) : 0;
        }
        a->ds[n] = (int32_t)odt_scale_shift(ODT_ONE, E);
    }
}

void odt_nesterov_i32(const odt_nesterov_i32_t *a) {
    int32_t K = a->K;
    float G = odt_float(odt_scale_mul(odt_scale(a->factor), odt_scale(*a->gs)));
    float mu = odt_float((uint32_t)a->mu);
    for (int32_t n = 0; n < a->N; n++) {
        int32_t *d = a->d + n * K;
        float *v = a->v + n * K;
        uint32_t top = 0;
        for (int32_t k = 0; k < K; k++) {
            float g = (float)d[k] * G;
            v[k] = odt_store(mu * v[k] + g);
            uint32_t magnitude = odt_bits(odt_store(g + mu * v[k])) & 0x7FFFFFFF;
            top = magnitude > top ? magnitude : top;
        }
        // E scales the row so that the largest d has 23 bits.
        int32_t E = top ? odt_limit(odt_log2_floor(top) - 22, -100, 100) : 0;
        float factor = odt_float(odt_scale_shift(ODT_ONE, -E));
        for (int32_t k = 0; k < K; k++) {
            float x = odt_store((float)d[k] * G + mu * v[k]);
            d[k] = top ? odt_to_int(x * factor) : 0;
        }
        a->ds[n] = (int32_t)odt_scale_shift(ODT_ONE, E);
    }
}
