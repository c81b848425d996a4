// What both int8 kernels of recurrent layers call where their file is to be small.

#include "../../core.h"
#include "cell_i8.h"

#if ODT_SMALL

// In Q14, of v * ln 2 in Q16; the quotient has 15 bits.
int32_t odt_sigmoid_of(int32_t v) {
    uint32_t power = odt_exp2n(v < 0 ? -v : v), whole = 65536 + power;
    uint32_t rest = 16384 * (v < 0 ? power : 65536) + (whole >> 1), quotient = 0;
    for (uint32_t part = whole << 14; part >= whole; part >>= 1) {
        quotient <<= 1;
        if (rest >= part) {
            rest -= part;
            quotient++;
        }
    }
    return (int32_t)quotient;
}

int32_t odt_bounded(int32_t v, int32_t bits) {
    return odt_limit(v, -(1 << bits), 1 << bits);
}

// v by a multiplier, limited.
int32_t odt_rescaled_within(int32_t v, rescaler_t q, int32_t bits) {
    return odt_bounded(odt_rescaled(v, odt_checked(q)), bits);
}

#endif
