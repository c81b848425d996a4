// Nesterov's momentum: v = mu * v + gradient, the direction is gradient + mu * v. As the momentum of
// update_i8.c and update_f32.c, with one look ahead.

#include "../float32.h"
#include "../opcodes.h"
#include "exponents_i16.h"

void odt_nesterov_f32(const odt_nesterov_f32_t *a) {
    float mu = odt_float((uint32_t)a->mu);
    for (int32_t i = 0; i < a->N; i++) {
        float v = odt_store(mu * a->v[i] + a->d[i]);
        a->v[i] = v;
        a->d[i] = odt_store(a->d[i] + mu * v);
    }
}

void odt_nesterov_i16(const odt_nesterov_i16_t *a) {
    enum { L = 10 };
    int32_t K = a->K;
    uint32_t G = odt_scale_mul(odt_scale(a->factor), odt_scale(*a->gs)), mu = (uint32_t)a->mu;
    uint32_t key = odt_hash32((uint32_t)a->c[ODT_KEY], (uint32_t)a->id), i = (uint32_t)a->at * (uint32_t)K;
    for (int32_t n = 0; n < a->N; n++) {
        int32_t *d = a->d + n * K;
        int16_t *v = a->v + n * K;
        int32_t bits = odt_exponent_rise(odt_largest(d, K), G, L, a->ex[n]), ex = a->ex[n] + bits;
        odt_state_shift_right(v, K, bits);
        odt_multiplier_t q = odt_to_sixteenths(G, ex);
        uint32_t top = 0;
        int32_t top_v = 0;
        for (int32_t k = 0; k < K; k++, i++) {
            int32_t g = odt_rescaled(d[k], q);
            uint32_t low = odt_hash32(key, i) & 65535;
            v[k] = (int16_t)((int32_t)((uint32_t)v[k] * mu + ((uint32_t)g << 12) + low) >> 16);
            d[k] = (int32_t)((uint32_t)g + (uint32_t)((int32_t)((uint32_t)v[k] * mu) >> 12));
            top_v = odt_max(top_v, odt_max(v[k], -v[k]));
            uint32_t units = odt_magnitude(g) >> 4;
            top = units > top ? units : top;
        }
        a->ds[n] = (int32_t)odt_scale_shift(ODT_ONE, ex - 4);
        top = (uint32_t)top_v > top ? (uint32_t)top_v : top;
        if (top_v >= 1 << 14) {
            odt_state_shift_right(v, K, 1);
            ex++;
        } else if (odt_is_small(top, L, ex)) {
            odt_state_shift_left(v, K);
            ex -= 2;
        }
        a->ex[n] = (int8_t)ex;
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
        // So that the largest d is of 23 bits.
        int32_t E = top ? odt_limit(odt_log2_floor(top) - 22, -100, 100) : 0;
        float factor = odt_float(odt_scale_shift(ODT_ONE, -E));
        for (int32_t k = 0; k < K; k++) {
            float x = odt_store((float)d[k] * G + mu * v[k]);
            d[k] = top ? odt_to_int(x * factor) : 0;
        }
        a->ds[n] = (int32_t)odt_scale_shift(ODT_ONE, E);
    }
}
