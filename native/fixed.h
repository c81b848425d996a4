// Fixed-point primitives of docs/reference/numerics.md, by its names. Scales are float32 bits. Every function
// takes any bits: no argument is undefined behaviour.

#ifndef ODT_FIXED_H
#define ODT_FIXED_H

#include <stdint.h>

#include "core.h"
#include "odt.h"

#define ODT_ONE 0x3F800000u
#define ODT_LOG2E 0x3FB8AA3Bu

static inline int32_t odt_max(int32_t a, int32_t b) {
    return a > b ? a : b;
}

static inline int32_t odt_min(int32_t a, int32_t b) {
    return a < b ? a : b;
}

static inline int32_t odt_limit(int32_t v, int32_t low, int32_t high) {
    return v < low ? low : v > high ? high : v;
}

static inline uint32_t odt_magnitude(int32_t v) {
    return v < 0 ? 0u - (uint32_t)v : (uint32_t)v;
}

static inline int32_t odt_sat32(int64_t v) {
    return v > INT32_MAX ? INT32_MAX : v < -INT32_MAX ? -INT32_MAX : (int32_t)v;
}

// Sums and products that may wrap, modulo 2^32. Anywhere else no overflow of an int32 is meant, and tests_host/fuzz,
// which compiles without -fwrapv, stops at it. (By casts to unsigned gcc makes other code, some of it longer.)
#if ODT_WRAPS_UNSIGNED
typedef uint32_t odt_wrapping_t;
#else
typedef int32_t odt_wrapping_t; // all builds have -fwrapv
#endif

static inline int32_t odt_wrap_add(int32_t a, int32_t b) {
    return (int32_t)((odt_wrapping_t)a + (odt_wrapping_t)b);
}

static inline int32_t odt_wrap_sub(int32_t a, int32_t b) {
    return (int32_t)((odt_wrapping_t)a - (odt_wrapping_t)b);
}

static inline int32_t odt_wrap_mul(int32_t a, int32_t b) {
    return (int32_t)((odt_wrapping_t)a * (odt_wrapping_t)b);
}

// 0 of 0.
static inline int32_t odt_bit_length(uint32_t v) {
    #if ODT_CLZ
    return v ? 32 - __builtin_clz(v) : 0;
    #else
    int32_t n = 0;
    for (int32_t half = 16; half; half >>= 1) {
        if (v >> half) {
            v >>= half;
            n += half;
        }
    }
    return n + (int32_t)v;
    #endif
}

// a / b, b not 0, where it is in a loop.
static inline uint32_t odt_divide(uint32_t a, uint32_t b) {
    #if ODT_DIVIDER
    volatile uint32_t *divider = (volatile uint32_t *)ODT_DIVIDER;
    divider[0] = a;
    divider[1] = b;
    __asm volatile ("b 1f\n1: b 1f\n1: b 1f\n1: b 1f\n1:\n"); // 2 cycles each
    return divider[4];
    #else
    return a / b;
    #endif
}

// The root of v, which is 2^30 or more, to a unit or two above: by Newton's method, from a line within 3.2 %.
static inline uint32_t odt_root_above(uint32_t v) {
    uint32_t y = 22528 + (v >> 17) + (v >> 19) + (v >> 20);
    y = (y + odt_divide(v, y)) >> 1;
    return (y + odt_divide(v, y)) >> 1;
}

#define ODT_HASH_GOLDEN 0x9E3779B9u
#define ODT_HASH_SECOND 0x7FEB352Du
#define ODT_HASH_THIRD 0x846CA68Bu

static inline uint32_t odt_hash32(uint32_t key, uint32_t i) {
    uint32_t golden = ODT_HASH_GOLDEN, second = ODT_HASH_SECOND, third = ODT_HASH_THIRD;
    #if ODT_ARM // where gcc would rather shift and add many times than load a factor
    __asm ("" : "+l" (golden), "+l" (second), "+l" (third));
    #endif
    uint32_t u = key + i * golden;
    u = (u ^ u >> 16) * second;
    u = (u ^ u >> 15) * third;
    return u ^ u >> 16;
}

// A word taken as a scale: the sign dropped, 0 and subnormals, infinity and NaN made the nearest
// normal.
#if ODT_MPY // one of all
uint32_t odt_scale(int32_t bits);
#else
static inline uint32_t odt_scale(int32_t bits) {
    uint32_t a = (uint32_t)bits & 0x7FFFFFFF;
    return a < 0x00800000 ? 0x00800000 : a > 0x7F7FFFFF ? 0x7F7FFFFF : a;
}
#endif

// a and b of these are such that odt_scale() would not change them.
uint32_t odt_scale_mul(uint32_t a, uint32_t b);
uint32_t odt_scale_div(uint32_t a, uint32_t b);
uint32_t odt_scale_add(uint32_t a, uint32_t b);
uint32_t odt_scale_sqrt(uint32_t a);
uint32_t odt_scale_int(uint32_t n);
uint32_t odt_scale_shift(uint32_t a, int32_t k);
odt_multiplier_t odt_multiplier(uint32_t scale);

static inline int32_t odt_log2_floor(uint32_t a) {
    return (int32_t)(a >> 23) - 127;
}

int32_t odt_rescaled(int32_t v, odt_multiplier_t q);
int32_t odt_rescaled_random(int32_t v, odt_multiplier_t q, uint32_t u);

// odt_rescaled(v * 65536, q) for v in 0 .. 255, mostly in 32 bits.
static inline int32_t odt_rescaled_byte(int32_t v, const odt_multiplier_t *q) {
    if (q->s >= 25 && q->s <= 55 && ((uint32_t)q->m & 0x8000007F) == 0) {
        return (int32_t)((((uint32_t)v * (uint32_t)(q->m >> 7) >> (q->s - 24)) + 1) >> 1);
    }
    return odt_rescaled(v * 65536, *q);
}

// A multiplier from memory, its shift such that odt_rescaled() takes it.
static inline odt_multiplier_t odt_checked(const odt_multiplier_t *q) {
    odt_multiplier_t r = {q->m, odt_limit(q->s, 1, 62)};
    return r;
}

// clamp(z + v), and the peak of v: of both signs, or of the positive where lo = z.
int8_t odt_clamp(int32_t v, int32_t z, int32_t lo, int32_t *peak);

// exp2n(t), t >= 0, and log2q(v), v >= 1.
uint32_t odt_exp2n(int32_t t);
int32_t odt_log2q(uint32_t v);
uint32_t odt_isqrt(uint64_t v);

// quantize(x, inverse) of float32 bits x.
int32_t odt_quantize(uint32_t x, uint32_t inverse);

#endif
