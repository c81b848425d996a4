// Bytes as summands of an int8 sum, in 32 bits.

#ifndef ODT_SUMMAND_H
#define ODT_SUMMAND_H

#include "../core.h"
#include "../fixed.h"

// Converts a byte x to a summand plus an offset, in 256ths of a step of the sum: (x * factor + plus mod 2^32) >> shift,
// unsigned.
typedef struct {
    uint32_t factor, plus, shift;
} odt_summand_t;

// Prepares the summands of bytes less `zero`; returns whether all fit 32 bits. The offset makes the smallest one, for x
// = -128, nonnegative; the largest is then at most 255 * factor + 3 * 2^22 above it.
static inline int odt_make_summand(odt_summand_t *to, int32_t zero, odt_multiplier_t q, uint32_t *offset) {
    to->factor = (uint32_t)q.m >> 7;
    to->shift = (uint32_t)q.s - 15;
    if (((uint32_t)q.m & 0x8000007F) || to->shift - 4 > 18 || zero != (int8_t)zero) {
        return 0;
    }
    *offset = (((uint32_t)(128 + zero) * to->factor) >> to->shift) + 1;
    to->plus = (*offset << to->shift) + ((uint32_t)1 << (to->shift - 1)) - (uint32_t)zero * to->factor;
    return 1;
}

#endif
