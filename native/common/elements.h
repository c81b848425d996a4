// Outputs of loops that take few instructions for each: clamped, and their peak. What is neither out of range nor a new
// peak takes two comparisons; in a module that is to be small it is a call of odt_clamp().

#ifndef ODT_ELEMENTS_H
#define ODT_ELEMENTS_H

#include "../core.h"
#include "rescale.h"

#if ODT_SMALL

typedef struct {
    int32_t z, lo, peak;
} odt_outputs_t;

static inline odt_outputs_t odt_outputs_from(int32_t z, int32_t lo, int32_t peak) {
    odt_outputs_t o = {z, lo, peak};
    return o;
}

static inline int8_t odt_output(odt_outputs_t *o, int32_t v) {
    return odt_clamp(v, o->z, o->lo, &o->peak);
}

#else

// From bottom to top v needs nothing; from least to most it is no new peak.
typedef struct {
    int32_t top, bottom, z, lo, least, most, peak;
} odt_outputs_t;

odt_outputs_t odt_outputs_from(int32_t z, int32_t lo, int32_t peak);
int8_t odt_output_of_peak(odt_outputs_t *o, int32_t v);

// Like odt_outputs_t, with the zero point included.
typedef struct {
    int32_t top, bottom; // 0, 4
    int32_t most, least; // 8, 12
    int32_t lo;          // 16
} odt_limits_t;

static inline odt_limits_t odt_limits_of(const odt_outputs_t *o) {
    int32_t z = o->z;
    odt_limits_t l = {o->top + z, o->bottom + z, o->most + z, o->least == INT32_MIN ? INT32_MIN : o->least + z, o->lo};
    return l;
}

// odt_output(o, v - o->z), with the limits of o.
static inline int8_t odt_output_by(odt_limits_t *l, odt_outputs_t *o, int32_t v) {
    if (v > l->top) {
        if (v <= l->most) {
            return 127;
        }
    } else if (v >= l->bottom) {
        return (int8_t)v;
    } else if (v >= l->least) {
        return (int8_t)l->lo;
    }
    int8_t y = odt_output_of_peak(o, v - o->z);
    *l = odt_limits_of(o);
    return y;
}

// Whether the arguments of odt_outputs_from() are in the usual range of models.
static inline int odt_is_usual(const odt_outputs_t *o) {
    return o->most >= 0 && o->peak < 1 << 30;
}

// odt_clamp(v, z, lo, &peak)
static inline int8_t odt_output(odt_outputs_t *o, int32_t v) {
    if (v > o->top) {
        return v > o->most ? odt_output_of_peak(o, v) : 127;
    }
    if (v < o->bottom) {
        return v < o->least ? odt_output_of_peak(o, v) : (int8_t)o->lo;
    }
    return (int8_t)(v + o->z);
}

#endif

// a + b, limited to int32, of which the lower 8 bits are rounded away.
static inline int32_t odt_sum_rounded(int32_t a, int32_t b) {
    int32_t sum = odt_wrap_add(a, b);
    if (((a ^ sum) & (b ^ sum)) < 0) {
        sum = a < 0 ? -INT32_MAX : INT32_MAX;
    }
    return (sum >> 8) + (sum >> 7 & 1);
}

#endif
