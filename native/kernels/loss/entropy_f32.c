// The entropy of the softmax minus the entropy of the batch's mean softmax, float32. x and e are [B, N], e may lie in
// x; padding rows have no error and no loss.

#include <string.h>

#include "../../data.h"
#include "../../float32.h"
#include "../../opcodes.h"

// log(x), or 0 if x is not positive.
static float logarithm(float x) {
    return x > 0.0f ? odt_logf(x) : 0.0f;
}

void odt_entropy_f32(const odt_entropy_f32_t *a) {
    int32_t N = a->N, rows = 0, correct = 0;
    float count = (float)odt_rows(a->c, a->B), diversity = odt_float((uint32_t)a->diversity);
    float loss = odt_float((uint32_t)a->c[ODT_LOSS]);
    odt_samples_t samples = odt_samples(a->c, a->labels, a->c[ODT_Y_FORMAT], 1);
    for (int32_t i = 0; i < N; i++) {
        a->sums[i] = 0.0f;
    }
    for (int32_t b = 0; b < a->B; b++) { // e becomes the softmax
        const float *x = a->x + b * N;
        float *e = a->e + b * N;
        const uint8_t *sample = odt_sample(&samples, b);
        if (!sample) {
            memset(e, 0, (size_t)N * sizeof(float));
            continue;
        }
        int32_t best = 0;
        for (int32_t i = 1; i < N; i++) {
            best = x[i] > x[best] ? i : best;
        }
        float top = x[best], sum = 0.0f;
        for (int32_t i = 0; i < N; i++) {
            e[i] = odt_expf(x[i] - top);
            sum = sum + e[i];
        }
        for (int32_t i = 0; i < N; i++) {
            e[i] = odt_store(e[i] / sum);
            a->sums[i] = a->sums[i] + e[i];
        }
        correct += odt_label(&samples, sample, N) == best;
        rows++;
    }
    for (int32_t i = 0; i < N; i++) {
        a->sums[i] = diversity * logarithm(odt_store(a->sums[i] / (float)rows));
    }
    for (int32_t b = 0; b < a->B; b++) {
        float *e = a->e + b * N;
        if (!odt_sample(&samples, b)) {
            continue;
        }
        float mean = 0.0f, entropy = 0.0f;
        for (int32_t i = 0; i < N; i++) {
            float own = logarithm(e[i]);
            mean = mean + e[i] * (a->sums[i] - own);
            entropy = entropy + e[i] * own;
        }
        for (int32_t i = 0; i < N; i++) {
            e[i] = odt_store(e[i] * (a->sums[i] - logarithm(e[i]) - mean) / count);
        }
        loss = loss - entropy;
    }
    a->c[ODT_LOSS] = (int32_t)odt_bits(loss);
    a->c[ODT_CORRECT] += correct;
}
