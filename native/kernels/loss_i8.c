// Losses, int8: the error of the last layer's outputs x [B, N], and the batch's loss and hits.
// e may lie in x.

#include <string.h>

#include "../data.h"
#include "../fixed.h"
#include "../opcodes.h"

// S of a softmax stays below this, so that 254 * E + S and 2 * S are of 32 bits.
#define MAX_SUM (1u << 30)

enum { KEPT = 16 }; // outputs of a row whose powers are kept

static void add_loss(int32_t *c, uint64_t loss) {
    loss += (uint32_t)c[ODT_LOSS] | (uint64_t)(uint32_t)c[ODT_LOSS_HIGH] << 32;
    c[ODT_LOSS] = (int32_t)(uint32_t)loss;
    c[ODT_LOSS_HIGH] = (int32_t)(uint32_t)(loss >> 32);
}

void odt_softmax_xent_i8(const odt_softmax_xent_i8_t *a) {
    int32_t N = a->N, format = a->c[ODT_Y_FORMAT];
    odt_multiplier_t q = odt_multiplier(odt_scale_mul(odt_scale(*a->sx), ODT_LOG2E));
    odt_samples_t samples = odt_samples(a->c, a->labels, format, 1);
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
        for (int32_t i = 0; i < N; i++) {
            uint32_t power = odt_exp2n(odt_rescaled_byte(top - x[i], &q));
            sum = sum + power > MAX_SUM ? MAX_SUM : sum + power;
            if (i < KEPT) {
                powers[i] = power;
            }
        }
        if (label >= 0) {
            int32_t t = odt_min(odt_rescaled_byte(top - x[label], &q), 1 << 24);
            int64_t row = ((int64_t)(odt_log2q(sum) - 16 * 65536 + t) * 45426 + 32768) >> 16;
            loss += row > 0 ? (uint64_t)row : 0;
            correct += label == best;
        }
        for (int32_t i = 0; i < N; i++) {
            uint32_t p = i < KEPT ? powers[i] : odt_exp2n(odt_rescaled_byte(top - x[i], &q));
            e[i] = (int8_t)odt_divide(p * 254 + sum, 2 * sum);
        }
        if (label >= 0) {
            e[label] = (int8_t)(e[label] - 127);
        }
    }
    add_loss(a->c, loss);
    a->c[ODT_CORRECT] += correct;
}

void odt_mse_i8(const odt_mse_i8_t *a) {
    int32_t N = a->N, format = a->c[ODT_Y_FORMAT], zero = a->c[ODT_Y_ZERO], peak = *a->peak;
    uint32_t sx = odt_scale(*a->sx), se = odt_scale(*a->se);
    // Targets in 1/256 of the output's step.
    uint32_t inverse = odt_scale_div(odt_scale_shift(ODT_ONE, 8), sx);
    uint32_t scale = odt_scale_shift(odt_scale(a->c[ODT_Y_SCALE]), 8);
    odt_multiplier_t to_steps = odt_multiplier(odt_scale_div(scale, sx));
    odt_multiplier_t to_error = odt_multiplier(odt_scale_div(odt_scale_shift(sx, -8), se));
    odt_samples_t samples = odt_samples(a->c, a->target, format, N);
    uint64_t loss = 0;
    *a->so = (int32_t)odt_scale_div(odt_scale_shift(se, 1),
        odt_scale_int((uint32_t)N * (uint32_t)odt_rows(a->c, a->B)));
    for (int32_t b = 0; b < a->B; b++) {
        const int8_t *x = a->x + b * N;
        int8_t *e = a->e + b * N;
        const uint8_t *sample = odt_sample(&samples, b);
        if (!sample) {
            memset(e, 0, (size_t)N);
            continue;
        }
        for (int32_t i = 0; i < N; i++) {
            int32_t target = odt_element(sample, format, i);
            target = format == ODT_FLOAT32 ? odt_quantize((uint32_t)target, inverse)
                : odt_rescaled(odt_sat32((int64_t)target - zero), to_steps);
            int64_t wide = ((int64_t)x[i] - a->z) * 256 - target;
            int32_t d = odt_limit(odt_sat32(wide), -(1 << 24), 1 << 24);
            e[i] = odt_clamp(odt_rescaled(d, to_error), 0, -127, &peak);
            loss += (uint64_t)((int64_t)d * d);
        }
    }
    add_loss(a->c, loss);
    *a->peak = peak;
}
