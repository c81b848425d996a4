// Targets of the float32 losses (targets_f32.h).

#include "../../fixed.h"
#include "../../float32.h"
#include "../../opcodes.h"
#include "targets_f32.h"

odt_targets_f32_t odt_targets_f32(const int32_t *c, const odt_region_t *region, int32_t N, int32_t B) {
    odt_targets_f32_t t = {.samples = odt_samples(c, region, c[ODT_Y_FORMAT], N), .zero = c[ODT_Y_ZERO]};
    t.scale = odt_float((uint32_t)c[ODT_Y_SCALE]);
    t.count = (float)(N * odt_rows(c, B));
    return t;
}

float odt_target_f32(const odt_targets_f32_t *t, const uint8_t *sample, int32_t i) {
    int32_t raw = odt_element(sample, t->samples.format, i);
    return t->samples.format == ODT_FLOAT32 ? odt_float((uint32_t)raw)
        : (float)odt_sat32((int64_t)raw - t->zero) * t->scale;
}
