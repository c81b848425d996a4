// From sums of four neighbouring channels to their outputs, on cores with SMLAD, a Cortex-M4 and later.

#ifndef ODT_PIXELS_I8_M4_H
#define ODT_PIXELS_I8_M4_H

#include "rows_i8__m4.h"

// odt_scale_t of four channels, such that 128 is added to what they give.
typedef struct {
    struct {
        int32_t m, half;
    } of[4];
    int32_t shifts[4];
    int kind; // the worst of these
} odt_scales_t;

// Those of `channels` multipliers, the last repeated, q_step apart: as odt_find_scale().
void odt_find_scales(odt_scales_t *scales, const odt_multiplier_t *q, int32_t q_step, int32_t channels, const int32_t *start,
    int32_t most, int32_t zy);

// Sums of `count` > 0 pixels to y, `step` bytes apart, and their bounds. Returns whether it could be done.
int odt_finish_pixels(int32_t (*sums)[4], int32_t count, const odt_scales_t *scales, int8_t *y, int32_t step,
    int32_t zy, int32_t lo, int32_t *bounds);

#endif
