// More losses, int8: logits of yes and no, absolute and Huber's differences, weighted crossentropy.
// x and e are [B, N], e may lie in x; padding rows have no error and no loss.

#include <string.h>

#include "../data.h"
#include "../fixed.h"
#include "../opcodes.h"

static void add_loss(int32_t *c, uint64_t loss) {
    loss += (uint32_t)c[ODT_LOSS] | (uint64_t)(uint32_t)c[ODT_LOSS_HIGH] << 32;
    c[ODT_LOSS] = (int32_t)(uint32_t)loss;
    c[ODT_LOSS_HIGH] = (int32_t)(uint32_t)(loss >> 32);
}

// scale / (N * rows)
static uint32_t mean(uint32_t scale, int32_t N, const int32_t *c, int32_t B) {
    return odt_scale_div(scale, odt_scale_int((uint32_t)N * (uint32_t)odt_rows(c, B)));
}

#define PART_OF_127 odt_scale_div(ODT_ONE, odt_scale_int(127))

// How targets become integers: in steps of 1 / unit of a scale.
typedef struct {
    odt_samples_t samples;
    int32_t zero;
    uint32_t inverse;
    odt_multiplier_t q;
} targets_t;

static targets_t targets(const int32_t *c, const odt_region_t *region, int32_t N, int32_t shift,
    uint32_t sx) {
    targets_t t = {.samples = odt_samples(c, region, c[ODT_Y_FORMAT], N), .zero = c[ODT_Y_ZERO]};
    t.inverse = odt_scale_div(odt_scale_shift(ODT_ONE, shift), sx);
    t.q = odt_multiplier(odt_scale_div(odt_scale_shift(odt_scale(c[ODT_Y_SCALE]), shift), sx));
    return t;
}

static int32_t target(const targets_t *t, const uint8_t *sample, int32_t i) {
    int32_t raw = odt_element(sample, t->samples.format, i);
    return t->samples.format == ODT_FLOAT32 ? odt_quantize((uint32_t)raw, t->inverse)
        : odt_rescaled(odt_sat32((int64_t)raw - t->zero), t->q);
}

// D of mse_i8: the difference in 1/256 of the output's step.
static int32_t difference(const targets_t *t, const uint8_t *sample, int32_t i, int32_t x,
    int32_t z) {
    int64_t wide = ((int64_t)x - z) * 256 - target(t, sample, i);
    return odt_limit(odt_sat32(wide), -(1 << 24), 1 << 24);
}

void odt_binary_xent_i8(const odt_binary_xent_i8_t *a) {
    int32_t N = a->N, z = odt_limit(a->z, -128, 127), correct = 0;
    odt_multiplier_t q = odt_multiplier(odt_scale_mul(odt_scale(*a->sx), ODT_LOG2E));
    targets_t t = targets(a->c, a->target, N, 15, ODT_ONE);
    uint64_t loss = 0;
    *a->se = (int32_t)mean(PART_OF_127, N, a->c, a->B);
    for (int32_t b = 0; b < a->B; b++) {
        const int8_t *x = a->x + b * N;
        int8_t *e = a->e + b * N;
        const uint8_t *sample = odt_sample(&t.samples, b);
        if (!sample) {
            memset(e, 0, (size_t)N);
            continue;
        }
        for (int32_t i = 0; i < N; i++) {
            int32_t v = x[i] - z, T = odt_limit(target(&t, sample, i), 0, 32768);
            int32_t steps = odt_rescaled_byte(v < 0 ? -v : v, &q);
            uint32_t power = odt_exp2n(steps), whole = 65536 + power;
            int32_t P = (int32_t)((power * 32768 + whole / 2) / whole); // of the less likely
            P = v < 0 ? P : 32768 - P;
            int64_t wrong = odt_min(steps, 1 << 24) * (int64_t)(v < 0 ? T : 32768 - T);
            int64_t row = odt_log2q(whole) - 16 * 65536 + (wrong >> 15);
            row = (row * 45426 + 32768) >> 16;
            loss += row > 0 ? (uint64_t)row : 0;
            correct += (v > 0) == (T > 16384);
            e[i] = (int8_t)(((P - T) * 127 + 16384) >> 15);
        }
    }
    add_loss(a->c, loss);
    a->c[ODT_CORRECT] += correct;
}

void odt_mae_i8(const odt_mae_i8_t *a) {
    int32_t N = a->N;
    targets_t t = targets(a->c, a->target, N, 8, odt_scale(*a->sx));
    uint64_t loss = 0;
    *a->se = (int32_t)mean(PART_OF_127, N, a->c, a->B);
    for (int32_t b = 0; b < a->B; b++) {
        const int8_t *x = a->x + b * N;
        int8_t *e = a->e + b * N;
        const uint8_t *sample = odt_sample(&t.samples, b);
        if (!sample) {
            memset(e, 0, (size_t)N);
            continue;
        }
        for (int32_t i = 0; i < N; i++) {
            int32_t d = difference(&t, sample, i, x[i], a->z);
            loss += odt_magnitude(d);
            e[i] = d > 0 ? 127 : d < 0 ? -127 : 0;
        }
    }
    add_loss(a->c, loss);
}

void odt_huber_i8(const odt_huber_i8_t *a) {
    int32_t N = a->N, peak = *a->peak;
    uint32_t sx = odt_scale(*a->sx), se = odt_scale(*a->se);
    odt_multiplier_t to_error = odt_multiplier(odt_scale_div(odt_scale_shift(sx, -8), se));
    targets_t t = targets(a->c, a->target, N, 8, sx);
    int32_t delta = odt_limit(odt_quantize(odt_scale(a->delta), t.inverse), 1, 1 << 24);
    uint64_t loss = 0;
    *a->so = (int32_t)mean(se, N, a->c, a->B);
    for (int32_t b = 0; b < a->B; b++) {
        const int8_t *x = a->x + b * N;
        int8_t *e = a->e + b * N;
        const uint8_t *sample = odt_sample(&t.samples, b);
        if (!sample) {
            memset(e, 0, (size_t)N);
            continue;
        }
        for (int32_t i = 0; i < N; i++) {
            int32_t d = difference(&t, sample, i, x[i], a->z);
            int64_t size = odt_magnitude(d);
            loss += (uint64_t)(size <= delta ? size * size : delta * (2 * size - delta));
            d = odt_limit(d, -delta, delta);
            e[i] = odt_clamp(odt_rescaled(d, to_error), 0, -127, &peak);
        }
    }
    add_loss(a->c, loss);
    *a->peak = peak;
}

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
    add_loss(a->c, loss);
    a->c[ODT_CORRECT] += correct;
    // A micro-batch stands for its batch, in which all labels then weigh the same.
    uint64_t whole = (uint64_t)total * (uint32_t)odt_rows(a->c, a->B) / rows;
    total = whole > UINT32_MAX ? UINT32_MAX : (uint32_t)whole;
    uint32_t part = odt_scale_div(odt_scale_int((uint32_t)largest), odt_scale_int(127));
    *a->se = (int32_t)odt_scale_div(part, odt_scale_int(total));
}
