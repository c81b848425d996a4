// Mean absolute error, float32. x and e are [B, N], e may lie in x; padding rows have no error and no loss.

#include <string.h>

#include "../../data.h"
#include "../../float32.h"
#include "../../opcodes.h"
#include "targets_f32.h"

void odt_mae_f32(const odt_mae_f32_t *a) {
    int32_t N = a->N;
    odt_targets_f32_t t = odt_targets_f32(a->c, a->target, N, a->B);
    float loss = odt_float((uint32_t)a->c[ODT_LOSS]), step = 1.0f / t.count;
    for (int32_t b = 0; b < a->B; b++) {
        const float *x = a->x + b * N;
        float *e = a->e + b * N;
        const uint8_t *sample = odt_sample(&t.samples, b);
        if (!sample) {
            memset(e, 0, (size_t)N * sizeof(float));
            continue;
        }
        for (int32_t i = 0; i < N; i++) {
            float d = odt_store(x[i] - odt_target_f32(&t, sample, i));
            loss = loss + (d < 0.0f ? -d : d);
            e[i] = d < 0.0f ? -step : d > 0.0f ? step : d; // 0 and NaN stay
        }
    }
    a->c[ODT_LOSS] = (int32_t)odt_bits(loss);
}
