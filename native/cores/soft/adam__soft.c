// Steps of Adam in integers: adam__soft.h.

#include "../../core.h"
#include "../../float32.h"
#include "../../common/words.h"
#include "adam__soft.h"

#if ODT_SOFT_FLOAT

#if ODT_RP2040
#include "../m0/adam__rp2040.h"

ODT_BESIDE_ASSEMBLY // what is usual is assembly
#endif

typedef struct {
    odt_soft_t b1, c1, b2, c2, eps;
} factors_t;

// x + y, or if they differ in sign x - y or, *exchanged, y - x. Neither is 0.
static inline odt_soft_t add(odt_soft_t x, odt_soft_t y, int differ, int *exchanged) {
    if (y.field > x.field || (y.field == x.field && y.man > x.man)) {
        odt_soft_t other = x;
        x = y;
        y = other;
        *exchanged = 1;
    }
    int32_t shift = x.field - y.field, field = x.field;
    uint32_t v = x.man << 7, small = y.man << 7;
    if (shift < 31) {
        uint32_t kept = small >> shift;
        small = kept | (kept << shift != small);
    } else {
        small = 1;
    }
    if (!differ) {
        return odt_soft_of_bits(v + small, field + 1);
    }
    v -= small;
    if (v == 0) {
        odt_soft_t zero = {0, 0};
        return zero;
    }
    while (v >> 30 == 0) {
        v <<= 1;
        field--;
    }
    return odt_soft_of_bits(v, field + 1);
}

// The root of a float that is not 0.
static inline odt_soft_t root(odt_soft_t x) {
    int32_t e = x.field - 127;
    uint32_t v = x.man << (7 + (e & 1)); // 1 to 4 times 2^30: its root times 2^9 is that of x.man's 50 bits
    uint32_t y = odt_root_above(v) - 1; // not above it any more
    uint32_t rest = v - y * y, t = odt_divide(rest << 8, y), root = (y << 9) + t;
    if ((int32_t)((rest << 18) - t * ((y << 10) + t)) < 0) {
        root--;
    }
    return odt_soft((root + 1) >> 1, (e >> 1) + 127); // never half way, as the root of 24 bits is no 25 bits long
}

// x / y, y not 0.
static inline odt_soft_t divide(odt_soft_t x, odt_soft_t y) {
    uint32_t a = x.man, b = y.man, upper = (b >> 8) + 1;
    int32_t field = x.field - y.field + 127;
    if (a < b) {
        a <<= 1;
        field--;
    }
    // 25 bits, by digits of 16 and 9 that are too small by little.
    uint32_t q = odt_divide(a << 7, upper), rest = (a << 15) - q * b, digit = odt_divide(rest << 1, upper);
    q = (q << 9) + digit;
    rest = (rest << 9) - digit * b;
    while (rest >= b) {
        rest -= b;
        q++;
    }
    return odt_soft((q + 1) >> 1, field); // never half way
}

// Of float bits; returns whether they are as models have them.
static int load(factors_t *a, uint32_t b1, uint32_t c1, uint32_t b2, uint32_t c2, uint32_t eps) {
    int is_usual = odt_soft_within(b1, 104, 127, &a->b1) & odt_soft_within(c1, 104, 127, &a->c1);
    is_usual &= odt_soft_within(b2, 104, 127, &a->b2) & odt_soft_within(c2, 104, 127, &a->c2);
    is_usual &= odt_soft_within(eps, 40, 140, &a->eps) & (a->eps.man != 0);
    return is_usual && (b1 | c1 | b2 | c2 | eps) >> 31 == 0;
}


// m and v, float bits, after a gradient *d, which becomes m / (sqrt(v) + eps). Returns whether they are so common that all results
// are; else nothing is done.
static int step(const factors_t *a, uint32_t *m, uint32_t *v, uint32_t *d_bits) {
    odt_soft_t d;
    odt_soft_t x, y;
    uint32_t sign = *m >> 31, negative = *d_bits >> 31;
    int exchanged = 0;
    if (!odt_soft_within(*m, 76, 160, &x) || !odt_soft_within(*v, 25, 190, &y) || *v >> 31 || !odt_soft_within(*d_bits, 76, 160, &d)) {
        return 0;
    }
    x = odt_soft_mul(a->b1, x);
    odt_soft_t z = odt_soft_mul(a->c1, d);
    if (x.man == 0) {
        x = z;
        sign = negative;
    } else if (z.man) {
        x = add(x, z, sign != negative, &exchanged);
        sign = exchanged ? negative : sign;
    }
    y = odt_soft_mul(a->b2, y);
    z = odt_soft_mul(a->c2, odt_soft_mul(d, d));
    if (y.man == 0) {
        y = z;
    } else if (z.man) {
        y = add(y, z, 0, &exchanged);
    }
    *m = odt_soft_stored(x, sign, 76);
    *v = odt_soft_stored(y, 0, 25);
    z = a->eps;
    if (*v) {
        z = add(root(y), z, 0, &exchanged);
    }
    *d_bits = *m ? odt_soft_stored(divide(x, z), sign, 76) : 0;
    return 1;
}

#if ODT_RP2040
static factor_t factor(odt_soft_t x) {
    factor_t f = {x.man & 255, x.man >> 8 & 255, x.man >> 16, x.field - 126, x.man};
    return f;
}
#endif

void odt_soft_adam(void *d, void *m, void *v, int32_t N, uint32_t b1, uint32_t c1, uint32_t b2, uint32_t c2, uint32_t eps) {
    factors_t a;
    int is_usual = load(&a, b1, c1, b2, c2, eps);
    #if ODT_RP2040
    elements_t elements = {factor(a.b1), factor(a.c1), factor(a.b2), factor(a.c2), a.eps, d, m, v, (uint32_t *)d + N};
    #endif
    for (int32_t i = 0; i < N; i++) {
        #if ODT_RP2040
        if (is_usual) {
            step_usual(&elements);
            i = N - (int32_t)(elements.end - elements.d);
            if (i == N) {
                return;
            }
            elements.d++;
            elements.m++;
            elements.v++;
        }
        #endif
        char *at_d = (char *)d + 4 * i, *at_m = (char *)m + 4 * i, *at_v = (char *)v + 4 * i;
        uint32_t d_bits = odt_load_word(at_d), m_bits = odt_load_word(at_m), v_bits = odt_load_word(at_v);
        if (!is_usual || !step(&a, &m_bits, &v_bits, &d_bits)) {
            float gradient = odt_float(d_bits);
            float x = odt_store(odt_float(b1) * odt_float(m_bits) + odt_float(c1) * gradient);
            float y = odt_store2(odt_float(b2) * odt_float(v_bits) + odt_float(c2) * (gradient * gradient));
            m_bits = odt_bits(x);
            v_bits = odt_bits(y);
            d_bits = odt_bits(odt_store(x / (odt_sqrtf(y) + odt_float(eps))));
        }
        odt_store_word(at_m, m_bits);
        odt_store_word(at_v, v_bits);
        odt_store_word(at_d, d_bits);
    }
}

#endif
