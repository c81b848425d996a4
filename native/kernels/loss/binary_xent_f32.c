// Binary cross-entropy of logits, float32. x and e are [B, N], e may overwrite x; padding rows have no error and no
// loss.

#include <string.h>

#include "../../data.h"
#include "../../float32.h"
#include "../../opcodes.h"
#include "targets_f32.h"

void odt_binary_xent_f32(const odt_binary_xent_f32_t *a) {
    int32_t N = a->N, correct = 0;
    odt_targets_f32_t t = odt_targets_f32(a->c, a->target, N, a->B);
    float loss = odt_float((uint32_t)a->c[ODT_LOSS]);
    for (int32_t b = 0; b < a->B; b++) {
        const float *row = a->x + b * N;
        float *e = a->e + b * N;
        const uint8_t *sample = odt_sample(&t.samples, b);
        if (!sample) {
            memset(e, 0, (size_t)N * sizeof(float));
            continue;
        }
        for (int32_t i = 0; i < N; i++) {
            float x = row[i], y = odt_store(odt_target_f32(&t, sample, i));
            float power = odt_expf(x < 0.0f ? x : -x), whole = 1.0f + power;
            float p = x < 0.0f ? power / whole : x >= 0.0f ? 1.0f / whole : x; // NaN stays
            loss = loss + (((x > 0.0f ? x : 0.0f) - x * y) + odt_logf(whole));
            correct += (x > 0.0f) == (y > 0.5f);
            e[i] = odt_store((p - y) / t.count);
        }
    }
    a->c[ODT_LOSS] = (int32_t)odt_bits(loss);
    a->c[ODT_CORRECT] += correct;
}
