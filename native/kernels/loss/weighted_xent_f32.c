// Softmax and cross-entropy with label smoothing and class weights, float32. x and e are [B, N], e may lie in x;
// padding rows have no error and no loss.

#include <string.h>

#include "../../data.h"
#include "../../fixed.h"
#include "../../float32.h"
#include "../../opcodes.h"

void odt_weighted_xent_f32(const odt_weighted_xent_f32_t *a) {
    int32_t N = a->N, correct = 0;
    float smooth = odt_float((uint32_t)a->smooth), most = 1.0f - smooth, part = smooth / (float)N;
    float rows = (float)odt_limit(a->c[ODT_COUNT], 1, a->B), total = 0.0f, sum_of_losses = 0.0f;
    odt_samples_t samples = odt_samples(a->c, a->labels, a->c[ODT_Y_FORMAT], 1);
    for (int32_t b = 0; b < a->B; b++) { // first the sum of the labels' weights: every error is divided by it
        const uint8_t *sample = odt_sample(&samples, b);
        int32_t label = sample ? odt_label(&samples, sample, N) : -1;
        if (label >= 0) {
            total = total + a->weights[label];
        }
    }
    // A micro-batch stands for its batch, as if all labels of the batch had the same weights.
    float batch = (total * (float)odt_rows(a->c, a->B)) / rows;
    for (int32_t b = 0; b < a->B; b++) {
        const float *x = a->x + b * N;
        float *e = a->e + b * N;
        const uint8_t *sample = odt_sample(&samples, b);
        int32_t label = sample ? odt_label(&samples, sample, N) : -1;
        if (label < 0 || !(total > 0.0f)) {
            memset(e, 0, (size_t)N * sizeof(float));
            continue;
        }
        int32_t best = 0;
        for (int32_t i = 1; i < N; i++) {
            best = x[i] > x[best] ? i : best;
        }
        float top = x[best], sum = 0.0f, whole = 0.0f, loss = 0.0f;
        for (int32_t i = 0; i < N; i++) {
            float T = (i == label ? part + most : part) * a->weights[i];
            whole = whole + T;
            sum = sum + odt_expf(x[i] - top);
        }
        float log_sum = odt_logf(sum);
        for (int32_t i = 0; i < N; i++) {
            float T = (i == label ? part + most : part) * a->weights[i];
            float power = odt_expf(x[i] - top);
            loss = loss + T * (log_sum - (x[i] - top));
            e[i] = odt_store(((power / sum) * whole - T) / batch);
        }
        sum_of_losses = sum_of_losses + loss;
        correct += label == best;
    }
    float loss = odt_float((uint32_t)a->c[ODT_LOSS]);
    if (total > 0.0f) {
        loss = loss + (sum_of_losses / total) * rows;
    }
    a->c[ODT_LOSS] = (int32_t)odt_bits(loss);
    a->c[ODT_CORRECT] += correct;
}
