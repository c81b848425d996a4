// Arithmetic of a cell, int8.

#ifndef ODT_CELL_I8_H
#define ODT_CELL_I8_H

#include "../../core.h"
#include "../../fixed.h"
#include "../../common/rescale.h"
#include "recurrent.h"

#if ODT_SMALL // one of both kernels: cell_i8.c

int32_t odt_bounded(int32_t v, int32_t bits);

typedef const odt_multiplier_t *rescaler_t;

static inline rescaler_t rescaler(const odt_multiplier_t *q) {
    return q;
}

int32_t odt_sigmoid_of(int32_t v);
int32_t odt_cell_curve(int32_t v);
int32_t odt_curve_of_cell(int32_t cell);
int32_t odt_rescaled_by(int32_t v, rescaler_t q);
int32_t odt_rescaled_within(int32_t v, rescaler_t q, int32_t bits);

static inline int32_t rescaled_within(int32_t v, const rescaler_t *q, int32_t bits) {
    return odt_rescaled_within(v, *q, bits);
}

static inline int32_t rescaled_by(int32_t v, const rescaler_t *q) {
    return odt_rescaled_by(v, *q);
}

#else

// v, limited to -2^bits .. 2^bits.
static inline int32_t odt_bounded(int32_t v, int32_t bits) {
    return odt_limit(v, -(1 << bits), 1 << bits);
}

typedef odt_rescaler_t rescaler_t;

static inline rescaler_t rescaler(const odt_multiplier_t *q) {
    return odt_rescaler(odt_checked(q));
}

// In Q14, of v * ln 2 in Q16.
static int32_t odt_sigmoid_of(int32_t v) {
    uint32_t power = odt_exp2n(v < 0 ? -v : v), whole = 65536 + power;
    return (int32_t)odt_divide(16384 * (v < 0 ? power : 65536) + (whole >> 1), whole);
}

// tanh, as the sigmoid.
static inline int32_t odt_cell_curve(int32_t v) {
    return 2 * odt_sigmoid_of(2 * v) - 16384;
}

// tanh in Q14, of Q12 from -16 to 16.
static inline int32_t odt_curve_of_cell(int32_t cell) {
    return odt_cell_curve((cell * 23637) >> 10); // log2(e) * 2^14
}

// v by a multiplier; and limited.
static inline int32_t rescaled_by(int32_t v, const rescaler_t *q) {
    return odt_rescale_by(q, v);
}

static inline int32_t rescaled_within(int32_t v, const rescaler_t *q, int32_t bits) {
    return odt_bounded(odt_rescale_by(q, v), bits);
}

#endif

// Q14 of 0 .. 1 in steps of 1/256, from -128 on.
static inline int8_t round_unsigned(int32_t gate) {
    return (int8_t)odt_min(((gate + 32) >> 6) - 128, 127);
}

// Q14 in steps of 1/128.
static inline int8_t round_signed(int32_t value) {
    return (int8_t)odt_min((value + 64) >> 7, 127);
}

// a * b / 2^shift, rounded half up; the product has 31 bits.
static inline int32_t times(int32_t a, int32_t b, int32_t shift) {
    return (a * b + (1 << (shift - 1))) >> shift;
}

// The same of a product that has more.
static inline int32_t times_long(int32_t a, int32_t b, int32_t shift) {
    #if ODT_SMALL
    return odt_rescaled(a, (odt_multiplier_t) {b, shift});
    #else
    return (int32_t)(((int64_t)a * b + (1 << (shift - 1))) >> shift);
    #endif
}

#endif
