// Softmax and cross-entropy with labels, plus the squared distance to stored logits, int8. x and e are [B, N], e may
// overwrite x; padding rows have no error and no loss.

#include <string.h>

#include "../../data.h"
#include "../../fixed.h"
#include "../../opcodes.h"
#include "targets_i8.h"

#define MAX_SUM (1u << 30)

enum { NONE = -128, FAR = 1 << 14 }; // the first logit of a row without stored logits; 64 nats in Q8

void odt_distil_xent_i8(const odt_distil_xent_i8_t *a) {
    int32_t N = a->N, z = odt_limit(a->z, -128, 127), correct = 0;
    int32_t format = a->c[ODT_Y_FORMAT], with_logits = a->c[ODT_Y_ZERO] == 1;
    uint32_t sx = odt_scale(*a->sx);
    int64_t weight = odt_limit(a->alpha, 0, 1 << 23);
    odt_multiplier_t q = odt_multiplier(odt_scale_mul(sx, ODT_LOG2E));
    odt_multiplier_t to_nats = odt_multiplier(odt_scale_shift(sx, 8));
    odt_samples_t samples = odt_samples(a->c, a->labels, format, with_logits ? N + 1 : 1);
    uint64_t loss = 0;
    *a->se = (int32_t)odt_scale_div(ODT_ONE, odt_scale_int(127 * (uint32_t)odt_rows(a->c, a->B)));
    for (int32_t b = 0; b < a->B; b++) {
        const int8_t *x = a->x + b * N;
        int8_t *e = a->e + b * N;
        const uint8_t *sample = odt_sample(&samples, b);
        if (!sample) {
            memset(e, 0, (size_t)N);
            continue;
        }
        int32_t label = odt_label(&samples, sample, N), best = 0;
        int32_t has_logits = with_logits && (int8_t)odt_element(sample, format, 1) != NONE;
        for (int32_t i = 1; i < N; i++) {
            best = x[i] > x[best] ? i : best;
        }
        int32_t top = x[best];
        uint32_t sum = 0;
        for (int32_t i = 0; i < N; i++) {
            sum += odt_exp2n(odt_rescaled_byte(top - x[i], &q));
            sum = sum > MAX_SUM ? MAX_SUM : sum;
        }
        if (label >= 0) {
            int32_t t = odt_min(odt_rescaled_byte(top - x[label], &q), 1 << 24);
            int64_t row = ((int64_t)(odt_log2q(sum) - 16 * 65536 + t) * 45426 + 32768) >> 16;
            loss += row > 0 ? (uint64_t)row : 0;
            correct += label == best;
        }
        uint64_t squares = 0;
        for (int32_t i = 0; i < N; i++) {
            uint32_t p = odt_exp2n(odt_rescaled_byte(top - x[i], &q));
            int32_t error = (int32_t)((p * 254 + sum) / (2 * sum)) - (i == label ? 127 : 0);
            if (has_logits) {
                int32_t logit = (int8_t)odt_element(sample, format, 1 + i);
                int32_t d = odt_limit(odt_sat32((int64_t)odt_rescaled(x[i] - z, to_nats) - 64 * logit), -FAR, FAR);
                squares += (uint32_t)(d * d);
                error += (int32_t)((d * 254 * weight + (1 << 23)) >> 24);
            }
            e[i] = (int8_t)odt_limit(error, -127, 127);
        }
        squares = squares < (uint64_t)1 << 40 ? squares : (uint64_t)1 << 40;
        loss += (squares * (uint64_t)weight) >> 16;
    }
    odt_add_loss_i8(a->c, loss);
    a->c[ODT_CORRECT] += correct;
}
