// Softmax and cross-entropy with label smoothing and class weights, int8. x and e are [B, N], e may lie in x; padding
// rows have no error and no loss.

#include <string.h>

#include "../../data.h"
#include "../../fixed.h"
#include "../../opcodes.h"
#include "targets_i8.h"

// The target of class i in a row with this label, times the label's weight, Q15.
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

// A row with a label: the parts of its softmax.
typedef struct {
    const int8_t *x;
    int32_t best, whole, base;
    uint32_t sum;
} row_t;

// The label of a batch's row; -1 for padding.
static int32_t label_of(const odt_weighted_xent_i8_t *a, const odt_samples_t *samples, int32_t b) {
    const uint8_t *sample = odt_sample(samples, b);
    return sample ? odt_label(samples, sample, a->N) : -1;
}

static row_t row_of(const odt_weighted_xent_i8_t *a, int32_t label, int32_t b, odt_multiplier_t q) {
    row_t row = {.x = a->x + b * a->N, .whole = shares(a, label)};
    for (int32_t i = 1; i < a->N; i++) {
        row.best = row.x[i] > row.x[row.best] ? i : row.best;
    }
    for (int32_t i = 0; i < a->N; i++) {
        row.sum += odt_exp2n(odt_rescaled((row.x[row.best] - row.x[i]) * 65536, q));
        row.sum = row.sum < 1u << 30 ? row.sum : 1u << 30;
    }
    row.base = odt_log2q(row.sum) - 16 * 65536;
    return row;
}

// The row's error for class i, Q30. t: how far the class's logit lies below the largest; T: its share().
static int32_t error_of(const row_t *row, int32_t t, int32_t T) {
    uint32_t P = (odt_exp2n(t) * 32768 + row->sum / 2) / row->sum;
    return odt_sat32((int64_t)P * row->whole - (int64_t)T * 32768);
}

void odt_weighted_xent_i8(const odt_weighted_xent_i8_t *a) {
    int32_t N = a->N, correct = 0;
    odt_multiplier_t q = odt_multiplier(odt_scale_mul(odt_scale(*a->sx), ODT_LOG2E));
    odt_samples_t samples = odt_samples(a->c, a->labels, a->c[ODT_Y_FORMAT], 1);
    uint64_t loss = 0;
    uint32_t total = 0, key = odt_hash32((uint32_t)a->c[ODT_KEY], (uint32_t)a->id);
    // With smoothing alone the scale covers the largest possible error. With weights few errors come near that, so the
    // scale covers the batch's largest error.
    int differ = 0;
    for (int32_t i = 1; i < N; i++) {
        differ |= a->weights[i] != a->weights[0];
    }
    int32_t top = 1;
    for (int32_t b = 0; b < a->B; b++) {
        int32_t label = label_of(a, &samples, b);
        if (label < 0) {
            continue;
        }
        if (!differ) {
            top = odt_max(top, odt_sat32((int64_t)shares(a, label) * 32768));
            continue;
        }
        row_t row = row_of(a, label, b, q);
        for (int32_t i = 0; i < N; i++) {
            int32_t t = odt_rescaled((row.x[row.best] - row.x[i]) * 65536, q);
            int32_t v = error_of(&row, t, share(a, i, label));
            top = odt_max(top, v < 0 ? -v : v);
        }
    }
    odt_multiplier_t to_error = odt_multiplier(odt_scale_div(odt_scale_int(127), odt_scale_int((uint32_t)top)));
    for (int32_t b = 0; b < a->B; b++) {
        int8_t *e = a->e + b * N;
        int32_t label = label_of(a, &samples, b);
        if (label < 0) {
            memset(e, 0, (size_t)N);
            continue;
        }
        row_t row = row_of(a, label, b, q);
        total += (uint32_t)odt_max(a->weights[label], 0);
        int32_t best = row.x[row.best];
        int64_t sum = 0;
        for (int32_t i = 0; i < N; i++) {
            int32_t t = odt_rescaled((best - row.x[i]) * 65536, q), T = share(a, i, label);
            sum += (int64_t)T * (row.base + odt_min(t, 1 << 24));
            uint32_t u = odt_hash32(key, (uint32_t)(b * N + i));
            e[i] = (int8_t)odt_limit(odt_rescaled_random(error_of(&row, t, T), to_error, u), -127, 127);
        }
        loss += sum > 0 ? (uint64_t)sum : 0;
        correct += label == row.best;
    }
    // The weighted mean times the number of rows, so that the loss of an epoch is a mean over rows.
    uint32_t rows = (uint32_t)odt_limit(a->c[ODT_COUNT], 1, a->B);
    total = total ? total : 1;
    loss = (loss / total * rows * 45426 + 32768) >> 16;
    odt_add_loss_i8(a->c, loss);
    a->c[ODT_CORRECT] += correct;
    // A micro-batch stands for its batch, as if all labels of the batch had the same weights.
    uint64_t whole = (uint64_t)total * (uint32_t)odt_rows(a->c, a->B) / rows;
    total = whole > UINT32_MAX ? UINT32_MAX : (uint32_t)whole;
    uint32_t part = odt_scale_shift(odt_scale_div(odt_scale_int((uint32_t)top), odt_scale_int(127)), -15);
    *a->se = (int32_t)odt_scale_div(part, odt_scale_int(total));
}
