// Rows of a softmax on an RP2040, each by one call: powers of 2 in assembly, quotients by the divider.

#ifndef ODT_SOFTMAX_RP2040_H
#define ODT_SOFTMAX_RP2040_H

#include "../../core.h"

#if ODT_RP2040

#include "../../fixed.h"

// y[i] = min((factor * E[i] + sum) / (2 * sum) + plus, 127), E[i] = exp2n(rescale((top - x[i]) * 65536, q)), sum that of all E[i].
typedef struct {
    int32_t N;                         // 0
    uint32_t shift, multiplier, half;  // 4, 8, 12: q's, as odt_rescaled_byte() takes it; 1/2 before the shift
    uint32_t factor;                   // 16
    int32_t plus;                      // 20
    int32_t top, best;                 // 24, 28: the last row's largest, and the first place of it
    int8_t *y;                         // 32
} odt_softmax_t;

// Begins rows of N, factor 512 at most; returns whether they are as models have them. (softmax__rp2040.c)
int odt_begin_softmax(odt_softmax_t *s, int32_t N, const odt_multiplier_t *q, uint32_t factor, int32_t plus);

// A row y, which may be x; returns sum. It takes 4 * N bytes of stack.
uint32_t odt_softmax_row(odt_softmax_t *s, const int8_t *x, int8_t *y);

#endif

#endif
