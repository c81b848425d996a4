// Optimizers of int8 models: gradients [N, K] become directions. Adam is in adam_i16.c; the weights
// follow in apply_i8.c.

#include "../fixed.h"
#include "../float32.h"
#include "../opcodes.h"
#include "exponents_i16.h"
#include "rescale.h"

void odt_momentum_i16(const odt_momentum_i16_t *a) {
    enum { L = 10 };
    int32_t K = a->K;
    uint32_t G = odt_scale_mul(odt_scale(a->factor), odt_scale(*a->gs));
    uint32_t key = odt_hash32((uint32_t)a->c[ODT_KEY], (uint32_t)a->id), i = (uint32_t)a->at * (uint32_t)K;
    for (int32_t n = 0; n < a->N; n++) {
        int32_t *d = a->d + n * K;
        int16_t *v = a->v + n * K;
        int32_t bits = odt_exponent_rise(odt_largest(d, K), G, L, a->ex[n]), ex = a->ex[n] + bits;
        odt_state_shift_right(v, K, bits);
        odt_rescaler_t q = odt_rescaler(odt_to_sixteenths(G, ex));
        uint32_t top = 0;
        int32_t top_v = 0;
        for (int32_t k = 0; k < K; k++, i++) {
            int32_t g = odt_rescale_by(&q, d[k]);
            uint32_t low = odt_hash32(key, i) & 65535;
            v[k] = (int16_t)((int32_t)((uint32_t)v[k] * (uint32_t)a->mu
                + ((uint32_t)g << 12) + low) >> 16);
            d[k] = v[k];
            top_v = odt_max(top_v, odt_max(v[k], -v[k]));
            uint32_t units = odt_magnitude(g) >> 4;
            top = units > top ? units : top;
        }
        a->ds[n] = (int32_t)odt_scale_shift(ODT_ONE, ex);
        if (top_v >= 1 << 14) {
            odt_state_shift_right(v, K, 1);
            ex++;
        } else if (odt_is_small((uint32_t)top_v > top ? (uint32_t)top_v : top, L, ex)) {
            odt_state_shift_left(v, K);
            ex -= 2;
        }
        a->ex[n] = (int8_t)ex;
    }
}

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
