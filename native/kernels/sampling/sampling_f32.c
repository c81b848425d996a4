// Sampling and its divergence, float32.

#include "../../data.h"
#include "../../float32.h"
#include "../../opcodes.h"
#include "../../common/step_key.h"
#include "sampling.h"

#define TOP 0x40B17218u // 8 ln 2, the largest v that counts

// exp(v / 2)
static float half_power(float v) {
    if (v > 0.0f) {
        float top = odt_float(TOP);
        v = v < top ? v : top;
        return 1.0f / odt_expf(v * -0.5f);
    }
    return v <= 0.0f ? odt_expf(v * 0.5f) : v; // NaN
}

static float divergence(float mean, float v, float power) {
    float total = mean * mean + power * power;
    return (total - v - 1.0f) * 0.5f;
}

static float normal_at(const odt_normal_t *r, int32_t i) {
    return (float)odt_normal_at(r, i) * odt_float(ODT_NORMAL);
}

void odt_sampling_f32(const odt_sampling_f32_t *a) {
    odt_normal_t random = odt_normal(odt_begin_step(a->h, a->c), a->c, a->id, a->N);
    const float *row = a->x;
    int32_t i = 0;
    for (int32_t b = 0; b < a->B; b++, row += 2 * a->N) {
        for (int32_t n = 0; n < a->N; n++, i++) {
            a->y[i] = odt_store(row[n] + half_power(row[a->N + n]) * normal_at(&random, i));
        }
    }
}

void odt_divergence_f32(const odt_divergence_f32_t *a) {
    uint32_t warmup = (uint32_t)odt_max(1, a->warmup), t = (uint32_t)a->h[0];
    uint32_t rise = odt_scale_div(odt_scale_int(t < warmup ? t + 1 : warmup), odt_scale_int(warmup));
    float beta = odt_float(odt_scale_mul(odt_scale(a->beta), rise)), free = odt_float((uint32_t)a->free);
    const float *row = a->x;
    for (int32_t b = odt_min(a->B, a->c[ODT_COUNT]); b > 0; b--, row += 2 * a->N) {
        float total = 0.0f;
        for (int32_t n = 0; n < a->N; n++) {
            float v = row[a->N + n], d = divergence(row[n], v, half_power(v));
            total = total + (d < free ? free : d);
        }
        a->c[ODT_LOSS] = (int32_t)odt_bits(odt_float((uint32_t)a->c[ODT_LOSS]) + beta * total);
    }
    *a->sk = odt_store(beta / (float)odt_max(1, a->width) / (float)odt_rows(a->c, a->B));
}

void odt_sampling_dx_f32(const odt_sampling_dx_f32_t *a) {
    odt_normal_t random = odt_normal(a->c[ODT_KEY], a->c, a->id, a->N);
    float free = odt_float((uint32_t)a->free);
    const float *row = a->x;
    float *dx = a->dx;
    int32_t i = 0;
    for (int32_t b = 0; b < a->B; b++, row += 2 * a->N, dx += 2 * a->N) {
        for (int32_t n = 0; n < a->N; n++, i++) {
            float mean = row[n], v = row[a->N + n], e = a->e[i], power = half_power(v);
            float k = divergence(mean, v, power) < free ? 0.0f : *a->sk;
            dx[n] = odt_store(e + k * mean);
            float spread = k * (power * power - 1.0f), noise = e * (power * normal_at(&random, i));
            dx[a->N + n] = odt_store((noise + spread) * 0.5f);
        }
    }
}
