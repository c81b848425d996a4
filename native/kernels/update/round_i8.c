// Applies directions [N, K] to weights [N, K] without residuals, rounded to whole steps of their scale with a hash of
// KEY, the parameter's id and the element.

#include "../../fixed.h"
#include "../../opcodes.h"
#include "../../common/rescale.h"
#include "../../common/axis_part.h"

// Doubles the scale of `count` rows of K weights and halves the weights, rounding halves to even.
static void halve_rows_rounded(int8_t *w, int32_t *sw, int32_t K, int32_t first, int32_t count) {
    for (int32_t i = first * K; i < (first + count) * K; i++) {
        w[i] = (int8_t)((w[i] + ((w[i] >> 1) & 1)) >> 1);
    }
    for (int32_t n = first; n < first + count; n++) {
        sw[n] = (int32_t)odt_scale_shift(odt_scale(sw[n]), 1);
    }
}

// One row; returns whether a weight was limited.
static int round_row(const odt_rescaler_t *q, const int32_t *d, int8_t *w, int32_t K, uint32_t key, uint32_t i) {
    int is_limited = 0;
    for (int32_t k = 0; k < K; k++, i++) {
        int32_t change = odt_limit(odt_rescale_random_by(q, d[k], odt_hash32(key, i)), -255, 255); // beyond any weight
        int32_t v = w[k] - change;
        if (v > 127 || v < -127) {
            v = v > 0 ? 127 : -127;
            is_limited = 1;
        }
        w[k] = (int8_t)v;
    }
    return is_limited;
}

void odt_round_i8(const odt_round_i8_t *a) {
    int32_t K = a->K;
    if (*a->rate == 0 || !odt_within(a->at, a->R, a->N)) {
        return;
    }
    uint32_t rate = odt_scale(*a->rate), key = odt_hash32((uint32_t)a->c[ODT_KEY], (uint32_t)a->id);
    int32_t is_limited = a->common && a->at ? *a->limited != 0 : 0;
    for (int32_t n = a->at; n < a->at + a->R; n++) {
        uint32_t step = odt_scale_div(odt_scale_mul(rate, odt_scale(a->ds[n - a->at])), odt_scale(a->sw[n]));
        odt_rescaler_t q = odt_rescaler(odt_multiplier(step));
        is_limited |= round_row(&q, a->d + (n - a->at) * K, a->w + n * K, K, key, (uint32_t)n * (uint32_t)K);
        if (is_limited && !a->common) {
            halve_rows_rounded(a->w, a->sw, K, n, 1);
            is_limited = 0;
        }
    }
    if (is_limited && a->at + a->R == a->N) {
        halve_rows_rounded(a->w, a->sw, K, 0, a->N);
        is_limited = 0;
    }
    *a->limited = is_limited;
}
