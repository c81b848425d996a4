// Rescaling (docs/numerics.md) of many values by one multiplier, mostly by two 32-bit products: scales
// have 24 bits, and what is rescaled seldom has more than 18.

#ifndef ODT_RESCALE_H
#define ODT_RESCALE_H

#include "../fixed.h"

// q = (high * 4096 + low) / 2^(shift + 12), if has_short.
typedef struct {
    odt_multiplier_t q;
    int32_t high, low, shift, has_short;
} odt_rescaler_t;

static inline odt_rescaler_t odt_rescaler(odt_multiplier_t q) {
    odt_rescaler_t r = {q, q.m >> 19, q.m >> 7 & 4095, q.s - 19, 0};
    r.has_short = q.m >= 0 && q.m % 128 == 0 && r.shift >= 1 && r.shift <= 30;
    return r;
}

// Whether v has at most 18 bits and a sign: v * high + (v * low >> 12) is below 2^31 then.
static inline int odt_is_short(const odt_rescaler_t *r, int32_t v) {
    return r->has_short && ((uint32_t)v + (1u << 18)) >> 19 == 0;
}

// odt_rescaled(v, r->q)
static inline int32_t odt_rescale_by(const odt_rescaler_t *r, int32_t v) {
    if (odt_is_short(r, v)) {
        return (((v * r->high + (v * r->low >> 12)) >> (r->shift - 1)) + 1) >> 1;
    }
    return odt_rescaled(v, r->q);
}

// odt_rescaled_random(v, r->q, u): the dither is the upper shift + 12 bits of u.
static inline int32_t odt_rescale_random_by(const odt_rescaler_t *r, int32_t v, uint32_t u) {
    if (odt_is_short(r, v)) {
        int32_t bits = r->shift + 12;
        int32_t rest = (int32_t)((bits > 32 ? u << (bits - 32) : u >> (32 - bits)) & 4095);
        int32_t dither = (int32_t)(u >> 1 >> (31 - r->shift));
        return (v * r->high + dither + ((v * r->low + rest) >> 12)) >> r->shift;
    }
    return odt_rescaled_random(v, r->q, u);
}

// odt_clamp() in place, for z and lo as programs have them: of 8 bits.
static inline int8_t odt_clamp_by(int32_t v, int32_t z, int32_t lo, int32_t *peak) {
    if (v > *peak) {
        *peak = v;
    }
    if (v < 0 && lo != z && -v > *peak) {
        *peak = -v;
    }
    if (v > 255 || v < -255) { // beyond any z
        v = v > 0 ? 255 : -255;
    }
    return (int8_t)odt_limit(v + z, lo, 127);
}

// odt_hash32() where a multiplication takes a cycle and gcc would rather shift and add for sixteen.
static inline uint32_t odt_hash_by(uint32_t key, uint32_t i) {
    #if defined(__ARM_ARCH_6M__)
    uint32_t u = key + i * 0x9E3779B9u, second = 0x7FEB352Du, third = 0x846CA68Bu;
    __asm ("" : "+l" (second), "+l" (third));
    u = (u ^ u >> 16) * second;
    u = (u ^ u >> 15) * third;
    return u ^ u >> 16;
    #else
    return odt_hash32(key, i);
    #endif
}

#endif
