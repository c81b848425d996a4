// Adam of int8 models with state in int16: gradients [N, K] become directions (adam_i16), or update int8 weights
// directly (adam_i8).

#include <stddef.h>

#include "../../core.h"
#include "../../fixed.h"
#include "../../opcodes.h"
#include "../../threads.h"
#include "../../common/axis_part.h"
#include "apply_i8.h"
#include "exponents_i16.h"

enum {
    LEVEL = 13, // a row's exponent keeps its gradients below 2^(LEVEL + 1) units
    FINER = 11, // a gradient's contribution to the first moment has this many more bits than to the second
    ABOVE = 3,  // how many bits an exponent may exceed what its gradient needs
};

// The remaining elements of a row. adam_i16__rp2040.inc and adam_i16__m4.inc load the members in this order.
typedef struct {
    int32_t before;                 // a gradient is shifted right by this many bits, then multiplied by factor
    uint32_t factor;                // factor from a gradient to its contribution to the first moment
    uint32_t b1;                    // beta1
    uintptr_t divider;              // ODT_DIVIDER
    uint32_t r2;                    // sqrt(beta2)
    int32_t rate;                   // a step is quotient * rate + dither, shifted right; every other
    int32_t dither, shift;          // element has the dither's complement
    ptrdiff_t r_apart;              // bytes from w to r
    const int8_t *end;              // of w
    ptrdiff_t v_apart;              // bytes from m to v
    const int32_t *d;
    int16_t *m;
    int8_t *w;
    uint32_t half;                  // 16 bits that round the moments; every other element uses their complement
    int32_t is_limited;             // set if a weight was limited
    #if ODT_RP2040
    int32_t is_still;               // the row has no gradient
    #endif
} adam_row_t;

// About sqrt(A^2 + B^2) in 2^-16, with A = s * 2^16 (times sqrt(beta2)) and B in 2^-6: the larger of the two, plus the
// square of the smaller divided by twice the larger.
static inline uint32_t hypotenuse(uint32_t s, uint32_t A, uint32_t B) {
    if (s << 6 <= B) {
        return (B << 10) + (odt_divide((s << 6) * (s << 6), (B >> 5) + 1) << 4);
    }
    return A + (odt_divide(B * B, 2 * s) << 4);
}

// Updates an element's state. Returns the divisor of its first moment.
static inline int32_t move_moments(const adam_row_t *a, int32_t d, uint32_t half, int16_t *m, int16_t *v) {
    uint32_t mean = (uint32_t)(d >> a->before) * a->factor;
    *m = (int16_t)((int32_t)((uint32_t)*m * a->b1 + mean + half) >> 16);
    uint32_t s = (uint16_t)*v;
    s = (hypotenuse(s, s * a->r2, (mean ^ (uint32_t)((int32_t)mean >> 31)) >> FINER) + half) >> 16;
    *v = (int16_t)s;
    return (int32_t)s + 1;
}

#if ODT_RP2040
#include "../../cores/m0/adam_i16__rp2040.inc"
#elif ODT_M4
#include "../../cores/m4/adam_i16__m4.inc"
#else

// The row's state and weights, one by one.
static __attribute__((noinline)) void step_elements(adam_row_t *row) {
    const adam_row_t a = *row;
    int16_t *m = a.m, *v = (int16_t *)(void *)((char *)m + a.v_apart);
    int8_t *w = a.w, *r = w + a.r_apart;
    int32_t odd = -((a.end - w) & 1), all = (1 << a.shift) - 1; // odd: -1 if the complement is used, else 0
    for (const int32_t *d = a.d; w != a.end; d++, m++, v++, w++, r++, odd = ~odd) {
        int32_t root = move_moments(&a, *d, a.half ^ ((uint32_t)odd & 65535), m, v);
        int32_t W = 256 * *w + *r - ((*m * a.rate / root + (a.dither ^ (odd & all))) >> a.shift);
        if ((W ^ W >> 31) > 32639) { // above 127 + 127 / 256, or below -(127 + 128 / 256), in units of w
            W = 32639 ^ W >> 31;
            row->is_limited = 1;
        }
        *w = (int8_t)((W + 128) >> 8);
        *r = (int8_t)W;
    }
}

#if ODT_X86
#include "../../cores/x86/adam_i16__x86.inc"
#endif

// Both may move the row's addresses.
static void step_row(adam_row_t *row) {
    #if ODT_X86
    if (odt_has_avx2()) {
        step_eights(row);
    }
    #endif
    step_elements(row);
}

#endif

// Values that all rows of a parameter share. A gradient of `bits` bits needs the exponent bits + need; with exponent ex
// its contribution to the first moment is gradient * factor * 2^(power - ex). quotient: the scale of first moment /
// second moment, which have different units. largest: the second moment for a gradient of 2^(level + 1) units.
typedef struct {
    adam_row_t row;
    odt_dither_t dither;
    uint32_t factor, quotient, largest;
    int32_t need, power, K;
} adam_t;

static ODT_COMPACT adam_t begin(
    int32_t factor, int32_t gs, int32_t key, int32_t id, int32_t K, int32_t c1, int32_t r2, int32_t rc2) {
    uint32_t mean = (uint32_t)odt_limit(c1, 1, 4096), root = (uint32_t)odt_limit(rc2, 1, 16384);
    uint32_t G = odt_scale_mul(odt_scale(factor), odt_scale(gs));
    int32_t level = odt_min(LEVEL, 22 - odt_bit_length(mean));
    adam_t a = {.row = {.b1 = 65536 - 16 * mean, .divider = ODT_DIVIDER, .r2 = (uint32_t)r2},
        .dither = odt_dither(key, id),
        .factor = (uint32_t)odt_short_factor(G) * mean,
        .power = odt_short_exponent(G) + 4, // a row's exponent is at least what it needs: the scale does not overflow
        .quotient = odt_scale_div(odt_scale_int(2 * mean), odt_scale_int(root)),
        .K = K};
    while ((a.largest = odt_divide(mean << (level + 2), root)) >> 15) { // a second moment has 16 bits
        level--;
    }
    a.need = odt_log2_floor(G) - level;
    return a;
}

// The dither of row n is one word: the upper half rounds the moments, the bits from the lower half on round the
// weights. Not inlined, to keep modules small.
static __attribute__((noinline)) void set_dither(adam_t *a, int32_t n) {
    uint32_t x = a->dither.first + (uint32_t)n * a->dither.step;
    a->row.half = x >> 16;
    a->row.dither = (int32_t)((x << 16 | x >> 16) >> (32 - a->row.shift));
}

#if ODT_RP2040

static int is_zero(const int32_t *d, int32_t K) {
    int32_t any = 0;
    const int32_t *whole = d + (K & ~3), *end = d + K;
    if (d != whole) {
        __asm (
            ".syntax unified\n"
            "1:\n" // 12 cycles for 4
            "ldmia %0!, {r3-r6}\n"
            "orrs r3, r4\n"
            "orrs r5, r6\n"
            "orrs r3, r5\n"
            "bne 2f\n"
            "cmp %0, %2\n"
            "bne 1b\n"
            "2:\n"
            "movs %1, r3\n"
            : "+l" (d), "=l" (any) : "h" (whole) : "r3", "r4", "r5", "r6", "cc", "memory");
    }
    for (d = whole; d != end && !any; d++) {
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

// Converts a row's state to units that are 2^rise times as large.
static void raise_state(const adam_t *a, int32_t rise) {
    int16_t *m = a->row.m, *v = (int16_t *)(void *)((char *)m + a->row.v_apart);
    odt_state_shift_right(m, a->K, rise);
    for (int32_t k = 0; k < a->K; k++) {
        v[k] = rise > 15 ? 0 : (int16_t)(((uint16_t)v[k] + (1 << (rise - 1))) >> rise);
    }
}

// Updates the row's exponent for this gradient and converts the state to it. Returns by how many bits it is above the
// smallest exponent that this gradient needs.
static int32_t raise_exponent(adam_t *a, int8_t *exponent) {
    adam_row_t *row = &a->row;
    int32_t bits = bits_of(row, a->K), ex = *exponent;
    int32_t need = odt_limit(bits + a->need, -100, 100);
    if (need > ex) {
        raise_state(a, need - ex);
        *exponent = (int8_t)(ex = need);
    }
    #if ODT_RP2040
    if (row->is_still) {
        return ex - need;
    }
    #endif
    row->before = odt_max(bits - 16, 0);
    int32_t power = odt_limit(a->power - ex + row->before, -31, 31);
    row->factor = power < 0 ? a->factor >> -power : a->factor << power;
    return ex - need;
}

// If a row's gradient and second moment have become small, chooses a smaller unit.
static void lower_exponent(const adam_t *a, int16_t *m, int8_t *exponent) {
    int16_t *v = (int16_t *)(void *)((char *)m + a->row.v_apart);
    uint32_t any = 0, limit = a->largest / 16;
    int32_t k = 0;
    for (; k < a->K && any < limit; k++) {
        any |= (uint16_t)v[k];
    }
    if (any == 0 || any >= limit || *exponent <= -100) {
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
    adam_t a = begin(o->factor, *o->gs, o->c[ODT_KEY], o->id, K, o->c1, o->r2, o->rc2);
    a.row.v_apart = (char *)o->v - (char *)o->m;
    a.row.shift = 1;
    for (int32_t n = 0; n < o->N; n++) {
        int32_t *d = o->d + n * K;
        int16_t *m = o->m + n * K, *v = o->v + n * K;
        a.row.d = d;
        a.row.m = m;
        int32_t above = raise_exponent(&a, &o->ex[n]);
        set_dither(&a, o->at + n);
        uint32_t half = K & 1 ? a.row.half ^ 65535 : a.row.half;
        for (int32_t k = 0; k < K; k++, half ^= 65535) {
            int32_t root = move_moments(&a.row, d[k], half, m + k, v + k);
            d[k] = odt_limit(m[k] * 4096 / root, -32768, 32767);
        }
        if (above > ABOVE) {
            lower_exponent(&a, m, &o->ex[n]);
        }
        o->ds[n] = (int32_t)odt_scale_shift(a.quotient, -12);
    }
}

// The factor from a quotient of moments to a step: `rate` * 2^-`shift`, in residual units of a weight with scale sw.
// `rate` includes the quotients' scale.
static void scale_step(adam_t *a, uint32_t rate, uint32_t sw) {
    adam_row_t *row = &a->row;
    row->rate = 0;
    row->shift = 1;
    if (rate) {
        uint32_t scale = odt_scale_shift(odt_scale_div(rate, sw), 8);
        int32_t shift = -odt_short_exponent(scale);
        row->rate = shift < 1 ? 32767 : odt_short_factor(scale) >> odt_limit(shift - 30, 0, 31);
        row->shift = odt_limit(shift, 1, 30);
    }
}

// Rows first .. stop - 1 of the rows with gradients. The "peak" here is whether a weight was limited.
static void adam_rows(const void *arguments, int32_t first, int32_t stop, int32_t *is_limited) {
    const odt_adam_i8_t *o = arguments;
    int32_t K = o->K;
    adam_t a = begin(o->factor, *o->gs, o->c[ODT_KEY], o->id, K, o->c1, o->r2, o->rc2);
    a.row.v_apart = (char *)o->v - (char *)o->m;
    a.row.r_apart = (char *)o->r - (char *)o->w;
    a.row.is_limited = *is_limited;
    uint32_t rate = *o->rate ? odt_scale_mul(odt_scale(*o->rate), a.quotient) : 0, sw_before = 0; // 0 is not a scale
    for (int32_t i = first; i < stop; i++) {
        int32_t n = o->at + i;
        uint32_t sw = odt_scale(o->sw[n]);
        a.row.d = o->d + i * K;
        a.row.m = o->m + i * K;
        a.row.w = o->w + n * K;
        a.row.end = a.row.w + K;
        if (sw != sw_before) {
            scale_step(&a, rate, sw);
            sw_before = sw;
        }
        int32_t above = raise_exponent(&a, &o->ex[i]);
        set_dither(&a, n);
        #if ODT_RP2040
        (a.row.is_still ? step_still_row : step_row)(&a.row);
        #else
        step_row(&a.row);
        #endif
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
