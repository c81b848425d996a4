// Mean squared error, float32. x and e are [B, N], e may lie in x; padding rows have no error and no loss.

#include <string.h>

#include "../../data.h"
#include "../../fixed.h"
#include "../../float32.h"
#include "../../opcodes.h"

void odt_mse_f32(const odt_mse_f32_t *a) {
    int32_t N = a->N, format = a->c[ODT_Y_FORMAT], zero = a->c[ODT_Y_ZERO];
    float scale = odt_float((uint32_t)a->c[ODT_Y_SCALE]);
    float count = (float)(N * odt_rows(a->c, a->B)), loss = odt_float((uint32_t)a->c[ODT_LOSS]);
    odt_samples_t samples = odt_samples(a->c, a->target, format, N);
    for (int32_t b = 0; b < a->B; b++) {
        const float *x = a->x + b * N;
        float *e = a->e + b * N;
        const uint8_t *sample = odt_sample(&samples, b);
        if (!sample) {
            memset(e, 0, (size_t)N * sizeof(float));
            continue;
        }
        for (int32_t i = 0; i < N; i++) {
            int32_t raw = odt_element(sample, format, i);
            float target = format == ODT_FLOAT32 ? odt_float((uint32_t)raw)
                : (float)odt_sat32((int64_t)raw - zero) * scale;
            float d = odt_store(x[i] - target);
            e[i] = odt_store((d * 2.0f) / count);
            loss = loss + d * d;
        }
    }
    a->c[ODT_LOSS] = (int32_t)odt_bits(loss);
}
