// Steps of Adam of float32 models in integers, where a core has no instructions for floats: the bits of adam_f32.c's expressions, each
// operation rounded to nearest even.

#ifndef ODT_ADAM_SOFT_H
#define ODT_ADAM_SOFT_H

#include "../../core.h"
#include "../../fixed.h"

#if ODT_SOFT_FLOAT

// man * 2^(field - 150), man in 2^23 .. 2^24 - 1, or 0 whatever the field is.
typedef struct {
    uint32_t man;
    int32_t field;
} odt_soft_t;

// Of +-0, or of a float whose exponent field is in low .. high, without its sign; returns whether bits are one of these.
static inline int odt_soft_within(uint32_t bits, int32_t low, int32_t high, odt_soft_t *x) {
    x->man = (bits & 0x7FFFFF) | 0x800000;
    x->field = (int32_t)(bits << 1 >> 24);
    if (bits << 1 == 0) {
        x->man = 0;
        return 1;
    }
    return x->field >= low && x->field <= high;
}

// man may be 2^24.
static inline odt_soft_t odt_soft(uint32_t man, int32_t field) {
    uint32_t carry = man >> 24;
    odt_soft_t x = {man >> carry, field + (int32_t)carry};
    return x;
}

// Rounded, of 31 or 32 bits of which the lowest is set if any below it is.
static inline odt_soft_t odt_soft_of_bits(uint32_t v, int32_t field) {
    if ((int32_t)v >= 0) {
        v <<= 1;
        field--;
    }
    uint32_t man = v >> 8;
    if ((v & 255) + (man & 1) > 128) {
        return odt_soft(man + 1, field);
    }
    odt_soft_t x = {man, field};
    return x;
}

static inline odt_soft_t odt_soft_mul(odt_soft_t x, odt_soft_t y) {
    #if ODT_M0
    // The upper 32 bits of a product of 48.
    uint32_t a = x.man, b = y.man, part = a * (b & 255) >> 8;
    part = (a * (b >> 8 & 255) + part) >> 8;
    uint32_t v = a * (b >> 16) + part;
    #else
    uint32_t v = (uint32_t)((uint64_t)x.man * y.man >> 16);
    #endif
    if ((v & 63) == 0) { // else what is below decides nothing
        v |= (x.man * y.man & 0xFFFF) != 0;
    }
    odt_soft_t z = {0, 0};
    return x.man && y.man ? odt_soft_of_bits(v, x.field + y.field - 126) : z;
}

// Float bits; +0 below a field of `least`.
static inline uint32_t odt_soft_stored(odt_soft_t x, uint32_t negative, int32_t least) {
    return x.man == 0 || x.field < least ? 0 : negative << 31 | (((uint32_t)x.field << 23) + (x.man - 0x800000));
}

// N float bits m and v after gradients d, which become directions, as in odt_adam_f32(). (adam__soft.c)
void odt_soft_adam(void *d, void *m, void *v, int32_t N, uint32_t b1, uint32_t c1, uint32_t b2, uint32_t c2, uint32_t eps);

#endif

#endif
