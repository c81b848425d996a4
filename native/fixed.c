// Fixed-point primitives: fixed.h.

#include "core.h"
#include "fixed.h"

#if ODT_MPY
uint32_t odt_scale(int32_t bits) {
    uint32_t a = (uint32_t)bits & 0x7FFFFFFF;
    return a < 0x00800000 ? 0x00800000 : a > 0x7F7FFFFF ? 0x7F7FFFFF : a;
}
#endif

// M and E of a scale M * 2^E.
static uint32_t mantissa(uint32_t a) {
    return (a & 0x7FFFFF) | 0x800000;
}

static int32_t exponent(uint32_t a) {
    return (int32_t)(a >> 23) - 150;
}

static uint32_t pack_scale(uint32_t m, int32_t e) {
    e += 150;
    if (e < 1) {
        return 0x00800000;
    }
    if (e > 254) {
        return 0x7F7FFFFF;
    }
    return (uint32_t)e << 23 | (m & 0x7FFFFF);
}

uint32_t odt_scale_mul(uint32_t a, uint32_t b) {
    #if ODT_M0
    // The product's bits 22 .. 47, by factors of 12 bits.
    uint32_t u = mantissa(a), v = mantissa(b), ul = u & 4095, vl = v & 4095;
    u >>= 12;
    v >>= 12;
    uint32_t p = (u * v << 2) + ((u * vl + v * ul + (ul * vl >> 12)) >> 10);
    int32_t h = p >> 25 ? 24 : 23;
    uint32_t m = ((p >> (h - 23)) + 1) >> 1;
    #else
    uint64_t p = (uint64_t)mantissa(a) * mantissa(b);
    int32_t h = p >> 47 ? 24 : 23;
    uint32_t m = (uint32_t)((p + (1u << (h - 1))) >> h);
    #endif
    if (m >> 24) {
        m >>= 1;
        h++;
    }
    return pack_scale(m, exponent(a) + exponent(b) + h);
}

uint32_t odt_scale_div(uint32_t a, uint32_t b) {
    // (Ma << 25) / Mb in digits of 8, 8 and 8 bits, each a division of 32 bits, and 1; the first, of
    // Ma << 8, may have a bit more.
    uint32_t divisor = mantissa(b), q = 0, rest = mantissa(a);
    for (int32_t digit = 3; digit; digit--) {
        rest <<= 8;
        uint32_t part = odt_divide(rest, divisor);
        q = q << 8 | part;
        rest -= part * divisor;
    }
    q = 2 * q + (2 * rest >= divisor);
    int32_t h = q >> 25 ? 2 : 1;
    uint32_t m = (q + (1u << (h - 1))) >> h;
    if (m >> 24) {
        m >>= 1;
        h++;
    }
    return pack_scale(m, exponent(a) - exponent(b) - 25 + h);
}

uint32_t odt_scale_add(uint32_t a, uint32_t b) {
    uint32_t low = a < b ? a : b, high = a < b ? b : a;
    int32_t shift = odt_min(exponent(high) - exponent(low), 31);
    uint32_t sum = (mantissa(high) << 6) + (mantissa(low) << 6 >> shift);
    int32_t h = sum >> 30 ? 7 : 6;
    uint32_t m = (sum + (1u << (h - 1))) >> h;
    if (m >> 24) {
        m >>= 1;
        h++;
    }
    return pack_scale(m, exponent(high) - 6 + h);
}

uint32_t odt_scale_sqrt(uint32_t a) {
    int32_t e = exponent(a), h = e & 1 ? 23 : 24;
    #if ODT_M0 && !ODT_SMALL
    // isqrt(mantissa << h): its upper 12 bits by digits, those below by their quotient, which may be 1 too large.
    uint32_t v = mantissa(a) >> (24 - h), root = 0;
    for (uint32_t bit = 1 << 22; bit; bit >>= 2) {
        uint32_t next = root + bit;
        root >>= 1;
        if (v >= next) {
            v -= next;
            root += bit;
        }
    }
    uint32_t rest = v << 12 | (mantissa(a) << 11 & 0xFFF & (uint32_t)(h - 24)), q = odt_divide(rest, 2 * root);
    rest -= 2 * root * q;
    root = (root << 12) + q - (rest << 12 < q * q);
    return pack_scale(root, (e - h) >> 1);
    #elif ODT_SMALL
    return pack_scale(odt_isqrt((uint64_t)mantissa(a) << h), (e - h) >> 1);
    #else
    // isqrt(v): about the root of its upper half, one step of Newton's method on, and at most two units from there.
    uint64_t v = (uint64_t)mantissa(a) << h;
    uint32_t high = (uint32_t)(v >> 16), y = odt_root_above(high);
    uint32_t root = (y << 8) - (uint32_t)((int32_t)(y * y - high) * 128 / (int32_t)y);
    while ((uint64_t)root * root > v) {
        root--;
    }
    while ((uint64_t)(root + 1) * (root + 1) <= v) {
        root++;
    }
    return pack_scale(root, (e - h) >> 1);
    #endif
}

uint32_t odt_scale_int(uint32_t n) {
    n = n ? n : 1;
    int32_t shift = odt_bit_length(n) - 24;
    if (shift < 0) {
        n <<= -shift;
    } else if (shift > 0) {
        n = ((n >> (shift - 1)) + 1) >> 1;
        if (n >> 24) {
            n >>= 1;
            shift++;
        }
    }
    return pack_scale(n, shift);
}

uint32_t odt_scale_shift(uint32_t a, int32_t k) {
    return pack_scale(mantissa(a), exponent(a) + k);
}

odt_multiplier_t odt_multiplier(uint32_t scale) {
    odt_multiplier_t q = {(int32_t)(mantissa(scale) << 7), 7 - exponent(scale)};
    if (q.s > 62) {
        q.m = 0;
        q.s = 62;
    } else if (q.s < 1) {
        q.m = INT32_MAX;
        q.s = 1;
    }
    return q;
}

#if ODT_SMALL
#include "cores/m0/rescaled__m0.h"
#else

int32_t odt_rescaled(int32_t v, odt_multiplier_t q) {
    #if ODT_M0
    if (q.s >= 33) { // by the product's upper word, in halves
        int32_t vh = v >> 16, mh = q.m >> 16;
        uint32_t vl = v & 0xFFFF, ml = q.m & 0xFFFF;
        int32_t first = (int32_t)vl * mh + (int32_t)(vl * ml >> 16), second = vh * (int32_t)ml;
        int32_t carry = (int32_t)(((uint32_t)(first & 0xFFFF) + (uint32_t)(second & 0xFFFF)) >> 16);
        int32_t upper = vh * mh + (first >> 16) + (second >> 16) + carry;
        return ((upper >> (q.s - 33)) + 1) >> 1;
    }
    #endif
    return odt_sat32(((int64_t)v * q.m + ((int64_t)1 << (q.s - 1))) >> q.s);
}

int32_t odt_rescaled_random(int32_t v, odt_multiplier_t q, uint32_t u) {
    int64_t dither = q.s <= 32 ? (int64_t)(u >> (32 - q.s)) : (int64_t)u << (q.s - 32);
    return odt_sat32(((int64_t)v * q.m + dither) >> q.s);
}

#endif

int8_t odt_clamp(int32_t v, int32_t z, int32_t lo, int32_t *peak) {
    if (v > *peak) {
        *peak = v;
    }
    if (lo != z && -v > *peak) {
        *peak = -v;
    }
    int32_t sum = (int32_t)((uint32_t)v + (uint32_t)z); // wrapped if its sign is neither's
    if (((v ^ sum) & (z ^ sum)) < 0) {
        sum = v < 0 ? INT32_MIN : INT32_MAX;
    }
    return (int8_t)odt_limit(sum, lo, 127);
}

uint32_t odt_exp2n(int32_t t) {
    uint32_t n = (uint32_t)t >> 16, f = (uint32_t)t & 65535;
    if (n > 16) {
        return 0;
    }
    uint32_t r = 449;
    r = 3491 - (r * f >> 16);
    r = 15696 - (r * f >> 16);
    r = 45421 - (r * f >> 16);
    r = 65536 - (r * f >> 16);
    return (r + ((1u << n) >> 1)) >> n;
}

int32_t odt_log2q(uint32_t v) {
    int32_t n = odt_bit_length(v | 1) - 1;
    uint32_t f = (n > 16 ? v >> (n - 16) : v << (16 - n)) - 65536;
    uint32_t r = 2959;
    r = 12687 - (r * f >> 16);
    r = 27238 - (r * f >> 16);
    r = 46471 - (r * f >> 16);
    r = 94497 - (r * f >> 16);
    return (n << 16) + (int32_t)f + ((int32_t)(r - 65536) * (int32_t)f >> 16); // r is about 65536 at least
}

uint32_t odt_isqrt(uint64_t v) {
    uint64_t r = 0, bit = (uint64_t)1 << 62;
    #if ODT_M0 && !ODT_SMALL
    // The first half of the bits depends on the upper word alone: a quarter of the cycles.
    uint32_t high = (uint32_t)(v >> 32), root = 0;
    for (uint32_t b = (uint32_t)1 << 30; b; b >>= 2) {
        if (high >= root + b) {
            high -= root + b;
            root = (root >> 1) + b;
        } else {
            root >>= 1;
        }
    }
    v = (uint64_t)high << 32 | (uint32_t)v;
    r = (uint64_t)root << 32;
    bit = (uint64_t)1 << 30;
    #endif
    for (; bit; bit >>= 2) {
        if (v >= r + bit) {
            v -= r + bit;
            r = (r >> 1) + bit;
        } else {
            r >>= 1;
        }
    }
    return (uint32_t)r;
}

#if ODT_SMALL

int32_t odt_quantize(uint32_t x, uint32_t inverse) {
    uint32_t field = x >> 23 & 255;
    uint32_t v;
    if (field == 0) {
        return 0;
    }
    uint32_t a = field == 255 ? 0x7F7FFFFF : odt_scale_mul(x & 0x7FFFFFFF, inverse);
    int32_t e = exponent(a);
    if (field == 255 || e >= 8) {
        v = INT32_MAX;
    } else if (e >= 0) {
        v = mantissa(a) << e;
    } else if (e < -25) {
        v = 0;
    } else {
        v = ((mantissa(a) >> (-e - 1)) + 1) >> 1;
    }
    return x >> 31 ? -(int32_t)v : (int32_t)v;
}

#else

int32_t odt_quantize(uint32_t x, uint32_t inverse) {
    uint32_t field = x << 1 >> 24, u = mantissa(x), v = mantissa(inverse);
    if (field == 0) {
        return 0;
    }
    int32_t e = (int32_t)field - 127 + exponent(inverse);
    #if ODT_M0 // as odt_scale_mul()
    uint32_t ul = u & 4095, vl = v & 4095;
    u >>= 12;
    v >>= 12;
    uint32_t p = (u * v << 2) + ((u * vl + v * ul + (ul * vl >> 12)) >> 10);
    #else
    uint32_t p = (uint32_t)((uint64_t)u * v >> 22);
    #endif
    if (p >> 25) {
        p >>= 1;
        e++;
    }
    p = (p + 1) >> 1;
    if (p >> 24) {
        p >>= 1;
        e++;
    }
    if (e >= 8 || field == 255) {
        p = INT32_MAX;
    } else if (e >= 0) {
        p <<= e;
    } else {
        p = e < -25 ? 0 : ((p >> (-e - 1)) + 1) >> 1;
    }
    return x >> 31 ? -(int32_t)p : (int32_t)p;
}

#endif
