// Softmax and crossentropy with labels that are smoothed, of classes with weights, int8.
// x and e are [B, N], e may lie in x; padding rows have no error and no loss.

#include <string.h>

#include "../../data.h"
#include "../../fixed.h"
#include "../../opcodes.h"
#include "targets_i8.h"

// Weight of class i in a row with this label, Q15: what the softmax should be, times its sum.
static int32_t share(const odt_weighted_xent_i8_t *a, int32_t i, int32_t label) {
    uint32_t smooth = (uint32_t)odt_limit(a->smooth, 0, 65536);
    uint32_t weight = (uint32_t)odt_max(a->weights[i], 0);
    uint32_t v = smooth * weight / (uint32_t)a->N;
    v += i == label ? (65536 - smooth) * weight : 0;
    return (int32_t)((v + 32768) >> 16);
}

static int32_t shares(const odt_weighted_xent_i8_t *a, int32_t label) {
    int32_t sum = 0;
    for (int32_t i = 0; i < a->N; i++) {
        sum += share(a, i, label);
    }
    return sum;
}

static int32_t label_of(const odt_samples_t *samples, int32_t b, int32_t N) {
    const uint8_t *sample = odt_sample(samples, b);
    return sample ? odt_label(samples, sample, N) : -1;
}

void odt_weighted_xent_i8(const odt_weighted_xent_i8_t *a) {
    int32_t N = a->N, correct = 0;
    odt_multiplier_t q = odt_multiplier(odt_scale_mul(odt_scale(*a->sx), ODT_LOG2E));
    odt_samples_t samples = odt_samples(a->c, a->labels, a->c[ODT_Y_FORMAT], 1);
    uint64_t loss = 0;
    uint32_t total = 0, key = odt_hash32((uint32_t)a->c[ODT_KEY], (uint32_t)a->id);
    int32_t largest = 1;
    for (int32_t b = 0; b < a->B; b++) {
        int32_t label = label_of(&samples, b, N);
        largest = label < 0 ? largest : odt_max(largest, shares(a, label));
    }
    odt_multiplier_t to_error = odt_multiplier(odt_scale_div(odt_scale_int(127),
        odt_scale_shift(odt_scale_int((uint32_t)largest), 15)));
    for (int32_t b = 0; b < a->B; b++) {
        const int8_t *x = a->x + b * N;
        int8_t *e = a->e + b * N;
        int32_t label = label_of(&samples, b, N);
        if (label < 0) {
            memset(e, 0, (size_t)N);
            continue;
        }
        total += (uint32_t)odt_max(a->weights[label], 0);
        int32_t best = 0, whole = shares(a, label);
        for (int32_t i = 1; i < N; i++) {
            best = x[i] > x[best] ? i : best;
        }
        int32_t top = x[best];
        uint32_t sum = 0;
        for (int32_t i = 0; i < N; i++) {
            sum += odt_exp2n(odt_rescaled((top - x[i]) * 65536, q));
            sum = sum < 1u << 30 ? sum : 1u << 30;
        }
        int32_t base = odt_log2q(sum) - 16 * 65536;
        int64_t row = 0;
        for (int32_t i = 0; i < N; i++) {
            int32_t t = odt_rescaled((top - x[i]) * 65536, q), T = share(a, i, label);
            uint32_t P = (odt_exp2n(t) * 32768 + sum / 2) / sum;
            row += (int64_t)T * (base + odt_min(t, 1 << 24));
            int32_t v = odt_sat32((int64_t)P * whole - (int64_t)T * 32768);
            uint32_t u = odt_hash32(key, (uint32_t)(b * N + i));
            e[i] = (int8_t)odt_limit(odt_rescaled_random(v, to_error, u), -127, 127);
        }
        loss += row > 0 ? (uint64_t)row : 0;
        correct += label == best;
    }
    // The weighted mean, times the rows: the epoch's loss is then their mean.
    uint32_t rows = (uint32_t)odt_limit(a->c[ODT_COUNT], 1, a->B);
    total = total ? total : 1;
    loss = (loss / total * rows * 45426 + 32768) >> 16;
    odt_add_loss_i8(a->c, loss);
    a->c[ODT_CORRECT] += correct;
    // A micro-batch stands for its batch, in which all labels then weigh the same.
    uint64_t whole = (uint64_t)total * (uint32_t)odt_rows(a->c, a->B) / rows;
    total = whole > UINT32_MAX ? UINT32_MAX : (uint32_t)whole;
    uint32_t part = odt_scale_div(odt_scale_int((uint32_t)largest), odt_scale_int(127));
    *a->se = (int32_t)odt_scale_div(part, odt_scale_int(total));
}
