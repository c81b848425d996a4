// Optimizers of int8 models: gradients [N, K] become directions, weights [N, K] follow them.
// Randomness is a hash of the step's KEY, the parameter's id and the element: low and high halves
// of u serve two roundings.

#include "../fixed.h"
#include "../float32.h"
#include "../opcodes.h"
#include "rescale.h"
#include "rows.h"

static uint32_t largest(const int32_t *d, int32_t K) {
    uint32_t top = 0;
    for (int32_t k = 0; k < K; k++) {
        uint32_t magnitude = odt_magnitude(d[k]);
        top = magnitude > top ? magnitude : top;
    }
    return top;
}

// Bits that a row's block exponent `ex` must rise by, so that its gradient d of scale G stays below
// 2^(L+1) units; 0 if none.
static int32_t rise(const int32_t *d, int32_t K, uint32_t G, int32_t L, int32_t ex) {
    uint32_t top = largest(d, K);
    if (top == 0) {
        return 0;
    }
    int32_t need = odt_log2_floor(odt_scale_mul(odt_scale_int(top), G)) - L;
    return odt_max(odt_limit(need, -100, 100) - ex, 0);
}

static void shift_right(int16_t *v, int32_t K, int32_t bits) {
    if (bits) {
        for (int32_t k = 0; k < K; k++) {
            v[k] = bits > 15 ? 0 : (int16_t)((v[k] + (1 << (bits - 1))) >> bits);
        }
    }
}

static void shift_left(int16_t *v, int32_t K) {
    for (int32_t k = 0; k < K; k++) {
        v[k] = (int16_t)(v[k] * 4);
    }
}

// From the gradient's steps of scale G to sixteenths of a unit 2^ex.
static odt_rescaler_t to_units(uint32_t G, int32_t ex) {
    return odt_rescaler(odt_multiplier(odt_scale_div(G, odt_scale_shift(ODT_ONE, ex - 4))));
}

// Whether a row whose largest magnitude is `top` units is so small that its units may be.
static int is_small(uint32_t top, int32_t L, int32_t ex) {
    return top > 0 && top < 1u << (L - 3) && ex > -100;
}

void odt_momentum_i16(const odt_momentum_i16_t *a) {
    enum { L = 10 };
    int32_t K = a->K;
    uint32_t G = odt_scale_mul(odt_scale(a->factor), odt_scale(*a->gs));
    uint32_t key = odt_hash32((uint32_t)a->c[ODT_KEY], (uint32_t)a->id), i = (uint32_t)a->at * (uint32_t)K;
    for (int32_t n = 0; n < a->N; n++) {
        int32_t *d = a->d + n * K;
        int16_t *v = a->v + n * K;
        int32_t bits = rise(d, K, G, L, a->ex[n]), ex = a->ex[n] + bits;
        shift_right(v, K, bits);
        odt_rescaler_t q = to_units(G, ex);
        uint32_t top = 0;
        int32_t top_v = 0;
        for (int32_t k = 0; k < K; k++, i++) {
            int32_t g = odt_rescale_by(&q, d[k]);
            uint32_t low = odt_hash_by(key, i) & 65535;
            v[k] = (int16_t)((int32_t)((uint32_t)v[k] * (uint32_t)a->mu
                + ((uint32_t)g << 12) + low) >> 16);
            d[k] = v[k];
            top_v = odt_max(top_v, odt_max(v[k], -v[k]));
            uint32_t units = odt_magnitude(g) >> 4;
            top = units > top ? units : top;
        }
        a->ds[n] = (int32_t)odt_scale_shift(ODT_ONE, ex);
        if (top_v >= 1 << 14) {
            shift_right(v, K, 1);
            ex++;
        } else if (is_small((uint32_t)top_v > top ? (uint32_t)top_v : top, L, ex)) {
            shift_left(v, K);
            ex -= 2;
        }
        a->ex[n] = (int8_t)ex;
    }
}

// Bits of v, below 2^16.
static inline int32_t bit_length(uint32_t v) {
    #if defined(__GNUC__) && !defined(__ARM_ARCH_6M__)
    return v ? 32 - __builtin_clz(v) : 0;
    #else
    static const uint8_t bits[16] = {0, 1, 2, 2, 3, 3, 3, 3, 4, 4, 4, 4, 4, 4, 4, 4};
    int32_t n = 0;
    if (v >> 8) {
        n = 8;
        v >>= 8;
    }
    if (v >> 4) {
        n += 4;
        v >>= 4;
    }
    return n + bits[v];
    #endif
}

// sqrt(A^2 + B^2), as hi + lo^2 / (2 * hi).
static inline uint32_t hypotenuse(uint32_t A, uint32_t B) {
    uint32_t hi = A > B ? A : B, lo = A > B ? B : A;
    int32_t k = bit_length(hi >> 16);
    uint32_t l = lo >> k, squared = l * l, doubled = 2 * (hi >> k);
    return squared < doubled || hi == 0 ? hi : hi + ((squared / doubled) << k);
}

void odt_adam_i16(const odt_adam_i16_t *a) {
    enum { L = 12 };
    int32_t K = a->K, c1 = a->c1;
    uint32_t r2 = (uint32_t)a->r2, rc2 = (uint32_t)a->rc2;
    uint32_t G = odt_scale_mul(odt_scale(a->factor), odt_scale(*a->gs));
    uint32_t key = odt_hash32((uint32_t)a->c[ODT_KEY], (uint32_t)a->id), i = (uint32_t)a->at * (uint32_t)K;
    for (int32_t n = 0; n < a->N; n++) {
        int32_t *d = a->d + n * K, *end = d + K;
        int16_t *m = a->m + n * K, *v = a->v + n * K;
        int32_t bits = rise(d, K, G, L, a->ex[n]), ex = a->ex[n] + bits;
        shift_right(m, K, bits);
        shift_right(v, K, bits);
        odt_rescaler_t q = to_units(G, ex);
        uint32_t top = 0; // bits of the largest, so that its length is right
        for (; d != end; d++, m++, v++, i++) {
            int32_t g = odt_rescale_by(&q, *d), moment = *m;
            uint32_t u = odt_hash_by(key, i), magnitude = odt_magnitude(g);
            uint32_t change = ((uint32_t)g - (uint32_t)moment * 16) * (uint32_t)c1 + (uint16_t)u;
            moment += (int32_t)change >> 16;
            if (moment != (int16_t)moment || moment == -32768) {
                moment = odt_limit(moment, -32767, 32767);
            }
            *m = (int16_t)moment;
            uint32_t A = (uint32_t)*v * r2, B = magnitude * rc2 >> 2;
            uint32_t root = (hypotenuse(A, B) + (u >> 16)) >> 16;
            root = root < 32767 ? root : 32767;
            *v = (int16_t)root;
            top |= magnitude >> 4 | root;
            uint32_t size = odt_magnitude(moment);
            top |= size;
            uint32_t ratio = (size << 14) / (root + 1);
            ratio = ratio < 65535 ? ratio : 65535;
            *d = moment < 0 ? -(int32_t)ratio : (int32_t)ratio;
        }
        a->ds[n] = (int32_t)odt_scale_shift(ODT_ONE, -14);
        if (is_small(top, L, ex)) {
            shift_left(m - K, K);
            shift_left(v - K, K);
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

// Doubles the scale of rows that have outgrown it.
static void halve_rows(int8_t *w, int8_t *r, int32_t *sw, int32_t K, int32_t first, int32_t count) {
    for (int32_t i = first * K; i < (first + count) * K; i++) {
        int32_t W = (256 * w[i] + r[i] + 1) >> 1;
        w[i] = (int8_t)((W + 128) >> 8);
        r[i] = (int8_t)(W - 256 * w[i]);
    }
    for (int32_t n = first; n < first + count; n++) {
        sw[n] = (int32_t)odt_scale_shift(odt_scale(sw[n]), 1);
    }
}

void odt_apply_i8(const odt_apply_i8_t *a) {
    const int32_t limit = 32639; // 127 and 127 / 256
    int32_t K = a->K;
    uint32_t key = odt_hash32((uint32_t)a->c[ODT_KEY], (uint32_t)a->id), i = (uint32_t)a->at * (uint32_t)K;
    if (*a->rate == 0 || !odt_within(a->at, a->R, a->N)) {
        return;
    }
    uint32_t rate = odt_scale(*a->rate);
    int32_t is_limited = a->common && a->at ? *a->limited != 0 : 0;
    for (int32_t n = a->at; n < a->at + a->R; n++) {
        const int32_t *d = a->d + (n - a->at) * K;
        int8_t *w = a->w + n * K, *r = a->r + n * K;
        uint32_t sw = odt_scale(a->sw[n]);
        uint32_t step = odt_scale_div(odt_scale_mul(rate, odt_scale(a->ds[n - a->at])), sw);
        odt_rescaler_t q = odt_rescaler(odt_multiplier(odt_scale_shift(step, 8)));
        for (int32_t k = 0; k < K; k++, i++) {
            int32_t change = odt_rescale_random_by(&q, d[k], odt_hash_by(key, i));
            // More than all there is counts as that.
            int32_t W = 256 * w[k] + r[k] - odt_limit(change, -4 * limit, 4 * limit);
            if (W > limit || W < -limit) {
                W = W > limit ? limit : -limit;
                is_limited = 1;
            }
            w[k] = (int8_t)((W + 128) >> 8);
            r[k] = (int8_t)(W - 256 * w[k]);
        }
        if (is_limited && !a->common) {
            halve_rows(a->w, a->r, a->sw, K, n, 1);
            is_limited = 0;
        }
    }
    if (is_limited && a->at + a->R == a->N) {
        halve_rows(a->w, a->r, a->sw, a->K, 0, a->N);
        is_limited = 0;
    }
    *a->limited = is_limited;
}

void odt_settle_i8(const odt_settle_i8_t *a) {
    if (*a->limited) {
        halve_rows(a->w, a->r, a->sw, a->K, 0, a->N);
    }
}

void odt_apply_i32(const odt_apply_i32_t *a) {
    const int64_t limit = 1 << 30;
    if (*a->rate == 0) {
        return;
    }
    uint32_t step = odt_scale_mul(odt_scale(*a->rate), odt_scale(*a->ds));
    odt_multiplier_t q = odt_multiplier(odt_scale_shift(step, 20));
    for (int32_t n = 0; n < a->N; n++) {
        int64_t b = (int64_t)a->b[n] - odt_rescaled(a->d[n], q);
        a->b[n] = (int32_t)(b > limit ? limit : b < -limit ? -limit : b);
    }
}
