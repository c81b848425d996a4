// Softmax and crossentropy with labels, int8. x and e are [B, N], e may lie in x; padding rows have no error and no loss.

#include <string.h>

#include "../../core.h"
#include "../../data.h"
#include "../../fixed.h"
#include "../../opcodes.h"
#include "../common/softmax__m0.h"
#include "targets_i8.h"

// S of a softmax stays below this, so that 254 * E + S and 2 * S are of 32 bits.
#define MAX_SUM (1u << 30)

enum { KEPT = 16 }; // outputs of a row whose powers are kept

void odt_softmax_xent_i8(const odt_softmax_xent_i8_t *a) {
    int32_t N = a->N, format = a->c[ODT_Y_FORMAT];
    odt_multiplier_t q = odt_multiplier(odt_scale_mul(odt_scale(*a->sx), ODT_LOG2E));
    odt_samples_t samples = odt_samples(a->c, a->labels, format, 1);
    #if ODT_M0 && !ODT_SMALL
    odt_softmax_t row;
    int is_usual = odt_begin_softmax(&row, N, &q, 254, 0);
    #endif
    uint64_t loss = 0;
    int32_t correct = 0;
    *a->se = (int32_t)odt_scale_div(ODT_ONE,
        odt_scale_int(127 * (uint32_t)odt_rows(a->c, a->B)));
    for (int32_t b = 0; b < a->B; b++) {
        const int8_t *x = a->x + b * N;
        int8_t *e = a->e + b * N;
        const uint8_t *sample = odt_sample(&samples, b);
        if (!sample) {
            memset(e, 0, (size_t)N);
            continue;
        }
        int32_t label = odt_label(&samples, sample, N);
        int32_t best = 0;
        for (int32_t i = 1; i < N; i++) {
            best = x[i] > x[best] ? i : best;
        }
        int32_t top = x[best];
        uint32_t sum = 0, powers[KEPT];
        #if ODT_M0 && !ODT_SMALL
        if (is_usual) {
            sum = odt_sum_softmax(&row, x, top);
        } else
        #endif
        for (int32_t i = 0; i < N; i++) {
            uint32_t power = odt_exp2n(odt_rescaled_byte(top - x[i], &q));
            sum = sum + power > MAX_SUM ? MAX_SUM : sum + power;
            if (i < KEPT) {
                powers[i] = power;
            }
        }
        if (label >= 0) {
            int32_t t = odt_min(odt_rescaled_byte(top - x[label], &q), 1 << 24);
            int64_t wrong = ((int64_t)(odt_log2q(sum) - 16 * 65536 + t) * 45426 + 32768) >> 16;
            loss += wrong > 0 ? (uint64_t)wrong : 0;
            correct += label == best;
        }
        #if ODT_M0 && !ODT_SMALL
        if (is_usual) {
            odt_finish_softmax(&row, e, x);
        } else
        #endif
        for (int32_t i = 0; i < N; i++) {
            uint32_t p = i < KEPT ? powers[i] : odt_exp2n(odt_rescaled_byte(top - x[i], &q));
            e[i] = (int8_t)odt_divide(p * 254 + sum, 2 * sum);
        }
        if (label >= 0) {
            e[label] = (int8_t)(e[label] - 127);
        }
    }
    odt_add_loss_i8(a->c, loss);
    a->c[ODT_CORRECT] += correct;
}
