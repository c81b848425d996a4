// Float primitives of docs/reference/numerics.md: one rounding an operation, no subnormal, no libm.

#ifndef ODT_FLOAT32_H
#define ODT_FLOAT32_H

#include <stdint.h>
#include <string.h>

static inline uint32_t odt_bits(float x) {
    uint32_t bits;
    memcpy(&bits, &x, sizeof(bits));
    return bits;
}

static inline float odt_float(uint32_t bits) {
    float x;
    memcpy(&x, &bits, sizeof(x));
    return x;
}

// Small results are stored as +0, so that no later operation meets a subnormal.
static inline float odt_store(float x) {
    return (odt_bits(x) & 0x7F800000) < 76u << 23 ? 0.0f : x;
}

static inline float odt_store2(float x) {
    return (odt_bits(x) & 0x7F800000) < 25u << 23 ? 0.0f : x;
}

// Truncated towards zero, saturated, NaN 0.
int32_t odt_to_int(float x);

// Correctly rounded; 0 for negative and subnormal x.
float odt_sqrtf(float x);
float odt_expf(float x); // x <= 0
float odt_logf(float x); // x > 0, not subnormal

#endif
