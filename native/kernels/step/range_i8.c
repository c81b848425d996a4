// Ranges: the scales of activations, errors and inputs follow the peaks.

#include "../../fixed.h"
#include "../../opcodes.h"

#define GROWTH 0x3FA00000 // 5/4, as a scale: an input's range grows at most by this factor in a step

// peak / limit, for a peak above the limit.
static uint32_t beyond(int32_t peak, int32_t limit) {
    return odt_scale_div(odt_scale_int((uint32_t)peak), odt_scale_int((uint32_t)limit));
}

// 1 - 2^-k for k = 1 .. 23
static uint32_t less(int32_t k) {
    return ODT_ONE - (1u << (24 - k));
}

void odt_range_i8(const odt_range_i8_t *a) {
    int32_t peak = *a->peak, limit = a->limit, fall = a->fall;
    uint32_t factor;
    if (peak > limit) {
        factor = beyond(peak, limit);
    } else if (peak <= 0 || fall < 1 || fall > 15) {
        return;
    } else if (peak < limit >> 2) {
        factor = less(peak < limit >> 4 ? fall : fall + 2);
    } else if (a->fine) {
        factor = less(peak < limit >> 1 ? fall + 5 : fall + 8);
    } else {
        return;
    }
    *a->s = (int32_t)odt_scale_mul(odt_scale(*a->s), factor);
}

void odt_range_x_i8(const odt_range_x_i8_t *a) {
    int32_t peak = *a->peak, limit = a->limit;
    if (peak <= 0) {
        return;
    }
    uint32_t s = odt_scale(*a->s), seen = odt_scale(*a->seen), factor = ODT_ONE;
    uint32_t largest = odt_scale_mul(odt_scale_int((uint32_t)peak), s);
    *a->seen = (int32_t)(largest > seen ? largest : seen);
    if (peak > limit) {
        factor = beyond(peak, limit);
        factor = factor < GROWTH ? factor : GROWTH;
    } else if (peak < limit >> 2) {
        factor = less(peak < limit >> 4 ? 3 : 4);
    }
    *a->s = (int32_t)odt_scale_mul(s, factor);
}
