// The entropy of the softmax minus the entropy of the batch's mean softmax, int8. x and e are [B, N]; padding rows have
// no error and no loss.

#include <string.h>

#include "../../data.h"
#include "../../fixed.h"
#include "../../opcodes.h"
#include "../../common/elements.h"
#include "targets_i8.h"

#define MAX_SUM (1u << 30)
#define LN2 45426 // Q16

// The parts of a row's softmax.
typedef struct {
    const int8_t *x;
    odt_multiplier_t q;
    int32_t best, base;
    uint32_t sum;
} row_t;

static row_t row_of(const int8_t *x, int32_t N, odt_multiplier_t q) {
    row_t row = {.x = x, .q = q};
    for (int32_t i = 1; i < N; i++) {
        row.best = x[i] > x[row.best] ? i : row.best;
    }
    for (int32_t i = 0; i < N; i++) {
        row.sum += odt_exp2n(odt_rescaled_byte(x[row.best] - x[i], &q));
        row.sum = row.sum > MAX_SUM ? MAX_SUM : row.sum;
    }
    row.base = odt_log2q(row.sum) - 16 * 65536;
    return row;
}

// The probability P of class i in Q15; *bits is its -log2, Q16.
static int32_t part_of(const row_t *row, int32_t i, int32_t *bits) {
    int32_t t = odt_rescaled_byte(row->x[row->best] - row->x[i], &row->q);
    *bits = row->base + odt_min(t, 1 << 24);
    return (int32_t)((odt_exp2n(t) * 32768 + row->sum / 2) / row->sum);
}

void odt_entropy_i8(const odt_entropy_i8_t *a) {
    int32_t N = a->N, rows = 0, correct = 0, bits;
    int64_t diversity = odt_limit(a->diversity, 0, 1 << 20);
    uint32_t se = odt_scale(*a->se);
    odt_multiplier_t q = odt_multiplier(odt_scale_mul(odt_scale(*a->sx), ODT_LOG2E));
    odt_multiplier_t to_error = odt_multiplier(odt_scale_div(odt_scale_shift(ODT_ONE, -16), se));
    odt_samples_t samples = odt_samples(a->c, a->labels, a->c[ODT_Y_FORMAT], 1);
    odt_outputs_t outputs = odt_outputs_from(0, -127, *a->peak);
    uint64_t loss = 0;
    memset(a->sums, 0, (size_t)N * sizeof(int32_t));
    for (int32_t b = 0; b < a->B; b++) {
        const uint8_t *sample = odt_sample(&samples, b);
        if (!sample) {
            continue;
        }
        row_t row = row_of(a->x + b * N, N, q);
        for (int32_t i = 0; i < N; i++) {
            a->sums[i] = (int32_t)((uint32_t)a->sums[i] + (uint32_t)part_of(&row, i, &bits));
        }
        correct += odt_label(&samples, sample, N) == row.best;
        rows++;
    }
    for (int32_t i = 0; i < N; i++) { // -log2 of the mean softmax, times diversity
        uint32_t sum = (uint32_t)a->sums[i];
        int32_t part = odt_log2q(rows ? (uint32_t)rows : 1) + 15 * 65536 - odt_log2q(sum ? sum : 1);
        a->sums[i] = (int32_t)(diversity * part >> 16);
    }
    for (int32_t b = 0; b < a->B; b++) {
        int8_t *e = a->e + b * N;
        if (!odt_sample(&samples, b)) {
            memset(e, 0, (size_t)N);
            continue;
        }
        row_t row = row_of(a->x + b * N, N, q);
        int64_t entropy = 0, mean = 0;
        for (int32_t i = 0; i < N; i++) {
            int32_t part = part_of(&row, i, &bits);
            entropy += (int64_t)part * bits;
            mean += (int64_t)part * (bits - a->sums[i]);
        }
        mean >>= 15;
        for (int32_t i = 0; i < N; i++) {
            int32_t part = part_of(&row, i, &bits);
            int64_t w = part * (bits - a->sums[i] - mean) >> 15;
            e[i] = odt_output(&outputs, odt_rescaled((int32_t)((w * LN2 + 32768) >> 16), to_error));
        }
        entropy = ((entropy >> 15) * LN2 + 32768) >> 16;
        loss += entropy > 0 ? (uint64_t)entropy : 0;
    }
    odt_add_loss_i8(a->c, loss);
    a->c[ODT_CORRECT] += correct;
    *a->peak = outputs.peak;
    *a->so = (int32_t)odt_scale_div(se, odt_scale_int((uint32_t)odt_rows(a->c, a->B)));
}
