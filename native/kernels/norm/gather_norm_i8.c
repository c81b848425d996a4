// Copies a batch's samples from the user's data; subtracts each feature's mean and divides by its deviation, int8.

#include "../../data.h"
#include "../../fixed.h"
#include "../../opcodes.h"

void odt_gather_norm_i8(const odt_gather_norm_i8_t *a) {
    const int32_t *c = a->c;
    int32_t format = c[ODT_X_FORMAT], zero = c[ODT_X_ZERO], C = a->C, F = a->S * C, peak = *a->peak;
    odt_multiplier_t q = odt_multiplier(odt_scale_div(odt_scale_shift(ODT_ONE, -12), odt_scale(*a->s)));
    odt_samples_t samples = odt_samples(c, a->x, format, F);
    for (int32_t n = 0; n < C; n++) {
        uint32_t variance = (uint32_t)a->var[n];
        uint32_t unit = odt_scale_shift(odt_scale_sqrt((variance << 1) ? odt_scale(a->var[n]) : ODT_ONE), -12);
        uint32_t inverse = odt_scale_div(ODT_ONE, unit);
        odt_multiplier_t whole = odt_multiplier(odt_scale_div(odt_scale(c[ODT_X_SCALE]), unit));
        int32_t mean = odt_quantize((uint32_t)a->mean[n], inverse);
        for (int32_t b = 0; b < a->B; b++) {
            const uint8_t *sample = odt_sample(&samples, b);
            int8_t *y = a->y + b * F;
            for (int32_t i = n; i < F; i += C) {
                int32_t v = 0;
                if (sample) {
                    v = odt_element(sample, format, i);
                    v = format == ODT_FLOAT32 ? odt_quantize((uint32_t)v, inverse)
                        : odt_rescaled(odt_sat32((int64_t)v - zero), whole);
                    v = odt_sat32((int64_t)v - mean);
                    peak = odt_max(peak, v != 0); // at least 1 for a value other than 0, even if it rounds to 0
                    v = odt_rescaled(v, q);
                    peak = odt_max(peak, odt_max(v, -v));
                }
                y[i] = (int8_t)odt_limit(odt_sat32((int64_t)v + a->z), -128, 127);
            }
        }
    }
    *a->peak = peak;
}
