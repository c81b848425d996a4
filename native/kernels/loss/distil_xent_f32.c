// Softmax and cross-entropy with labels, plus the squared distance to stored logits, float32. x and e are [B, N], e may
// overwrite x; padding rows have no error and no loss.

#include <string.h>

#include "../../data.h"
#include "../../float32.h"
#include "../../opcodes.h"

enum { NONE = -128 }; // the first logit of a row without stored logits

void odt_distil_xent_f32(const odt_distil_xent_f32_t *a) {
    int32_t N = a->N, correct = 0, format = a->c[ODT_Y_FORMAT], with_logits = a->c[ODT_Y_ZERO] == 1;
    float count = (float)odt_rows(a->c, a->B), loss = odt_float((uint32_t)a->c[ODT_LOSS]);
    float alpha = odt_float((uint32_t)a->alpha);
    odt_samples_t samples = odt_samples(a->c, a->labels, format, with_logits ? N + 1 : 1);
    for (int32_t b = 0; b < a->B; b++) {
        const float *x = a->x + b * N;
        float *e = a->e + b * N;
        const uint8_t *sample = odt_sample(&samples, b);
        if (!sample) {
            memset(e, 0, (size_t)N * sizeof(float));
            continue;
        }
        int32_t label = odt_label(&samples, sample, N), best = 0;
        int32_t has_logits = with_logits && (int8_t)odt_element(sample, format, 1) != NONE;
        for (int32_t i = 1; i < N; i++) {
            best = x[i] > x[best] ? i : best;
        }
        float top = x[best], sum = 0.0f, squares = 0.0f;
        for (int32_t i = 0; i < N; i++) {
            sum = sum + odt_expf(x[i] - top);
        }
        if (label >= 0) {
            loss = loss + (odt_logf(sum) - (x[label] - top));
            correct += label == best;
        }
        for (int32_t i = 0; i < N; i++) {
            float error = odt_expf(x[i] - top) / sum - (i == label ? 1.0f : 0.0f);
            if (has_logits) {
                float d = x[i] - (float)(int8_t)odt_element(sample, format, 1 + i) * 0.25f;
                squares = squares + d * d;
                error = error + d * (alpha + alpha);
            }
            e[i] = odt_store(error / count);
        }
        if (has_logits) {
            loss = loss + squares * alpha;
        }
    }
    a->c[ODT_LOSS] = (int32_t)odt_bits(loss);
    a->c[ODT_CORRECT] += correct;
}
