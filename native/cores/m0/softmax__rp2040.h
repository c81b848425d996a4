// Rows of a softmax on an RP2040, and their cross-entropy, in one call: powers of 2 in assembly, quotients from the
// divider.

#ifndef ODT_SOFTMAX_RP2040_H
#define ODT_SOFTMAX_RP2040_H

#include "../../core.h"

#if ODT_RP2040

#include "../../fixed.h"

// y[i] = min((factor * E[i] + sum) / (2 * sum) + plus, 127), with E[i] = exp2n(rescale((top - x[i]) * 65536, q)) and
// sum the sum of all E[i]. If there are labels, 127 is subtracted from y[label].
typedef struct {
    int32_t N;                        // 0
    const int8_t *x;                  // 4: of the next row
    uint32_t half, shift, multiplier; // 8, 12, 16: of q, as in odt_rescaled_byte(); half is 1/2 before the shift
    int8_t *y;                        // 20: of the next row; it may be x
    int32_t plus;                     // 24
    uint32_t factor;                  // 28
    const int8_t *end;                // 32: of y
    const uint8_t *labels;            // 36: from the next row on, or NULL; N and more mean no label
    int32_t label;                    // 40: the last one
    uint32_t loss;                    // 44: sum of -ln of the labels' probabilities, Q16
    int32_t correct;                  // 48: rows in which the first of the largest is the label
} odt_softmax_t;

// Prepares rows of N elements without labels, with a factor of at most 512; returns whether all is in the usual range.
// (softmax__rp2040.c)
int odt_begin_softmax(odt_softmax_t *s, int32_t N, const odt_multiplier_t *q, uint32_t factor, int32_t plus);

// Computes `rows` > 0 rows. With labels at most 256, so that the loss fits 32 bits. It takes 4 * N bytes of stack.
void odt_softmax_rows(odt_softmax_t *s, const int8_t *x, int8_t *y, int32_t rows);

#endif

#endif
