// Targets: what the float32 losses share.

#ifndef ODT_TARGETS_F32_H
#define ODT_TARGETS_F32_H

#include <stdint.h>

#include "../../data.h"

// `count`: the number of elements that the loss averages, N * rows.
typedef struct {
    odt_samples_t samples;
    int32_t zero;
    float scale, count;
} odt_targets_f32_t;

odt_targets_f32_t odt_targets_f32(const int32_t *c, const odt_region_t *region, int32_t N, int32_t B);

float odt_target_f32(const odt_targets_f32_t *t, const uint8_t *sample, int32_t i);

#endif
