// Converts floats to integers with one inverse scale (quantize.h), in Cortex-M0+ assembly: odt_quantize() for results
// below 2^23.

#ifndef ODT_QUANTIZE_M0_H
#define ODT_QUANTIZE_M0_H

#include "../../core.h"
#include "../../common/quantize.h"

#if ODT_M0 && !ODT_SMALL

// The bytes of the inverse's mantissa, and the shift minus a float's exponent field.
typedef struct {
    uint32_t low, middle, high, shift;
} odt_quantizer_bytes_t;

// From q, whose shift is not 0.
static inline odt_quantizer_bytes_t odt_quantizer_bytes(const odt_quantizer_t *q) {
    uint32_t v = q->inverse;
    odt_quantizer_bytes_t bytes = {v & 255, v >> 8 & 255, (v >> 16 & 127) | 128, q->shift};
    return bytes;
}

// Converts float bits in r2 to the magnitude; jumps to 6 if that may be too large. r5-r7: the inverse's bytes, r8: its
// shift, r9: 2^23; r1, r3, r4 are lost. 24 cycles. P is the product of the mantissas. It is rounded to 24 bits and then
// to an integer, halves up both times: (P + 2^(h - 1) + 2^(s - 1)) >> s, where h is 23 or 24. Only the bits of P from
// 2^16 on matter.
#define ODT_QUANTIZE_MAGNITUDE \
    "lsls r3, r2, #1\n" \
    "lsrs r3, r3, #24\n" \
    "mov r1, r8\n" \
    "subs r3, r1, r3\n" \
    "cmp r3, #8\n" \
    "blt 6f\n" \
    "lsls r2, r2, #9\n" \
    "lsrs r2, r2, #9\n" \
    "add r2, r9\n" \
    "movs r1, r2\n" \
    "muls r1, r5\n" \
    "lsrs r1, r1, #8\n" \
    "movs r4, r2\n" \
    "muls r4, r6\n" \
    "adds r1, r1, r4\n" \
    "lsrs r1, r1, #8\n" \
    "muls r2, r7\n" \
    "adds r2, r2, r1\n" \
    "bpl 7f\n" \
    "adds r2, r2, #64\n" \
    "7:\n" \
    "adds r2, r2, #64\n" \
    "lsrs r2, r3\n" \
    "adds r2, r2, #1\n" \
    "lsrs r2, r2, #1\n"

#endif

#endif
