// From sums to outputs by a multiplier so large that nearly every result leaves its range, as of a scale which
// calibration has yet to find (calibrate.c). The sum's sign then says what the output is; and as rescaling keeps the
// sums' order, the peak is that of the least or of the greatest.

#ifndef ODT_SATURATED_H
#define ODT_SATURATED_H

#include "../core.h"
#include "rescale.h"

typedef struct {
    odt_multiplier_t q;
    int32_t z, lo, bound; // sums from bound on, and down from -bound, are beyond any z
    int32_t least, most; // of those sums
    int32_t *peak; // until odt_beyond_peak() only sums within the bounds have changed it
} odt_beyond_t;

// Whether odt_beyond() may be used: where a checked q is as scales give it, and the program not wrong.
static inline int odt_is_beyond(odt_multiplier_t q, int32_t z, int32_t lo, int32_t peak) {
    return !ODT_SMALL && q.s <= 32 && q.m >= 1 << 30 && z == (int8_t)z && lo == (int8_t)lo && lo <= z && peak >= 0;
}

static inline odt_beyond_t odt_beyond(odt_multiplier_t q, int32_t z, int32_t lo, int32_t *peak) {
    odt_beyond_t b = {q, z, lo, 1 << odt_max(q.s - 22, 0), 0, 0, peak};
    return b;
}

static __attribute__((noinline)) int8_t odt_beyond_within(const odt_beyond_t *b, int32_t v) {
    return odt_clamp_by(odt_rescaled(v, b->q), b->z, b->lo, b->peak);
}

// `count` outputs, `step` bytes apart, of sums that are `gap` apart, to each of which the offset is added.
static __attribute__((noinline)) void odt_beyond_outputs(
    odt_beyond_t *b, const int32_t *sums, int32_t gap, int32_t offset, int32_t count, int8_t *y, int32_t step) {
    int32_t bound = b->bound, least = b->least, most = b->most;
    for (; count; count--, sums += gap, y += step) {
        int32_t v = odt_wrap_add(*sums, offset);
        if (v >= bound) {
            *y = 127;
            most = odt_max(most, v);
        } else if (v <= -bound) {
            *y = (int8_t)b->lo;
            least = odt_min(least, v);
        } else {
            *y = v ? odt_beyond_within(b, v) : (int8_t)b->z; // after a ReLU many are 0
        }
    }
    b->least = least;
    b->most = most;
}

// Of the sum that is farther from 0: the other's result is not farther, and below a ReLU's zero none counts.
static inline void odt_beyond_peak(const odt_beyond_t *b) {
    int32_t farthest = b->lo == b->z || b->most >= -b->least ? b->most : b->least;
    if (farthest) {
        odt_beyond_within(b, farthest);
    }
}

#endif
