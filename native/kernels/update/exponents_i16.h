// Block exponents: a row [K] of int16 state is in units of 2^ex. docs/reference/numerics.md, update.

#ifndef ODT_EXPONENTS_I16_H
#define ODT_EXPONENTS_I16_H

#include "../../fixed.h"

// The dither that rounds a parameter's elements at random: element i, or in Adam row i, uses the bits of first + i *
// step. Any two dithers are practically independent, because both words change at every step of the training.
typedef struct {
    uint32_t first, step;
} odt_dither_t;

static inline odt_dither_t odt_dither(int32_t key, int32_t id) {
    uint32_t first = odt_hash32((uint32_t)key, (uint32_t)id);
    odt_dither_t dither = {first, odt_hash32(first, 1) | 1};
    return dither;
}

// A scale is factor * 2^exponent; the factor has 15 bits.
static inline int32_t odt_short_factor(uint32_t scale) {
    return (int32_t)((scale & 0x7FFFFF) | 0x800000) >> 9;
}

static inline int32_t odt_short_exponent(uint32_t scale) {
    return (int32_t)(scale >> 23) - 141;
}

// Bits of the largest of K magnitudes; the magnitude of a negative d is -1 - d.
int32_t odt_bits_of(const int32_t *d, int32_t K);

// The smallest exponent for which a row's gradient, of `bits` bits and scale G, is below 2^(level + 1) units.
static inline int32_t odt_needed_exponent(int32_t bits, uint32_t G, int32_t level) {
    return odt_limit(bits + odt_log2_floor(G) - level, -100, 100);
}

void odt_state_shift_right(int16_t *v, int32_t K, int32_t bits);

#endif
