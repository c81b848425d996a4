// Functions that the int8 losses share: the sum over batches, and targets as integers.

#ifndef ODT_TARGETS_I8_H
#define ODT_TARGETS_I8_H

#include <stdint.h>

#include "../../core.h"
#include "../../data.h"
#include "../../fixed.h"
#include "../../common/quantize.h"
#include "../../cores/m0/quantize__m0.h"
#include "../../common/rescale.h"

// Adds to LOSS and LOSS_HIGH, which form 64 bits.
void odt_add_loss_i8(int32_t *c, uint64_t loss);

// scale / (N * rows)
uint32_t odt_mean_scale(uint32_t scale, int32_t N, const int32_t *c, int32_t B);

#define ODT_PART_OF_127 odt_scale_div(ODT_ONE, odt_scale_int(127))

// How targets become integers: in steps of 2^-shift of a scale.
typedef struct {
    odt_samples_t samples;
    int32_t zero;
    #if ODT_SMALL
    uint32_t inverse;
    odt_multiplier_t q;
    #else
    odt_quantizer_t inverse;
    #if ODT_M0
    odt_quantizer_bytes_t bytes;
    #endif
    odt_rescaler_t q;
    #endif
} odt_targets_i8_t;

#if ODT_SMALL
#define ODT_INVERSE(t) (t).inverse
#else
#define ODT_INVERSE(t) (t).inverse.inverse
#endif

odt_targets_i8_t odt_targets_i8(const int32_t *c, const odt_region_t *region, int32_t N, int32_t shift, uint32_t sx);

int32_t odt_target_i8(const odt_targets_i8_t *t, const uint8_t *sample, int32_t i);

// D of mse_i8: the difference in 1/256 of the output's step.
int32_t odt_difference_i8(const odt_targets_i8_t *t, const uint8_t *sample, int32_t i, int32_t x, int32_t z);

#define ODT_DIFFERENCES 32 // number of differences that mae_i8 and huber_i8 compute at a time

// The differences of elements i .. i + count - 1 of a sample; x is the first of them.
void odt_differences_i8(const odt_targets_i8_t *t, const uint8_t *sample, int32_t i, const int8_t *x, int32_t count,
    int32_t z, int32_t *to);

#endif
