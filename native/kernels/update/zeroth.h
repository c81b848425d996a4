// Zeroth-order training: the directions z. They are not stored but drawn again where they are needed.

#ifndef ODT_ZEROTH_H
#define ODT_ZEROTH_H

#include <stdint.h>

#include "../../fixed.h"
#include "../../opcodes.h"

// Whether weights move: not in prediction, not in calibration.
static inline int odt_moving(const int32_t *c) {
    return (uint32_t)c[ODT_KEY] > 1;
}

// z of element i: -1, 0 or 1. Call it for elements 0, 1, .. in order: `word` holds the bits of the elements from i to i
// | 15.
static inline int32_t odt_direction(uint32_t key, uint32_t i, uint32_t *word) {
    if ((i & 15) == 0) {
        *word = odt_hash32(key, i >> 4);
    }
    uint32_t two = *word;
    *word = two >> 2;
    return two & 1 ? 1 - (int32_t)(two & 2) : 0;
}

// The key of the random numbers that round a step.
static inline uint32_t odt_rounding(uint32_t key) {
    return odt_hash32(key, UINT32_MAX);
}

#endif
