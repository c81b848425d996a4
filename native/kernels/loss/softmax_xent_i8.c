// Softmax and crossentropy with labels, int8. x and e are [B, N], e may lie in x; padding rows have no error and no
// loss.

#include <string.h>

#include "../../core.h"
#include "../../data.h"
#include "../../fixed.h"
#include "../../opcodes.h"
#include "../../cores/m0/softmax__rp2040.h"
#include "targets_i8.h"

ODT_BESIDE_ASSEMBLY

// A softmax's S stays below this, so that 254 * E + S and 2 * S fit 32 bits.
#define MAX_SUM (1u << 30)

enum { KEPT = 16 }; // largest number of outputs whose powers are kept

// Writes e = 127 * softmax(x) for a row; returns the largest x, its first place, and S.
typedef struct {
    int32_t top, best;
    uint32_t sum;
} row_t;

static __attribute__((noinline)) row_t softmax_of(const int8_t *x, int8_t *e, int32_t N, const odt_multiplier_t *q) {
    int32_t best = 0;
    for (int32_t i = 1; i < N; i++) {
        best = x[i] > x[best] ? i : best;
    }
    int32_t top = x[best];
    uint32_t sum = 0, powers[KEPT];
    for (int32_t i = 0; i < N; i++) {
        uint32_t power = odt_exp2n(odt_rescaled_byte(top - x[i], q));
        sum = sum + power > MAX_SUM ? MAX_SUM : sum + power;
        if (i < KEPT) {
            powers[i] = power;
        }
    }
    for (int32_t i = 0; i < N; i++) {
        uint32_t p = i < KEPT ? powers[i] : odt_exp2n(odt_rescaled_byte(top - x[i], q));
        e[i] = (int8_t)odt_divide(p * 254 + sum, 2 * sum);
    }
    return (row_t) {top, best, sum};
}

// -ln of an output's probability, Q16, at least 0. The output's power is 2^-(below / 65536) times the largest.
static uint32_t loss_of(uint32_t sum, int32_t below) {
    int32_t v = odt_log2q(sum) - 16 * 65536 + odt_min(below, 1 << 24);
    // v * ln 2, in two halves
    return v <= 0 ? 0 : ((uint32_t)v >> 16) * 45426 + ((((uint32_t)v & 65535) * 45426 + 32768) >> 16);
}

#if ODT_RP2040

enum { ROWS = 256, SHUFFLED = 32 }; // rows per call; shuffled rows per call: their labels are copied

// The number of rows from b on that hold samples; sets rows->labels to their labels. At most SHUFFLED labels are copied
// to `labels`.
static int32_t find_labels(odt_softmax_t *rows, const odt_softmax_xent_i8_t *a, const odt_samples_t *samples, int32_t b,
    uint8_t *labels) {
    int32_t count = odt_min(samples->count, (int32_t)samples->stored - samples->position);
    count = odt_min(odt_min(count, a->B) - b, ROWS);
    if (samples->format == ODT_UINT8 && !samples->order && count > 0) { // the labels lie in order
        rows->labels = samples->region->data + samples->position + b;
        return count;
    }
    rows->labels = labels;
    for (count = 0; count < SHUFFLED && b + count < a->B; count++) {
        const uint8_t *sample = odt_sample(samples, b + count);
        int32_t label = sample ? odt_label(samples, sample, a->N) : -1;
        if (label < 0 && (!sample || a->N > 255)) {
            break;
        }
        labels[count] = (uint8_t)label; // 255 if it is not a class
    }
    return count;
}

#endif

void odt_softmax_xent_i8(const odt_softmax_xent_i8_t *a) {
    int32_t N = a->N;
    odt_multiplier_t q = odt_multiplier(odt_scale_mul(odt_scale(*a->sx), ODT_LOG2E));
    odt_samples_t samples = odt_samples(a->c, a->labels, a->c[ODT_Y_FORMAT], 1);
    uint64_t loss = 0;
    int32_t correct = 0;
    #if ODT_RP2040
    odt_softmax_t rows;
    uint8_t labels[SHUFFLED];
    int is_usual = odt_begin_softmax(&rows, N, &q, 254, 0);
    #endif
    *a->se = (int32_t)odt_scale_div(ODT_ONE,
        odt_scale_int(127 * (uint32_t)odt_rows(a->c, a->B)));
    for (int32_t b = 0; b < a->B; b++) {
        const int8_t *x = a->x + b * N;
        int8_t *e = a->e + b * N;
        #if ODT_RP2040
        int32_t count = is_usual ? find_labels(&rows, a, &samples, b, labels) : 0;
        if (count) {
            odt_softmax_rows(&rows, x, e, count);
            loss += rows.loss;
            correct += rows.correct;
            b += count - 1;
            continue;
        }
        #endif
        const uint8_t *sample = odt_sample(&samples, b);
        if (!sample) {
            memset(e, 0, (size_t)N);
            continue;
        }
        int32_t label = odt_label(&samples, sample, N), below = label < 0 ? 0 : -x[label];
        row_t row = softmax_of(x, e, N, &q);
        below = odt_rescaled_byte(row.top + below, &q);
        if (label >= 0) {
            loss += loss_of(row.sum, below);
            correct += label == row.best;
            e[label] = (int8_t)(e[label] - 127);
        }
    }
    odt_add_loss_i8(a->c, loss);
    a->c[ODT_CORRECT] += correct;
}
