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

// tanh, as the sigmoid.
int32_t odt_cell_curve(int32_t v) {
    return 2 * odt_sigmoid_of(2 * v) - 16384;
}

// tanh in Q14, of Q12 from -16 to 16.
int32_t odt_curve_of_cell(int32_t cell) {
    return odt_cell_curve((cell * 23637) >> 10); // log2(e) * 2^14
}

int32_t odt_gates_of(int32_t kind, int32_t G, int32_t H, int32_t T, int32_t R, int32_t K) {
    return gates_of_cell(kind, G, H, T, R, K);
}

int32_t odt_bounded(int32_t v, int32_t bits) {
    return odt_limit(v, -(1 << bits), 1 << bits);
}

int32_t odt_rescaled_by(int32_t v, rescaler_t q) {
    return odt_rescaled(v, odt_checked(q));
}

// v by a multiplier, limited.
int32_t odt_rescaled_within(int32_t v, rescaler_t q, int32_t bits) {
    return odt_bounded(odt_rescaled_by(v, q), bits);
}

#endif
