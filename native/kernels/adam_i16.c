// Adam of int8 models, its state in int16: gradients [N, K] become directions (adam_i16), or at once
// steps of int8 weights (adam_i8).

#include <stddef.h>

#include "../fixed.h"
#include "../opcodes.h"
#include "../threads.h"
#include "exponents_i16.h"
#include "panel_i8.h"
#include "rows.h"
#include "widen.h"

enum {
    LEVEL = 13,
    ABOVE = 3, // bits that an exponent may be above what its gradient needs
};

// A row, from an element on; in the order in which adam_rp2040.h and adam_m4.h load it.
typedef struct {
    int32_t before, factor, after;  // of the gradient's rescaling: shift, multiply, shift by 1 .. 32 and round
    uint32_t second, golden;        // the hash's
    uint32_t b1, c1, rc2, r2;       // beta1, 1 - beta1 and the roots of 1 - beta2 and beta2
    uint32_t third;                 // and its last factor
    int32_t rest, rate, shift;      // of the step's: rest = 32 - shift
    ptrdiff_t r_apart;              // bytes from w to r
    const int32_t *end;
    ptrdiff_t v_apart;              // bytes from m to v
    const int32_t *d;
    int16_t *m;
    int8_t *w;
    uint32_t x;                     // the hash's input
    int32_t is_limited;             // set where a weight was
} adam_row_t;

// The element's hash: its halves round the two moments, what one more factor makes of it the weight.
static inline uint32_t hash_of(uint32_t x) {
    x = (x ^ x >> 16) * ODT_HASH_SECOND;
    return x ^ x >> 15;
}

// sqrt(A^2 + B^2) in 2^-16, with A = s * 2^16 but for the factor sqrt(beta2), B in 2^-6: the larger of the
// two, and the square of the smaller by twice the larger.
static inline uint32_t hypotenuse(uint32_t s, uint32_t A, uint32_t B) {
    if (s << 6 < B) {
        return (B << 10) + (((s << 6) * (s << 6) / ((B >> 5) + 1)) << 4);
    }
    return A + ((B * B / (2 * s + 1)) << 4);
}

// Updates an element's state. Returns its direction.
static inline int32_t direction(const adam_row_t *a, int32_t d, uint32_t h, int16_t *m, int16_t *v) {
    int32_t g = (int32_t)((uint32_t)(d >> a->before) * (uint32_t)a->factor);
    g = ((g >> (a->after - 1)) + 1) >> 1;
    uint32_t moment = (uint32_t)*m * a->b1 + (uint32_t)g * a->c1 + (h & 65535);
    *m = (int16_t)((int32_t)moment >> 16);
    int32_t b = (int32_t)((uint32_t)g * a->rc2) >> 12;
    uint32_t s = (uint16_t)*v, root = hypotenuse(s, s * a->r2, (uint32_t)(b ^ b >> 31));
    root = (root + (h >> 16)) >> 16;
    *v = (int16_t)root;
    return odt_limit(*m * 4096 / (int32_t)(root + 1), -32768, 32767);
}

#if defined(PICO_ON_DEVICE) && PICO_ON_DEVICE && defined(__ARM_ARCH_6M__)
#include "adam_rp2040.h"
#elif ODT_DSP
#include "adam_m4.h"
#else

// The row's state and weights.
static void step_row(adam_row_t *row) {
    adam_row_t a = *row;
    int16_t *m = a.m, *v = (int16_t *)(void *)((char *)m + a.v_apart);
    int8_t *w = a.w, *r = w + a.r_apart;
    for (const int32_t *d = a.d; d != a.end; d++, m++, v++, w++, r++, a.x += ODT_HASH_GOLDEN) {
        uint32_t h = hash_of(a.x);
        int32_t dither = (int32_t)(h * ODT_HASH_THIRD >> a.rest);
        int32_t W = 256 * *w + *r - ((direction(&a, *d, h, m, v) * a.rate + dither) >> a.shift);
        if ((W ^ W >> 31) > 32639) { // beyond 127 and 127 / 256, or -127 and -128 / 256
            W = 32639 ^ W >> 31;
            row->is_limited = 1;
        }
        *w = (int8_t)((W + 128) >> 8);
        *r = (int8_t)W;
    }
}

#endif

// A scale is factor * 2^exponent, the factor of 15 bits.
static inline int32_t short_factor(uint32_t scale) {
    return (int32_t)((scale & 0x7FFFFF) | 0x800000) >> 9;
}

static inline int32_t short_exponent(uint32_t scale) {
    return (int32_t)(scale >> 23) - 141;
}

// Bits of the largest of K magnitudes.
static int32_t bits_of(const int32_t *d, int32_t K) {
    int32_t any = 0;
    const int32_t *whole = d + (K & ~3);
    #if defined(__ARM_ARCH_6M__)
    if (d != whole) {
        int32_t sign;
        __asm (
            ".syntax unified\n"
            "1:\n" // 20 cycles for 4
            "ldmia %0!, {r3-r6}\n"
            ".irp word, r3, r4, r5, r6\n"
            "asrs %2, \\word, #31\n"
            "eors \\word, %2\n"
            "orrs %1, \\word\n"
            ".endr\n"
            "cmp %0, %3\n"
            "bne 1b\n"
            : "+l" (d), "+l" (any), "=&l" (sign) : "h" (whole) : "r3", "r4", "r5", "r6", "cc", "memory");
    }
    #else
    for (; d != whole; d += 4) {
        any |= (d[0] ^ d[0] >> 31) | (d[1] ^ d[1] >> 31) | (d[2] ^ d[2] >> 31) | (d[3] ^ d[3] >> 31);
    }
    #endif
    for (const int32_t *end = d + (K & 3); d != end; d++) {
        any |= *d ^ *d >> 31;
    }
    return odt_bit_length((uint32_t)any);
}

// What all rows of a parameter share. A gradient is below 2^(level + 1) units, the first moment counts in
// units 2^`finer` times as fine.
typedef struct {
    adam_row_t row;
    uint32_t G;
    int32_t level, finer, K;
} adam_t;

static adam_t begin(int32_t factor, int32_t gs, int32_t key, int32_t id, uint32_t first, int32_t K, int32_t c1,
    int32_t r2, int32_t rc2) {
    adam_t a = {.row = {.second = ODT_HASH_SECOND, .golden = ODT_HASH_GOLDEN, .third = ODT_HASH_THIRD, .c1 = (uint32_t)c1,
        .b1 = 65536 - 16 * (uint32_t)c1, .r2 = (uint32_t)r2, .rc2 = (uint32_t)odt_limit(rc2, 0, 16384),
        .x = odt_hash32((uint32_t)key, (uint32_t)id) + first * ODT_HASH_GOLDEN},
        .G = odt_scale_mul(odt_scale(factor), odt_scale(gs)), .level = LEVEL, .K = K};
    while (a.row.rc2 << (a.level + 1) >= 1 << 24) {
        a.level--;
    }
    a.finer = LEVEL - a.level;
    a.row.c1 <<= a.finer;
    return a;
}

// The row's exponent, to which its gradient and its state are brought, from what it was. Returns how many bits it
// is above the least that this gradient needs.
static int32_t raise_exponent(adam_t *a, int8_t *exponent) {
    adam_row_t *row = &a->row;
    int16_t *v = (int16_t *)(void *)((char *)row->m + row->v_apart);
    int32_t bits = bits_of(row->d, a->K), ex = *exponent;
    int32_t need = odt_limit(bits + odt_log2_floor(a->G) - a->level, -100, 100), rise = need - ex;
    if (rise > 0) {
        odt_state_shift_right(row->m, a->K, rise);
        for (int32_t k = 0; k < a->K; k++) {
            v[k] = rise > 15 ? 0 : (int16_t)(((uint16_t)v[k] + (1 << (rise - 1))) >> rise);
        }
        *exponent = (int8_t)(ex = need);
    }
    uint32_t scale = odt_scale_shift(a->G, 4 - ex);
    row->before = odt_max(bits - 16, 0);
    row->after = -short_exponent(scale) - row->before;
    row->factor = short_factor(scale);
    if (row->after < 1) {
        row->factor = (int32_t)((uint32_t)row->factor << odt_min(1 - row->after, 31));
        row->after = 1;
    }
    row->after = odt_min(row->after, 32);
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
        for (int32_t k = 0; k < K; k++, a.row.x += ODT_HASH_GOLDEN) {
            d[k] = direction(&a.row, d[k], hash_of(a.row.x), m + k, v + k);
        }
        if (above > ABOVE) {
            lower_exponent(&a, m, &o->ex[n]);
        }
        o->ds[n] = (int32_t)odt_scale_shift(ODT_ONE, -12 - a.finer);
    }
}

// From directions to steps: `rate` * 2^-`shift` residual units of a weight of this scale.
static void scale_step(adam_t *a, int32_t rate, uint32_t sw) {
    adam_row_t *row = &a->row;
    row->rate = 0;
    row->shift = 1;
    if (rate) {
        uint32_t scale = odt_scale_shift(odt_scale_div(odt_scale(rate), sw), -4 - a->finer);
        int32_t shift = -short_exponent(scale);
        row->rate = shift < 1 ? 32767 : short_factor(scale) >> odt_limit(shift - 30, 0, 31);
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
        step_row(&a.row);
        a.row.x += (uint32_t)K * ODT_HASH_GOLDEN;
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
