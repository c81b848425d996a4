// Outputs (elements.h) in assembly for a Cortex-M0+: the loops process outputs in range, and outputs that are clamped
// without a new peak. At a new peak a loop ends; odt_output_of_peak() processes that output.

#ifndef ODT_ELEMENTS_M0_H
#define ODT_ELEMENTS_M0_H

#include "../../core.h"

#if ODT_M0 && !ODT_SMALL

#include "../../common/elements.h"
#include "registers__m0.h"

// Clamps the output in r2 to the limits at sp + `at` and continues at 3, or at 6 if it is a new peak. r3 is lost.
#define ODT_CLAMP(at) \
    "ldr r3, [sp, #" at "]\n" \
    "cmp r2, r3\n" \
    "bgt 4f\n" \
    "ldr r3, [sp, #" at " + 4]\n" \
    "cmp r2, r3\n" \
    "blt 5f\n" \
    "3:\n"

// The rare case of ODT_CLAMP.
#define ODT_CLAMP_RARE(at) \
    "4:\n" \
    "ldr r3, [sp, #" at " + 8]\n" \
    "cmp r2, r3\n" \
    "bgt 6f\n" \
    "movs r2, #127\n" \
    "b 3b\n" \
    "5:\n" \
    "ldr r3, [sp, #" at " + 12]\n" \
    "cmp r2, r3\n" \
    "blt 6f\n" \
    "ldr r2, [sp, #" at " + 16]\n" \
    "b 3b\n"

// y[i] = clamp(zy + q * (x[i] + plus) * factor) for `rows` > 0 rows of `count` > 0 elements, in the first row from
// `done` on. Afterwards rows is 0, or the number of rows from the one that has a new peak at `done`; `value` is that
// output with its zero point. x + plus and factor have 9 bits.
typedef struct {
    const int8_t *x;              // 0: a row
    int8_t *y;                    // 4: likewise
    int32_t plus, factor;         // 8, 12
    int32_t low, high, shift;     // 16, 20, 24: of odt_rescaler_t, shift - 1
    int32_t twice;                // 28: 2 * zy + 1
    odt_limits_t limits;          // 32
    int32_t count, done, value;   // 52, 56, 60
    // If the factor is a power of 2, y is ((x[i] * multiplier + offset) >> shift_by) + more >> 1; otherwise multiplier
    // is 0.
    int32_t multiplier, shift_by; // 64, 68
    int32_t offset, more;         // 72, 76
    int32_t rows, apart;          // 80, 84: apart is the distance from a row's y to the next row's
} odt_bytes_t;

// Prepares outputs of bytes minus `zero`; returns whether all parameters have a model's usual values. Then
// odt_rescale_bytes() processes rows of `count` > 0 elements; rows of x are contiguous. (elements__m0.c)
int odt_begin_bytes(odt_bytes_t *b, int32_t zero, int32_t factor, odt_multiplier_t q, const odt_outputs_t *outputs);
void odt_rescale_bytes(odt_bytes_t *b, int8_t *y, const int8_t *x, int32_t count, int32_t rows, int32_t apart,
    odt_outputs_t *outputs);

#endif

#endif
