// Adam of int8 models, its state in int16: gradients [N, K] become directions (adam_i16), or at once
// steps of int8 weights (adam_i8).

#include <stddef.h>

#include "../../core.h"
#include "../../fixed.h"
#include "../../opcodes.h"
#include "../../threads.h"
#include "../common/within.h"
#include "apply_i8.h"
#include "exponents_i16.h"

enum {
    LEVEL = 13,
    ABOVE = 3, // bits that an exponent may be above what its gradient needs
};

// A row, from an element on; in the order in which adam_i16__rp2040.h and adam_i16__m4.h load it.
typedef struct {
    int32_t before;                 // shift of a gradient, before one of two products:
    uint32_t v_factor;              // what it brings to the second moment's root
    int32_t v_shift;
    uint32_t m_factor;              // and to the first moment
    int32_t m_shift;
    uint32_t step;                  // from one element's dither to the next one's
    uint32_t b1;                    // beta1
    uintptr_t divider;              // ODT_DIVIDER
    uint32_t r2;                    // sqrt(beta2)
    int32_t rate, rest;             // of the step's: rest = 32 - shift
    int32_t shift;
    ptrdiff_t r_apart;              // bytes from w to r
    const int32_t *end;
    ptrdiff_t v_apart;              // bytes from m to v
    const int32_t *d;
    int16_t *m;
    int8_t *w;
    uint32_t x;                     // the dither: bits 16 .. 31 round v, 0 .. 15 m, those below 24 the weight
    int32_t is_limited;             // set where a weight was
    #if ODT_RP2040
    int32_t is_still;               // without a gradient
    #endif
} adam_row_t;

// sqrt(A^2 + B^2) in 2^-16, with A = s * 2^16 but for the factor sqrt(beta2), B in 2^-6: the larger of the
// two, and the square of the smaller by twice the larger.
static inline uint32_t hypotenuse(uint32_t s, uint32_t A, uint32_t B) {
    if (s << 6 <= B) {
        return (B << 10) + (odt_divide((s << 6) * (s << 6), (B >> 5) + 1) << 4);
    }
    return A + (odt_divide(B * B, 2 * s) << 4);
}

// Updates an element's state. Returns the divisor of its first moment.
static inline int32_t move_moments(const adam_row_t *a, int32_t d, uint32_t x, int16_t *m, int16_t *v) {
    uint32_t g = (uint32_t)(d >> a->before);
    uint32_t mean = (uint32_t)((int32_t)(g * a->m_factor) >> a->m_shift);
    int32_t b = (int32_t)(g * a->v_factor) >> a->v_shift;
    *m = (int16_t)((int32_t)((uint32_t)*m * a->b1 + mean + (x & 65535)) >> 16);
    uint32_t s = (uint16_t)*v;
    s = (hypotenuse(s, s * a->r2, (uint32_t)(b ^ b >> 31)) + (x >> 16)) >> 16;
    *v = (int16_t)s;
    return (int32_t)s + 1;
}

#if ODT_RP2040
#include "adam_i16__rp2040.h"
#elif ODT_M4
#include "adam_i16__m4.h"
#else
#if ODT_X86
#include "adam_i16__x86.h"
#endif

// The row's state and weights.
static void step_row(adam_row_t *row) {
    adam_row_t a = *row;
    #if ODT_X86
    if (odt_has_avx2()) {
        step_eights(&a);
        row->is_limited = a.is_limited;
    }
    #endif
    int16_t *m = a.m, *v = (int16_t *)(void *)((char *)m + a.v_apart);
    int8_t *w = a.w, *r = w + a.r_apart;
    for (const int32_t *d = a.d; d != a.end; d++, m++, v++, w++, r++, a.x += a.step) {
        int32_t root = move_moments(&a, *d, a.x, m, v);
        int32_t W = 256 * *w + *r - ((*m * a.rate / root + (int32_t)(a.x << 8 >> a.rest)) >> a.shift);
        if ((W ^ W >> 31) > 32639) { // beyond 127 and 127 / 256, or -127 and -128 / 256
            W = 32639 ^ W >> 31;
            row->is_limited = 1;
        }
        *w = (int8_t)((W + 128) >> 8);
        *r = (int8_t)W;
    }
}

#endif

// A factor of all rows, and its bits.
typedef struct {
    uint32_t by;
    int32_t bits;
} factor_t;

// What all rows of a parameter share. A gradient is below 2^(level + 1) units, the first moment counts in
// units 2^`finer` times as fine.
typedef struct {
    adam_row_t row;
    uint32_t G;
    factor_t c1, rc2;               // 1 - beta1, in m's units, and the root of 1 - beta2
    int32_t level, finer, K;
} adam_t;

static adam_t begin(int32_t factor, int32_t gs, int32_t key, int32_t id, uint32_t first, int32_t K, int32_t c1,
    int32_t r2, int32_t rc2) {
    c1 = odt_limit(c1, 0, 4096);
    odt_dither_t dither = odt_dither(key, id);
    adam_t a = {.row = {.step = dither.step, .b1 = 65536 - 16 * (uint32_t)c1, .divider = ODT_DIVIDER,
        .r2 = (uint32_t)r2, .x = dither.first + first * dither.step},
        .G = odt_scale_mul(odt_scale(factor), odt_scale(gs)), .rc2.by = (uint32_t)odt_limit(rc2, 0, 16384),
        .level = LEVEL, .K = K};
    while (a.rc2.by << (a.level + 1) >= 1 << 24) {
        a.level--;
    }
    a.finer = LEVEL - a.level;
    a.c1.by = (uint32_t)c1 << a.finer;
    a.c1.bits = odt_bit_length(a.c1.by);
    a.rc2.bits = odt_bit_length(a.rc2.by);
    return a;
}

// factor * 2^exponent, of 15 bits, times f as a factor of as many, or more where there is no shift, and a shift.
static void set_factor(uint32_t *product, int32_t *shift, int32_t factor, int32_t exponent, const factor_t *f) {
    uint32_t short_product = (uint32_t)factor * f->by >> f->bits;
    exponent += f->bits;
    if (exponent <= 0) {
        *product = short_product;
        *shift = odt_min(-exponent, 31);
    } else {
        *product = short_product << odt_min(exponent, 31);
        *shift = 0;
    }
}

#if ODT_RP2040

static int is_zero(const int32_t *d, int32_t K) {
    int32_t any = 0;
    for (; K >= 4 && !any; K -= 4, d += 4) {
        any = d[0] | d[1] | d[2] | d[3];
    }
    for (; K && !any; K--, d++) {
        any = *d;
    }
    return !any;
}

static int32_t bits_of(adam_row_t *row, int32_t K) {
    row->is_still = is_zero(row->d, K);
    return row->is_still ? 0 : odt_bits_of(row->d, K);
}

#else

static inline int32_t bits_of(adam_row_t *row, int32_t K) {
    return odt_bits_of(row->d, K);
}

#endif

// The row's exponent, to which its gradient and its state are brought, from what it was. Returns how many bits it
// is above the least that this gradient needs.
static int32_t raise_exponent(adam_t *a, int8_t *exponent) {
    adam_row_t *row = &a->row;
    int16_t *v = (int16_t *)(void *)((char *)row->m + row->v_apart);
    int32_t bits = bits_of(row, a->K), ex = *exponent;
    int32_t need = odt_needed_exponent(bits, a->G, a->level), rise = need - ex;
    if (rise > 0) {
        odt_state_shift_right(row->m, a->K, rise);
        for (int32_t k = 0; k < a->K; k++) {
            v[k] = rise > 15 ? 0 : (int16_t)(((uint16_t)v[k] + (1 << (rise - 1))) >> rise);
        }
        *exponent = (int8_t)(ex = need);
    }
    uint32_t scale = odt_scale_shift(a->G, 4 - ex);
    int32_t factor = odt_short_factor(scale);
    row->before = odt_max(bits - 16, 0);
    int32_t power = odt_short_exponent(scale) + row->before;
    set_factor(&row->v_factor, &row->v_shift, factor, power - 12, &a->rc2);
    set_factor(&row->m_factor, &row->m_shift, factor, power, &a->c1);
    return ex - need;
}

// A row whose gradient and second moment have become small counts in smaller units.
static void lower_exponent(const adam_t *a, int16_t *m, int8_t *exponent) {
    int16_t *v = (int16_t *)(void *)((char *)m + a->row.v_apart);
    uint32_t any = 0;
    int32_t k = 0;
    for (; k + 4 <= a->K; k += 4) {
        any |= (uint32_t)((uint16_t)v[k] | (uint16_t)v[k + 1] | (uint16_t)v[k + 2] | (uint16_t)v[k + 3]);
    }
    for (; k < a->K; k++) {
        any |= (uint16_t)v[k];
    }
    if (any == 0 || any >= 1u << (a->level - 3) || *exponent <= -100) {
        return;
    }
    for (k = 0; k < a->K; k++) {
        m[k] = (int16_t)odt_limit(m[k] * 4, -32767, 32767);
        v[k] = (int16_t)(v[k] * 4);
    }
    *exponent = (int8_t)(*exponent - 2);
}

void odt_adam_i16(const odt_adam_i16_t *o) {
    int32_t K = o->K;
    adam_t a = begin(o->factor, *o->gs, o->c[ODT_KEY], o->id, (uint32_t)o->at * (uint32_t)K, K, o->c1, o->r2,
        o->rc2);
    a.row.v_apart = (char *)o->v - (char *)o->m;
    for (int32_t n = 0; n < o->N; n++) {
        int32_t *d = o->d + n * K;
        int16_t *m = o->m + n * K, *v = o->v + n * K;
        a.row.d = d;
        a.row.m = m;
        int32_t above = raise_exponent(&a, &o->ex[n]);
        for (int32_t k = 0; k < K; k++, a.row.x += a.row.step) {
            int32_t root = move_moments(&a.row, d[k], a.row.x, m + k, v + k);
            d[k] = odt_limit(m[k] * 4096 / root, -32768, 32767);
        }
        if (above > ABOVE) {
            lower_exponent(&a, m, &o->ex[n]);
        }
        o->ds[n] = (int32_t)odt_scale_shift(ODT_ONE, -12 - a.finer);
    }
}

// From moments' quotients to steps: `rate` * 2^-`shift` residual units of a weight of this scale.
static void scale_step(adam_t *a, int32_t rate, uint32_t sw) {
    adam_row_t *row = &a->row;
    row->rate = 0;
    row->shift = 1;
    if (rate) {
        uint32_t scale = odt_scale_shift(odt_scale_div(odt_scale(rate), sw), 8 - a->finer);
        int32_t shift = -odt_short_exponent(scale);
        row->rate = shift < 1 ? 32767 : odt_short_factor(scale) >> odt_limit(shift - 30, 0, 31);
        row->shift = odt_limit(shift, 1, 30);
    }
    row->rest = 32 - row->shift;
}

// Rows first .. stop - 1 of those that there are gradients of. What "peaks" is whether a weight was limited.
static void adam_rows(const void *arguments, int32_t first, int32_t stop, int32_t *is_limited) {
    const odt_adam_i8_t *o = arguments;
    int32_t K = o->K;
    adam_t a = begin(o->factor, *o->gs, o->c[ODT_KEY], o->id, (uint32_t)(o->at + first) * (uint32_t)K, K, o->c1, o->r2,
        o->rc2);
    a.row.v_apart = (char *)o->v - (char *)o->m;
    a.row.r_apart = (char *)o->r - (char *)o->w;
    a.row.is_limited = *is_limited;
    uint32_t sw_before = 0; // which is no scale
    for (int32_t i = first; i < stop; i++) {
        int32_t n = o->at + i;
        uint32_t sw = odt_scale(o->sw[n]);
        a.row.d = o->d + i * K;
        a.row.end = a.row.d + K;
        a.row.m = o->m + i * K;
        a.row.w = o->w + n * K;
        if (sw != sw_before) {
            scale_step(&a, *o->rate, sw);
            sw_before = sw;
        }
        int32_t above = raise_exponent(&a, &o->ex[i]);
        #if ODT_RP2040
        (a.row.is_still ? step_still_row : step_row)(&a.row);
        #else
        step_row(&a.row);
        #endif
        a.row.x += (uint32_t)K * a.row.step;
        if (above > ABOVE) {
            lower_exponent(&a, o->m + i * K, &o->ex[i]);
        }
        if (a.row.is_limited && !o->common) {
            odt_halve_rows(o->w, o->r, o->sw, K, n, 1);
            a.row.is_limited = 0;
        }
    }
    *is_limited = a.row.is_limited != 0;
}

void odt_adam_i8(const odt_adam_i8_t *o) {
    if (!odt_within(o->at, o->R, o->N)) {
        return;
    }
    int32_t is_limited = o->common && o->at ? *o->limited != 0 : 0;
    odt_split(adam_rows, o, o->R, 1, &is_limited);
    if (is_limited && o->at + o->R == o->N) {
        odt_halve_rows(o->w, o->r, o->sw, o->K, 0, o->N);
        is_limited = 0;
    }
    if (*o->rate) {
        *o->limited = is_limited;
    }
}
