// Optimizers of int8 models with state in float32, or none: gradients [N, K] become directions. The weights follow
// in apply_i8.c; with state in int16: momentum_i16.c, adam_i16.c.

#include "../fixed.h"
#include "../float32.h"
#include "../opcodes.h"
#include "rescale.h"

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
        // So that the largest d is of 23 bits.
        int32_t E = top ? odt_limit(odt_log2_floor(top) - 22, -100, 100) : 0;
        float factor = odt_float(odt_scale_shift(ODT_ONE, -E));
        for (int32_t k = 0; k < K; k++) {
            d[k] = top ? odt_to_int(v[k] * factor) : 0;
        }
        a->ds[n] = (int32_t)odt_scale_shift(ODT_ONE, E);
    }
}

void odt_adam_i32(const odt_adam_i32_t *a) {
    float G = odt_float(odt_scale_mul(odt_scale(a->factor), odt_scale(*a->gs)));
    float b1 = odt_float((uint32_t)a->b1), c1 = odt_float((uint32_t)a->c1);
    float b2 = odt_float((uint32_t)a->b2), c2 = odt_float((uint32_t)a->c2);
    float eps = odt_float((uint32_t)a->eps) * odt_float((uint32_t)a->rate[1]);
    for (int32_t i = 0; i < a->N * a->K; i++) {
        float g = (float)a->d[i] * G;
        float m = odt_store(b1 * a->m[i] + c1 * g);
        float v = odt_store2(b2 * a->v[i] + c2 * (g * g));
        a->m[i] = m;
        a->v[i] = v;
        float x = m / (odt_sqrtf(v) + eps);
        x = x > 4.0f ? 4.0f : x < -4.0f ? -4.0f : x;
        a->d[i] = odt_to_int(x * 1048576.0f);
    }
    for (int32_t n = 0; n < a->N; n++) {
        a->ds[n] = (int32_t)odt_scale_shift(ODT_ONE, -20);
    }
}

void odt_plain_i32(const odt_plain_i32_t *a) {
    uint32_t G = odt_scale_mul(odt_scale(a->factor), odt_scale(*a->gs));
    for (int32_t n = 0; n < a->N; n++) {
        a->ds[n] = (int32_t)G;
    }
}

void odt_apply_i32(const odt_apply_i32_t *a) {
    const int64_t limit = 1 << 30;
    if (*a->rate == 0) {
        return;
    }
    uint32_t step = odt_scale_mul(odt_scale(*a->rate), odt_scale(*a->ds));
    odt_rescaler_t q = odt_rescaler(odt_multiplier(odt_scale_shift(step, 20)));
    for (int32_t n = 0; n < a->N; n++) {
        int64_t b = (int64_t)a->b[n] - odt_rescale_by(&q, a->d[n]);
        a->b[n] = (int32_t)(b > limit ? limit : b < -limit ? -limit : b);
    }
}
