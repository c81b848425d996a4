// Rows of a softmax on a Cortex-M0+: its powers of 2 in assembly, the quotients by an RP2040's divider.

#ifndef ODT_SOFTMAX_M0_H
#define ODT_SOFTMAX_M0_H

#include "../../core.h"

#if ODT_M0 && !ODT_SMALL

#include "../../fixed.h"

enum { ODT_POWERS = 16 }; // that are kept

// y[i] = min((factor * E[i] + sum) / (2 * sum) + plus, 127), E[i] = exp2n(rescale((top - x[i]) * 65536, q)). `multiplier` and `shift`
// are those of odt_rescaled_byte().
typedef struct {
    const int8_t *x, *end;        // 0, 4: of what is summed at once, `end` above `x`
    uint32_t sum;                 // 8: of these and those before
    uint32_t multiplier, shift;   // 12, 16
    int32_t top;                  // 20
    const uint32_t *powers_end;   // 24: where they ended
    uint32_t factor;              // 28: 512 at most
    int32_t plus, N;              // 32, 36
    uint32_t powers[ODT_POWERS];  // 40
} odt_softmax_t;

// Begins rows of N; returns whether they are as models have them. Then sums of rows, and from each before the next one y, which may
// be x. (softmax__m0.c)
int odt_begin_softmax(odt_softmax_t *s, int32_t N, const odt_multiplier_t *q, uint32_t factor, int32_t plus);
uint32_t odt_sum_softmax(odt_softmax_t *s, const int8_t *x, int32_t top);
void odt_finish_softmax(odt_softmax_t *s, int8_t *y, const int8_t *x);

#endif

#endif
