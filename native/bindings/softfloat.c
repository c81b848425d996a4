// Float products and quotients for _odt.mpy on cores that have neither floats nor division
// (armv6m): those of the compiler's library hold tables of addresses, which a module cannot have.
//
// Correctly rounded (to nearest, ties to even), subnormals taken and returned as zeros, which no
// program meets (docs/reference/numerics.md, float32). The library's sums and comparisons are fine.

#include <stdint.h>

#include "../core.h"

#if ODT_M0 || defined(ODT_TEST_SOFTFLOAT)

#define SIGN 0x80000000u
#define INFINITE 0x7F800000u
#define NOT_A_NUMBER 0x7FC00000u

typedef union {
    float value;
    uint32_t bits;
} float_t32;

static uint32_t exponent_of(uint32_t x) {
    return x << 1 >> 24;
}

static uint32_t mantissa_of(uint32_t x) {
    return (x & 0x7FFFFF) | 0x800000;
}

// A number from its sign, exponent (may be out of range) and rounded mantissa, 2^23 to 2^24.
static uint32_t pack(uint32_t sign, int32_t exponent, uint32_t mantissa) {
    exponent += (int32_t)(mantissa >> 24); // rounded up to 2^24: its fraction is 0 either way
    if (exponent >= 255) {
        return sign | INFINITE;
    }
    return exponent <= 0 ? sign : sign | (uint32_t)exponent << 23 | (mantissa & 0x7FFFFF);
}

static int is_nan(uint32_t x) {
    return x << 1 > INFINITE << 1;
}

static uint32_t multiply(uint32_t a, uint32_t b) {
    uint32_t sign = (a ^ b) & SIGN, ea = exponent_of(a), eb = exponent_of(b);
    if (ea - 1 >= 254 || eb - 1 >= 254) { // a zero, an infinity or no number
        int infinite = ea == 255 || eb == 255, zero = ea == 0 || eb == 0;
        if (is_nan(a) || is_nan(b) || (infinite && zero)) {
            return NOT_A_NUMBER;
        }
        return infinite ? sign | INFINITE : sign;
    }
    uint32_t ma = mantissa_of(a), mb = mantissa_of(b);
    // The product's upper 32 bits of 48; the lowest of them says whether anything is lost below.
    uint32_t low = (ma & 0xFFFF) * (mb & 0xFFFF);
    uint32_t product = ((ma >> 16) * (mb >> 16) << 16) + (ma >> 16) * (mb & 0xFFFF)
        + (ma & 0xFFFF) * (mb >> 16) + (low >> 16);
    product |= (low & 0xFFFF) != 0;
    uint32_t large = product >> 31;
    uint32_t kept = product >> (7 + large), rest = product << (25 - large);
    kept += rest + (kept & 1) > SIGN;
    return pack(sign, (int32_t)(ea + eb + large) - 127, kept);
}

static uint32_t divide(uint32_t a, uint32_t b) {
    uint32_t sign = (a ^ b) & SIGN, ea = exponent_of(a), eb = exponent_of(b);
    if (ea - 1 >= 254 || eb - 1 >= 254) {
        if (is_nan(a) || is_nan(b) || (ea == eb && (ea == 0 || ea == 255))) {
            return NOT_A_NUMBER;
        }
        return ea == 255 || eb == 0 ? sign | INFINITE : sign;
    }
    uint32_t rest = mantissa_of(a), divisor = mantissa_of(b), quotient = 0;
    int32_t exponent = (int32_t)(ea - eb) + 127;
    if (rest < divisor) {
        rest <<= 1;
        exponent--;
    }
    for (int i = 0; i < 24; i++) {
        quotient <<= 1;
        if (rest >= divisor) {
            rest -= divisor;
            quotient++;
        }
        rest <<= 1;
    }
    quotient += rest > divisor; // never half-way: a quotient of 24 bits by 24 is not 25 long
    return pack(sign, exponent, quotient);
}

float __aeabi_fmul(float a, float b);
float __aeabi_fmul(float a, float b) {
    float_t32 x = {a}, y = {b};
    x.bits = multiply(x.bits, y.bits);
    return x.value;
}

float __aeabi_fdiv(float a, float b);
float __aeabi_fdiv(float a, float b) {
    float_t32 x = {a}, y = {b};
    x.bits = divide(x.bits, y.bits);
    return x.value;
}

#endif
