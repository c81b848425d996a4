// Huber's loss, float32. x and e are [B, N], e may lie in x; padding rows have no error and no loss.

#include <string.h>

#include "../../data.h"
#include "../../fixed.h"
#include "../../float32.h"
#include "../../opcodes.h"
#include "targets_f32.h"

void odt_huber_f32(const odt_huber_f32_t *a) {
    int32_t N = a->N;
    odt_targets_f32_t t = odt_targets_f32(a->c, a->target, N, a->B);
    float loss = odt_float((uint32_t)a->c[ODT_LOSS]), delta = odt_float(odt_scale(a->delta));
    for (int32_t b = 0; b < a->B; b++) {
        const float *x = a->x + b * N;
        float *e = a->e + b * N;
        const uint8_t *sample = odt_sample(&t.samples, b);
        if (!sample) {
            memset(e, 0, (size_t)N * sizeof(float));
            continue;
        }
        for (int32_t i = 0; i < N; i++) {
            float d = odt_store(x[i] - odt_target_f32(&t, sample, i)), size = d < 0.0f ? -d : d;
            if (size > delta) {
                loss = loss + delta * (size - delta * 0.5f);
                d = d < 0.0f ? -delta : delta;
            } else {
                loss = loss + (d * d) * 0.5f;
            }
            e[i] = odt_store(d / t.count);
        }
    }
    a->c[ODT_LOSS] = (int32_t)odt_bits(loss);
}
