// Attention weights, rows mixed with these weights, the gradients of both, and positions, float32.

#include <string.h>

#include "../../float32.h"
#include "../../opcodes.h"
#include "../../common/inner_f32.h"

static float dot_f32(const float *a, const float *b, int32_t n) {
    float sum = 0.0f;
    for (int32_t k = 0; k < n; k++) {
        sum = sum + a[k] * b[k];
    }
    return odt_store(sum);
}

void odt_attend_f32(const odt_attend_f32_t *a) {
    int32_t G = a->G, T = a->T, S = a->S, K = a->K, width = G * K;
    float factor = odt_float((uint32_t)a->factor), *p = a->p;
    for (int32_t at = 0; at < a->B * G * T; at++, p += S) {
        int32_t t = at % T, g = at / T % G, b = at / (T * G), n = a->causal && t < S ? t + 1 : S;
        const float *query = a->a + (b * T + t) * width + g * K, *key = a->b + b * S * width + g * K;
        odt_poll();
        for (int32_t s = 0; s < n; s++, key += width) {
            p[s] = dot_f32(query, key, K) * factor;
        }
        odt_softmax_f32(&(odt_softmax_f32_t) {.y = p, .x = p, .M = 1, .N = n});
        memset(p + n, 0, (size_t)(S - n) * sizeof(float));
    }
}

void odt_attend_dx_f32(const odt_attend_dx_f32_t *a) {
    int32_t G = a->G, T = a->T, S = a->S, K = a->K, width = G * K;
    for (int32_t at = 0; at < a->B * G * T; at++) {
        int32_t t = at % T, g = at / T % G, b = at / (T * G);
        const float *e = a->e + (b * T + t) * width + g * K, *v = a->v + b * S * width + g * K;
        float *dp = a->dp + at * S;
        odt_poll();
        for (int32_t s = 0; s < S; s++, v += width) {
            dp[s] = dot_f32(e, v, K);
        }
        odt_softmax_dx_f32(&(odt_softmax_dx_f32_t) {.dx = dp, .e = dp, .y = a->p + at * S, .M = 1, .N = S});
    }
}

void odt_mix_f32(const odt_mix_f32_t *a) {
    int32_t rows = a->T, terms = a->S, row = a->back ? 1 : terms, step = a->back ? rows : 1;
    int32_t K = a->K, G = a->G, width = G * K;
    float factor = odt_float((uint32_t)a->factor);
    for (int32_t at = 0; at < a->B * G * rows; at++) {
        int32_t i = at % rows, g = at / rows % G, b = at / (rows * G);
        const float *w = a->a + (b * G + g) * rows * terms + i * row, *x = a->b + b * terms * width + g * K;
        float *y = a->y + (b * rows + i) * width + g * K;
        odt_poll();
        memset(y, 0, (size_t)K * sizeof(float));
        for (int32_t j = 0; j < terms; j++, w += step, x += width) {
            odt_axpy_f32(y, *w, x, K);
        }
        for (int32_t k = 0; k < K; k++) {
            y[k] = odt_store(odt_store(y[k]) * factor);
        }
    }
}

void odt_offset_f32(const odt_offset_f32_t *a) {
    for (int32_t b = 0; b < a->B; b++) {
        for (int32_t n = 0; n < a->N; n++) {
            a->y[b * a->N + n] = odt_store(a->x[b * a->N + n] + a->b[n]);
        }
    }
}
