// Floats to integers by one inverse scale: odt_quantize() of many values.

#ifndef ODT_QUANTIZE_H
#define ODT_QUANTIZE_H

#include "../core.h"
#include "../fixed.h"

// An inverse scale and, of it as M * 2^E, the upper 15 bits of M, and what a float's exponent field and that of its
// product leave to shift.
typedef struct {
    uint32_t inverse, high, shift;
} odt_quantizer_t;

static inline odt_quantizer_t odt_quantizer(uint32_t inverse) {
    uint32_t field = inverse >> 23;
    odt_quantizer_t q = {inverse, (inverse & 0x7FFFFF) >> 9 | 0x4000, 0}; // 0: never
    if (field > 16 && field < 240) { // so that no float whose field is 0 or 255 comes near
        q.shift = 283 - field;
    }
    return q;
}

// odt_quantize(x, q->inverse)
static inline int32_t odt_quantize_by(const odt_quantizer_t *q, uint32_t x) {
    #if ODT_M0
    // By a product of the upper bits, which are too small by less than 2^-13 of it: unless the result is near to a
    // half.
    uint32_t shift = q->shift - (x << 1 >> 24);
    if (shift - 20 <= 10) {
        uint32_t p = (x << 9 >> 17 | 0x8000) * q->high + ((uint32_t)1 << (shift - 1));
        int32_t v = (int32_t)((p - (1 << 8)) >> shift);
        if (v == (int32_t)((p + (1 << 18)) >> shift)) {
            return (int32_t)x < 0 ? -v : v;
        }
    }
    #endif
    return odt_quantize(x, q->inverse);
}

#endif
