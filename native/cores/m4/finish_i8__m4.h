// Converts sums to outputs, each with a multiplier of its own, on cores with SMLAD, a Cortex-M4 and later.

#ifndef ODT_FINISH_I8_M4_H
#define ODT_FINISH_I8_M4_H

#include "../../odt.h"

// y[i] = clamp(zy + q[i] * sums[i]) for pairs of sums, and raises the peak. Returns how many were converted: less than
// `count` if a multiplier is not usual; 0 if an output, or the peak, may have more than 15 bits.
int32_t odt_finish_pairs(const int32_t *sums, int32_t count, const odt_multiplier_t *q, int32_t zy, int32_t lo,
    int32_t *peak, int8_t *y);

#endif
