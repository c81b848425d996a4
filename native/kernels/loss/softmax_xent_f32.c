// Softmax and crossentropy with labels, float32. x and e are [B, N], e may lie in x; padding rows have no error and no
// loss.

#include <string.h>

#include "../../data.h"
#include "../../float32.h"
#include "../../opcodes.h"

void odt_softmax_xent_f32(const odt_softmax_xent_f32_t *a) {
    int32_t N = a->N, correct = 0;
    float count = (float)odt_rows(a->c, a->B), loss = odt_float((uint32_t)a->c[ODT_LOSS]);
    odt_samples_t samples = odt_samples(a->c, a->labels, a->c[ODT_Y_FORMAT], 1);
    for (int32_t b = 0; b < a->B; b++) {
        const float *x = a->x + b * N;
        float *e = a->e + b * N;
        const uint8_t *sample = odt_sample(&samples, b);
        if (!sample) {
            memset(e, 0, (size_t)N * sizeof(float));
            continue;
        }
        int32_t label = odt_label(&samples, sample, N);
        int32_t best = 0;
        for (int32_t i = 1; i < N; i++) {
            best = x[i] > x[best] ? i : best;
        }
        float top = x[best], sum = 0.0f;
        float at_label = label >= 0 ? x[label] : 0.0f;
        for (int32_t i = 0; i < N; i++) {
            e[i] = odt_expf(x[i] - top);
            sum = sum + e[i];
        }
        for (int32_t i = 0; i < N; i++) {
            e[i] = odt_store((e[i] / sum - (i == label ? 1.0f : 0.0f)) / count);
        }
        if (label >= 0) {
            loss = loss + (odt_logf(sum) - (at_label - top));
            correct += label == best;
        }
    }
    a->c[ODT_LOSS] = (int32_t)odt_bits(loss);
    a->c[ODT_CORRECT] += correct;
}
