// More losses, float32: logits of yes and no, absolute and Huber's differences, weighted
// crossentropy. x and e are [B, N], e may lie in x; padding rows have no error and no loss.

#include <string.h>

#include "../data.h"
#include "../fixed.h"
#include "../float32.h"
#include "../opcodes.h"

typedef struct {
    odt_samples_t samples;
    int32_t zero;
    float scale, count;
} targets_t;

static targets_t targets(const int32_t *c, const odt_region_t *region, int32_t N, int32_t B) {
    targets_t t = {.samples = odt_samples(c, region, c[ODT_Y_FORMAT], N), .zero = c[ODT_Y_ZERO]};
    t.scale = odt_float((uint32_t)c[ODT_Y_SCALE]);
    t.count = (float)(N * odt_rows(c, B));
    return t;
}

static float target(const targets_t *t, const uint8_t *sample, int32_t i) {
    int32_t raw = odt_element(sample, t->samples.format, i);
    return t->samples.format == ODT_FLOAT32 ? odt_float((uint32_t)raw)
        : (float)odt_sat32((int64_t)raw - t->zero) * t->scale;
}

void odt_binary_xent_f32(const odt_binary_xent_f32_t *a) {
    int32_t N = a->N, correct = 0;
    targets_t t = targets(a->c, a->target, N, a->B);
    float loss = odt_float((uint32_t)a->c[ODT_LOSS]);
    for (int32_t b = 0; b < a->B; b++) {
        const float *row = a->x + b * N;
        float *e = a->e + b * N;
        const uint8_t *sample = odt_sample(&t.samples, b);
        if (!sample) {
            memset(e, 0, (size_t)N * sizeof(float));
            continue;
        }
        for (int32_t i = 0; i < N; i++) {
            float x = row[i], y = odt_store(target(&t, sample, i));
            float power = odt_expf(x < 0.0f ? x : -x), whole = 1.0f + power;
            float p = x < 0.0f ? power / whole : x >= 0.0f ? 1.0f / whole : x; // NaN stays
            loss = loss + (((x > 0.0f ? x : 0.0f) - x * y) + odt_logf(whole));
            correct += (x > 0.0f) == (y > 0.5f);
            e[i] = odt_store((p - y) / t.count);
        }
    }
    a->c[ODT_LOSS] = (int32_t)odt_bits(loss);
    a->c[ODT_CORRECT] += correct;
}

void odt_mae_f32(const odt_mae_f32_t *a) {
    int32_t N = a->N;
    targets_t t = targets(a->c, a->target, N, a->B);
    float loss = odt_float((uint32_t)a->c[ODT_LOSS]), step = 1.0f / t.count;
    for (int32_t b = 0; b < a->B; b++) {
        const float *x = a->x + b * N;
        float *e = a->e + b * N;
        const uint8_t *sample = odt_sample(&t.samples, b);
        if (!sample) {
            memset(e, 0, (size_t)N * sizeof(float));
            continue;
        }
        for (int32_t i = 0; i < N; i++) {
            float d = odt_store(x[i] - target(&t, sample, i));
            loss = loss + (d < 0.0f ? -d : d);
            e[i] = d < 0.0f ? -step : d > 0.0f ? step : d; // 0 and NaN stay
        }
    }
    a->c[ODT_LOSS] = (int32_t)odt_bits(loss);
}

void odt_huber_f32(const odt_huber_f32_t *a) {
    int32_t N = a->N;
    targets_t t = targets(a->c, a->target, N, a->B);
    float loss = odt_float((uint32_t)a->c[ODT_LOSS]), delta = odt_float(odt_scale(a->delta));
    for (int32_t b = 0; b < a->B; b++) {
        const float *x = a->x + b * N;
        float *e = a->e + b * N;
        const uint8_t *sample = odt_sample(&t.samples, b);
        if (!sample) {
            memset(e, 0, (size_t)N * sizeof(float));
            continue;
        }
        for (int32_t i = 0; i < N; i++) {
            float d = odt_store(x[i] - target(&t, sample, i)), size = d < 0.0f ? -d : d;
            if (size > delta) {
                loss = loss + delta * (size - delta * 0.5f);
                d = d < 0.0f ? -delta : delta;
            } else {
                loss = loss + (d * d) * 0.5f;
            }
            e[i] = odt_store(d / t.count);
        }
    }
    a->c[ODT_LOSS] = (int32_t)odt_bits(loss);
}

void odt_weighted_xent_f32(const odt_weighted_xent_f32_t *a) {
    int32_t N = a->N, correct = 0;
    float smooth = odt_float((uint32_t)a->smooth), most = 1.0f - smooth, part = smooth / (float)N;
    float rows = (float)odt_limit(a->c[ODT_COUNT], 1, a->B), total = 0.0f, sum_of_losses = 0.0f;
    odt_samples_t samples = odt_samples(a->c, a->labels, a->c[ODT_Y_FORMAT], 1);
    for (int32_t b = 0; b < a->B; b++) { // the labels' weights first: every error is a part of them
        const uint8_t *sample = odt_sample(&samples, b);
        int32_t label = sample ? odt_label(&samples, sample, N) : -1;
        if (label >= 0) {
            total = total + a->weights[label];
        }
    }
    // A micro-batch stands for its batch, in which all labels then weigh the same.
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
