// Attention weights and their gradient, int8. A row of scores stays a row of int32 sums; it is never rounded to bytes.

#include "../../core.h"
#include "../../fixed.h"
#include "../../opcodes.h"
#include "../../common/inner_i8.h"
#include "../../common/rescale.h"
#include "../../cores/correlate.h"

// sums[s] = x . rows[s], rows `width` bytes apart.
static void score_rows(int32_t *sums, const int8_t *x, const int8_t *rows, int32_t width, int32_t count, int32_t K) {
    int32_t s = 0;
    #if ODT_PANEL && !ODT_SMALL
    if (count >= 4) {
        odt_dot4_i8(x, rows, width, K, 0, sums, count >> 2);
        s = count & ~3;
    }
    #endif
    for (; s < count; s++) {
        sums[s] = odt_dot_i8(x, rows + s * width, K);
    }
}

static __attribute__((noinline)) int32_t scaled_random(const odt_rescaler_t *q, int32_t v, uint32_t u) {
    return odt_rescale_random_by(q, v, u);
}

#define HALF (1u << 31) // makes odt_rescaled_random() round to nearest

void odt_attend_i8(const odt_attend_i8_t *a) {
    int32_t G = a->G, S = a->S, K = a->K, width = G * K, *row = a->r;
    odt_rescaler_t q = odt_rescaler(odt_checked(a->q));
    int8_t *p = a->p;
    for (int32_t b = 0; b < a->B; b++) {
        for (int32_t g = 0; g < G; g++) {
            const int8_t *query = a->a + b * a->T * width + g * K, *keys = a->b + b * S * width + g * K;
            for (int32_t t = 0; t < a->T; t++, query += width, p += S) {
                int32_t n = a->causal && t < S ? t + 1 : S, top = INT32_MIN;
                uint32_t sum = 0;
                odt_poll();
                score_rows(row, query, keys, width, n, K);
                for (int32_t s = 0; s < n; s++) {
                    top = odt_max(top, row[s]);
                }
                for (int32_t s = 0; s < n; s++) {
                    int32_t below = odt_max(odt_wrap_sub(top, row[s]), 0);
                    row[s] = (int32_t)odt_exp2n(odt_max(scaled_random(&q, below, HALF), 0));
                    sum += (uint32_t)row[s];
                    sum = sum < 1u << 30 ? sum : 1u << 30;
                }
                for (int32_t s = 0; s < S; s++) {
                    uint32_t share = s < n ? odt_divide(512 * (uint32_t)row[s] + sum, 2 * sum) : 0;
                    p[s] = (int8_t)odt_min((int32_t)share - 128, 127);
                }
            }
        }
    }
}

void odt_attend_dx_i8(const odt_attend_dx_i8_t *a) {
    int32_t G = a->G, S = a->S, K = a->K, width = G * K, *row = a->r, peak = *a->peak;
    uint32_t key = odt_hash32((uint32_t)a->c[ODT_KEY], (uint32_t)a->id);
    uint32_t at = (uint32_t)a->c[ODT_POSITION] * (uint32_t)(G * a->T * S);
    odt_rescaler_t q = odt_rescaler(odt_checked(a->q));
    const int8_t *p = a->p;
    int8_t *dp = a->dp;
    for (int32_t b = 0; b < a->B; b++) {
        for (int32_t g = 0; g < G; g++) {
            const int8_t *e = a->e + b * a->T * width + g * K, *values = a->v + b * S * width + g * K;
            for (int32_t t = 0; t < a->T; t++, e += width, p += S) {
                uint32_t mean = 128;
                odt_poll();
                score_rows(row, e, values, width, S, K);
                for (int32_t s = 0; s < S; s++) { // a weight of 0, which is -128, has no gradient
                    mean -= (uint32_t)row[s] * (uint32_t)(p[s] + 128);
                }
                for (int32_t s = 0; s < S; s++, at++) {
                    int32_t x = odt_wrap_mul((int32_t)(256 * (uint32_t)row[s] + mean) >> 8, p[s] + 128);
                    *dp++ = odt_clamp(scaled_random(&q, x, odt_hash32(key, at)), 0, -127, &peak);
                }
            }
        }
    }
    *a->peak = peak;
}
