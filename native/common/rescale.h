// Rescaling (docs/reference/numerics.md) of many values by one multiplier. Where a product of 64 bits is several
// instructions, mostly by two 32-bit products: scales have 24 bits, and rescaled values rarely have more
// than 18. Elsewhere by the product's upper half: shifts are mostly above 32.

#ifndef ODT_RESCALE_H
#define ODT_RESCALE_H

#include "../core.h"
#include "../fixed.h"

#if ODT_M0

// q = (high * 4096 + low) / 2^(shift + 12), if has_short.
typedef struct {
    odt_multiplier_t q;
    int32_t high, low, shift, has_short;
} odt_rescaler_t;

static inline odt_rescaler_t odt_rescaler(odt_multiplier_t q) {
    odt_rescaler_t r = {q, q.m >> 19, q.m >> 7 & 4095, q.s - 19, 0};
    r.has_short = q.m % 128 == 0 && r.shift >= 1 && r.shift <= 30;
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
        int32_t rest = (int32_t)(u << r->shift >> 20), dither = (int32_t)(u >> (32 - r->shift));
        return (v * r->high + dither + ((v * r->low + rest) >> 12)) >> r->shift;
    }
    return odt_rescaled_random(v, r->q, u);
}

// odt_rescaled(v, q), of a multiplier that is used once.
static inline int32_t odt_rescale_once(int32_t v, const odt_multiplier_t *q) {
    uint32_t shift = (uint32_t)q->s - 20;
    if (((uint32_t)v + (1u << 18)) >> 19 == 0 && ((uint32_t)q->m & 0x8000007F) == 0 && shift < 30) {
        return (((v * (q->m >> 19) + (v * (q->m >> 7 & 4095) >> 12)) >> shift) + 1) >> 1;
    }
    return odt_rescaled(v, odt_checked(q));
}

#else

// By the upper half of (v << up) * q.m, for v of -bound .. bound.
typedef struct {
    odt_multiplier_t q;
    uint32_t bound;
    int32_t up, shift, half; // shift = q.s + up - 32, at least 1; half = 2^(shift - 1)
} odt_rescaler_t;

static inline odt_rescaler_t odt_rescaler(odt_multiplier_t q) {
    int32_t up = odt_limit(33 - q.s, 0, 31), shift = odt_max(q.s + up - 32, 1);
    odt_rescaler_t r = {q, ((uint32_t)1 << (31 - up)) - 1, up, shift, (int32_t)1 << (shift - 1)};
    return r;
}

// odt_rescaled(v, r->q)
static inline int32_t odt_rescale_by(const odt_rescaler_t *r, int32_t v) {
    if ((uint32_t)v + r->bound <= 2 * r->bound) {
        return ((int32_t)((int64_t)(int32_t)((uint32_t)v << r->up) * r->q.m >> 32) + r->half) >> r->shift;
    }
    return odt_rescaled(v, r->q);
}

// a + (b * c >> 32), b * c of 64 bits.
static inline int32_t odt_add_upper(int32_t a, int32_t b, int32_t c) {
    #if ODT_M4
    int32_t sum;
    __asm ("smmla %0, %1, %2, %3" : "=r" (sum) : "r" (b), "r" (c), "r" (a));
    return sum;
    #else
    return a + (int32_t)((int64_t)b * c >> 32);
    #endif
}

// Whether odt_rescale_within() takes every v of `bits` bits and a sign.
static inline int odt_is_within(const odt_rescaler_t *r, int32_t bits) {
    return (uint32_t)1 << bits <= r->bound;
}

// odt_rescaled(v, r->q), r by value: a loop keeps it in registers.
static inline int32_t odt_rescale_within(odt_rescaler_t r, int32_t v) {
    return odt_add_upper(r.half, (int32_t)((uint32_t)v << r.up), r.q.m) >> r.shift;
}

// odt_rescaled(v, q), of a multiplier that is used once.
static inline int32_t odt_rescale_once(int32_t v, const odt_multiplier_t *q) {
    odt_rescaler_t r = odt_rescaler(odt_checked(q));
    return odt_rescale_by(&r, v);
}

// odt_rescaled_random(v, r->q, u)
static inline int32_t odt_rescale_random_by(const odt_rescaler_t *r, int32_t v, uint32_t u) {
    if (r->up == 0) {
        int64_t dither = (int64_t)((uint64_t)(u >> (32 - r->shift)) << 32 | u << r->shift);
        return (int32_t)(((int64_t)v * r->q.m + dither) >> 32) >> r->shift;
    }
    return odt_rescaled_random(v, r->q, u);
}

#endif

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
    return (int8_t)odt_limit(odt_wrap_add(v, z), lo, 127);
}

#endif
