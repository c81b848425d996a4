// Copies a batch's samples from the user's data; subtracts each feature's mean and divides by its deviation, float32.

#include "../../data.h"
#include "../../fixed.h"
#include "../../float32.h"
#include "../../opcodes.h"

void odt_gather_norm_f32(const odt_gather_norm_f32_t *a) {
    const int32_t *c = a->c;
    int32_t format = c[ODT_X_FORMAT], zero = c[ODT_X_ZERO], C = a->C, F = a->S * C;
    float scale = odt_float((uint32_t)c[ODT_X_SCALE]);
    odt_samples_t samples = odt_samples(c, a->x, format, F);
    for (int32_t n = 0; n < C; n++) {
        float mean = a->mean[n], inverse = 1.0f;
        if (a->var[n] > 0.0f) {
            inverse = odt_store(1.0f / odt_sqrtf(a->var[n]));
        }
        for (int32_t b = 0; b < a->B; b++) {
            const uint8_t *sample = odt_sample(&samples, b);
            float *y = a->y + b * F;
            for (int32_t i = n; i < F; i += C) {
                float v = 0.0f;
                if (sample) {
                    int32_t raw = odt_element(sample, format, i);
                    v = format == ODT_FLOAT32 ? odt_float((uint32_t)raw)
                        : (float)odt_sat32((int64_t)raw - zero) * scale;
                    v = odt_store(odt_store(v - mean) * inverse);
                }
                y[i] = v;
            }
        }
    }
}
