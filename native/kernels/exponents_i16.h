// Block exponents: int16 state of a row [K] counts in units of 2^ex. numerics.md, Updates.

#ifndef ODT_EXPONENTS_I16_H
#define ODT_EXPONENTS_I16_H

#include "../fixed.h"

// The largest |d| of a row.
static inline uint32_t odt_largest(const int32_t *d, int32_t K) {
    int32_t top = 0, bottom = 0;
    for (const int32_t *end = d + K; d != end; d++) {
        top = odt_max(top, *d);
        bottom = odt_min(bottom, *d);
    }
    uint32_t below = odt_magnitude(bottom);
    return below > (uint32_t)top ? below : (uint32_t)top;
}

// Bits that a row's exponent must rise by, so that a gradient of at most `top` and of scale G stays below
// 2^(L+1) units.
static inline int32_t odt_exponent_rise(uint32_t top, uint32_t G, int32_t L, int32_t ex) {
    if (top == 0) {
        return 0;
    }
    int32_t need = odt_log2_floor(odt_scale_mul(odt_scale_int(top), G)) - L;
    return odt_max(odt_limit(need, -100, 100) - ex, 0);
}

static inline void odt_state_shift_right(int16_t *v, int32_t K, int32_t bits) {
    if (bits) {
        for (int32_t k = 0; k < K; k++) {
            v[k] = bits > 15 ? 0 : (int16_t)((v[k] + (1 << (bits - 1))) >> bits);
        }
    }
}

// By two bits.
static inline void odt_state_shift_left(int16_t *v, int32_t K) {
    for (int32_t k = 0; k < K; k++) {
        v[k] = (int16_t)(v[k] * 4);
    }
}

// Whether a row whose largest magnitude is `top` units is so small that its units may be.
static inline int odt_is_small(uint32_t top, int32_t L, int32_t ex) {
    return top > 0 && top < 1u << (L - 3) && ex > -100;
}

// From the gradient's steps of scale G to sixteenths of a unit.
static inline odt_multiplier_t odt_to_sixteenths(uint32_t G, int32_t ex) {
    return odt_multiplier(odt_scale_div(G, odt_scale_shift(ODT_ONE, ex - 4)));
}

#endif
