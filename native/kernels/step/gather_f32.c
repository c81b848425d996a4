// Copies a batch's samples from the user's data, float32.

#include <string.h>

#include "../../data.h"
#include "../../fixed.h"
#include "../../float32.h"
#include "../../opcodes.h"

void odt_gather_f32(const odt_gather_f32_t *a) {
    const int32_t *c = a->c;
    int32_t format = c[ODT_X_FORMAT], zero = c[ODT_X_ZERO], F = a->F;
    float scale = odt_float((uint32_t)c[ODT_X_SCALE]);
    odt_samples_t samples = odt_samples(c, a->x, format, F);
    float *y = a->y;
    for (int32_t b = 0; b < a->B; b++, y += F) {
        const uint8_t *sample = odt_sample(&samples, b);
        if (!sample) {
            memset(y, 0, (size_t)F * sizeof(float));
            continue;
        }
        for (int32_t i = 0; i < F; i++) {
            int32_t raw = odt_element(sample, format, i);
            y[i] = odt_store(format == ODT_FLOAT32 ? odt_float((uint32_t)raw)
                : (float)odt_sat32((int64_t)raw - zero) * scale);
        }
    }
}
