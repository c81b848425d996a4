// Adam of int8 models with state in float32: gradients [N, K] become directions. It computes in integers, to be fast on
// cores without float instructions. Moments are truncated to 24 bits; a direction has at least 15 bits. With state in
// int16: adam_i16.c.

#include "../../core.h"
#include "../../fixed.h"
#include "../../opcodes.h"
#include "../../common/words.h"

// The factors of a step.
typedef struct {
    int32_t d_factor, d_field; // c1 * G: 14 bits, in units of 2^(field - 150)
    int32_t m_factor, m_shift; // of m's decay
    int32_t q_factor, q_field; // c2 * G * G: 15 bits
    int32_t v_factor, v_shift;
    int32_t eps, eps_unit;     // 16 bits, and the power of two of their unit
} factors_t;

#if ODT_RP2040
#include "../../cores/m0/adam_i32__rp2040.inc"

ODT_BESIDE_ASSEMBLY // assembly computes the usual case
#endif

// The magnitude of a float from its bits: man * 2^(field - 150), man in 2^23 .. 2^24 - 1, or 0. Numbers here have no
// sign.
typedef struct {
    uint32_t man;
    int32_t field;
} number_t;

static inline number_t number(uint32_t bits) {
    int32_t field = (int32_t)(bits << 1 >> 24);
    number_t x = {field ? (bits & 0x7FFFFF) | 0x800000 : 0, field};
    return x;
}

// The float bits of v * 2^(field - 150), truncated to 24 bits; at most the largest float; 0 below the smallest normal.
static uint32_t packed(uint32_t v, int32_t field) {
    int32_t more = odt_bit_length(v) - 24;
    field += more;
    if (v == 0 || field < 1) {
        return 0;
    }
    v = more > 0 ? v >> more : v << -more;
    return field > 254 ? 0x7F7FFFFF : ((uint32_t)field << 23) + (v - 0x800000);
}

static inline uint32_t shifted_right(uint32_t v, int32_t by) {
    return by > 31 ? 0 : v >> by;
}

// The decayed moment: man - ((man >> 8) * factor >> shift).
static void set_decay(uint32_t rate, int32_t *factor, int32_t *shift) {
    number_t x = number(rate);
    *factor = x.field > 126 ? 65536 : (int32_t)((x.man + 128) >> 8);
    *shift = x.field > 126 ? 8 : odt_min(134 - x.field, 31);
}

// A mantissa's upper 16 bits, rounded.
static uint32_t upper(number_t x) {
    return (uint32_t)odt_min((int32_t)((x.man + 128) >> 8), 65535);
}

// Rounds v, in units of 2^(field - 150), to a factor with `bits` bits. v is 0 or has at least 29 bits.
static void set_factor(uint32_t v, int32_t field, int32_t bits, int32_t *factor, int32_t *unit) {
    int32_t more = odt_bit_length(v) - bits;
    *factor = more > 0 ? (int32_t)(((v >> (more - 1)) + 1) >> 1) : 0;
    *unit = field + more;
}

static void begin(factors_t *s, const odt_adam_i32_t *a) {
    number_t G = number(odt_scale_mul(odt_scale(a->factor), odt_scale(*a->gs)));
    number_t c1 = number((uint32_t)a->c1), c2 = number((uint32_t)a->c2);
    number_t eps = number(odt_scale_mul(odt_scale(a->eps), odt_scale(a->rate[1])));
    uint32_t root = upper(G), square = (root * root + 0x8000) >> 16;
    set_decay((uint32_t)a->c1, &s->m_factor, &s->m_shift);
    set_decay((uint32_t)a->c2, &s->v_factor, &s->v_shift);
    set_factor(root * upper(c1), G.field + c1.field - 134, 14, &s->d_factor, &s->d_field);
    set_factor(square * upper(c2), 2 * G.field + c2.field - 260, 15, &s->q_factor, &s->q_field);
    s->eps = (int32_t)(eps.man >> 8);
    s->eps_unit = eps.field - 142;
}

// Decays a moment and adds `more`, in units of 2^(field - 150). If the signs *differ, it subtracts and sets *differ to
// whether `more` is larger.
static uint32_t moved(uint32_t bits, int32_t factor, int32_t shift, uint32_t more, int32_t field, int *differ) {
    number_t x = number(bits);
    x.man -= (x.man >> 8) * (uint32_t)factor >> shift;
    if (more == 0) {
        *differ = 0;
        return packed(x.man, x.field);
    }
    if (x.field >= field) {
        more = shifted_right(more, x.field - field);
        field = x.field;
    } else {
        x.man = shifted_right(x.man, field - x.field);
    }
    if (!*differ) {
        return packed(x.man + more, field);
    }
    *differ = more > x.man;
    return packed(*differ ? more - x.man : x.man - more, field);
}

// The root of v, 2^15 .. 2^16, in units of 2^*unit.
static uint32_t root_of(number_t v, int32_t *unit) {
    *unit = (v.field - 157) >> 1;
    return odt_root_above(v.man << (8 - (v.field & 1)));
}

// m / (sqrt(v) + eps) in units of 2^-20, at most 4.
static uint32_t direction(const factors_t *s, number_t m, number_t v) {
    int32_t unit = s->eps_unit, other;
    uint32_t below = (uint32_t)s->eps;
    if (v.man) {
        uint32_t y = root_of(v, &other);
        if (other >= unit) {
            below = y + shifted_right(below, other - unit);
            unit = other;
        } else {
            below += shifted_right(y, unit - other);
        }
    }
    uint32_t quotient = odt_divide(m.man << 8, below);
    int32_t shift = m.field - 138 - unit;
    if (shift < 0) {
        return shifted_right(quotient, -shift);
    }
    return shift > 7 ? 1 << 22 : (uint32_t)odt_min((int32_t)(quotient << shift), 1 << 22);
}

static void step(const factors_t *s, int32_t *d, float *m, float *v) {
    uint32_t size = odt_magnitude(*d), m_bits = odt_load_word(m), sign = m_bits >> 31;
    int32_t cut = odt_max(odt_bit_length(size) - 16, 0), unit = s->q_field + 2 * cut;
    size >>= cut;
    int differ = sign != (uint32_t)*d >> 31, same = 0;
    m_bits = moved(m_bits, s->m_factor, s->m_shift, size * (uint32_t)s->d_factor, s->d_field + cut, &differ);
    sign ^= (uint32_t)differ;
    uint32_t square = size * size, more = (square & 0xFFFF) * (uint32_t)s->q_factor;
    if (square >> 16) {
        more = (square >> 16) * (uint32_t)s->q_factor + (more >> 16);
        unit += 16;
    }
    uint32_t v_bits = moved(odt_load_word(v), s->v_factor, s->v_shift, more, unit, &same);
    int32_t x = (int32_t)direction(s, number(m_bits), number(v_bits));
    *d = sign ? -x : x;
    odt_store_word(m, m_bits | sign << 31);
    odt_store_word(v, v_bits);
}

void odt_adam_i32(const odt_adam_i32_t *a) {
    factors_t s;
    begin(&s, a);
    int32_t count = a->N * a->K;
    #if ODT_RP2040
    elements_t e = {s, ODT_DIVIDER, a->d + count, a->d, a->m, a->v};
    int is_usual = are_usual(&s);
    while (e.d != e.end) {
        if (is_usual) {
            step_usual(&e);
            if (e.d == e.end) {
                break;
            }
        }
        step(&s, e.d++, e.m++, e.v++);
    }
    #else
    for (int32_t i = 0; i < count; i++) {
        step(&s, &a->d[i], &a->m[i], &a->v[i]);
    }
    #endif
    for (int32_t n = 0; n < a->N; n++) {
        a->ds[n] = (int32_t)odt_scale_shift(ODT_ONE, -20);
    }
}
