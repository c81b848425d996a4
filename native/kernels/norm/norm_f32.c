// Normalisation, float32. A tensor is [M][S][G][C]; a group of S * C numbers shares its statistics. LayerNorm has S = G
// = 1. In GroupNorm M is the number of samples. BatchNorm has M = C = 1, and S includes the rows. st holds two numbers
// per group: the mean and 1 / deviation.

#include "../../fixed.h"
#include "../../float32.h"
#include "../../opcodes.h"

// 1 / sqrt(variance + eps); 0 if the sum is not positive.
static float inverse(float variance, int32_t eps) {
    float v = variance + odt_float((uint32_t)eps);
    return v > 0.0f ? odt_store(1.0f / odt_sqrtf(v)) : 0.0f;
}

// The statistics of S rows of C numbers, stride apart; returns the variance.
static float measure(float *st, const float *x, int32_t S, int32_t C, int32_t stride, int32_t eps) {
    float n = (float)(S * C), sum = 0.0f, squares = 0.0f;
    for (int32_t s = 0; s < S; s++) {
        for (int32_t c = 0; c < C; c++) {
            sum = sum + x[s * stride + c];
        }
    }
    float mean = odt_store(sum / n);
    for (int32_t s = 0; s < S; s++) {
        for (int32_t c = 0; c < C; c++) {
            float d = odt_store(x[s * stride + c] - mean);
            squares = squares + d * d;
        }
    }
    float variance = odt_store(squares / n);
    st[0] = mean;
    st[1] = inverse(variance, eps);
    return variance;
}

void odt_norm_stats_f32(const odt_norm_stats_f32_t *a) {
    int32_t width = a->G * a->C;
    for (int32_t m = 0; m < a->M; m++) {
        const float *x = a->x + m * a->S * width;
        for (int32_t g = 0; g < a->G; g++) {
            measure(a->st + 2 * (m * a->G + g), x + g * a->C, a->S, a->C, width, a->eps);
        }
    }
}

void odt_batch_stats_f32(const odt_batch_stats_f32_t *a) {
    if (!a->c[ODT_KEY]) {
        return;
    }
    int32_t rows = odt_limit(a->c[ODT_COUNT], 1, a->B) * a->S;
    for (int32_t n = 0; n < a->N; n++) {
        a->va[n] = measure(a->st + 2 * n, a->x + n, rows, 1, a->N, a->eps);
    }
}

void odt_running_stats_f32(const odt_running_stats_f32_t *a) {
    for (int32_t n = 0; n < a->N; n++) {
        a->st[2 * n] = a->mean[n];
        a->st[2 * n + 1] = inverse(a->var[n], a->eps);
    }
}

void odt_track_f32(const odt_track_f32_t *a) {
    float keep = odt_float((uint32_t)a->keep), rest = odt_float((uint32_t)a->rest);
    for (int32_t n = 0; n < a->N; n++) {
        a->mean[n] = odt_store(keep * a->mean[n] + rest * a->st[2 * n]);
        a->var[n] = odt_store(keep * a->var[n] + rest * a->va[n]);
    }
}

static float normalised(float x, const float *st) {
    return odt_store(odt_store(x - st[0]) * st[1]);
}

void odt_norm_f32(const odt_norm_f32_t *a) {
    int32_t width = a->G * a->C;
    for (int32_t i = 0; i < a->M * a->S; i++) {
        const float *st = a->st + 2 * (i / a->S * a->G);
        for (int32_t n = 0; n < width; n++) {
            float h = normalised(a->x[i * width + n], st + 2 * (n / a->C));
            float y = h * a->gamma[n] + a->beta[n];
            a->y[i * width + n] = a->relu && y < 0.0f ? 0.0f : odt_store(y);
        }
    }
}

void odt_norm_dw_f32(const odt_norm_dw_f32_t *a) {
    int32_t width = a->G * a->C;
    for (int32_t n = 0; n < width; n++) {
        float sum = 0.0f;
        for (int32_t i = 0; i < a->M * a->S; i++) {
            const float *st = a->st + 2 * (i / a->S * a->G + n / a->C);
            sum = sum + a->e[i * width + n] * normalised(a->x[i * width + n], st);
        }
        a->dw[n] = odt_store(sum);
    }
}

void odt_norm_dx_f32(const odt_norm_dx_f32_t *a) {
    int32_t width = a->G * a->C, S = a->S;
    if (a->rows > 0) {
        int64_t rows = (int64_t)odt_max(a->c[ODT_COUNT], 1) * a->rows;
        S = rows < S ? (int32_t)rows : S;
    }
    float n = (float)(S * a->C);
    for (int32_t m = 0; m < a->M; m++) {
        for (int32_t g = 0; g < a->G; g++) {
            const float *st = a->st + 2 * (m * a->G + g), *gamma = a->gamma + g * a->C;
            int32_t at = m * a->S * width + g * a->C;
            const float *e = a->e + at, *x = a->x + at;
            float *dx = a->dx + at;
            float mean = 0.0f, slope = 0.0f;
            for (int32_t s = 0; s < S; s++) {
                for (int32_t c = 0; c < a->C; c++) {
                    float v = odt_store(e[s * width + c] * gamma[c]);
                    mean = mean + v;
                    slope = slope + v * normalised(x[s * width + c], st);
                }
            }
            mean = odt_store(mean / n);
            slope = odt_store(slope / n);
            for (int32_t s = 0; s < a->S; s++) {
                for (int32_t c = 0; c < a->C; c++) {
                    float v = odt_store(e[s * width + c] * gamma[c]);
                    v = odt_store((v - mean) - normalised(x[s * width + c], st) * slope);
                    dx[s * width + c] = s < S ? odt_store(v * st[1]) : 0.0f;
                }
            }
        }
    }
}

void odt_affine_dx_f32(const odt_affine_dx_f32_t *a) {
    for (int32_t m = 0; m < a->M; m++) {
        for (int32_t n = 0; n < a->N; n++) {
            float v = odt_store(a->e[m * a->N + n] * a->gamma[n]);
            a->dx[m * a->N + n] = odt_store(v * a->st[2 * n + 1]);
        }
    }
}
