// Rows mixed with the attention weights, head by head, int8: values to outputs, and errors back to queries, keys and
// values.

#include "../../core.h"
#include "../../fixed.h"
#include "../../opcodes.h"
#include "../../common/rescale.h"

enum { SIDE = 4 }; // columns that are summed side by side

#if !ODT_SMALL

// Sums of SIDE columns: x times (w - zero). The terms of w lie `step` bytes apart, those of x `width`.
static void mix_four(int32_t *sums, const int8_t *w, int32_t step, int32_t zero, const int8_t *x, int32_t width,
    int32_t terms) {
    int32_t s0 = 0, s1 = 0, s2 = 0, s3 = 0;
    for (; terms; terms--, w += step, x += width) {
        int32_t factor = *w - zero;
        s0 = odt_wrap_add(s0, factor * x[0]);
        s1 = odt_wrap_add(s1, factor * x[1]);
        s2 = odt_wrap_add(s2, factor * x[2]);
        s3 = odt_wrap_add(s3, factor * x[3]);
    }
    sums[0] = s0;
    sums[1] = s1;
    sums[2] = s2;
    sums[3] = s3;
}

#endif

void odt_mix_i8(const odt_mix_i8_t *a) {
    int32_t rows = a->T, terms = a->S, row = a->back ? 1 : terms, step = a->back ? rows : 1;
    int32_t K = a->K, width = a->G * K, zero = odt_limit(a->za, -128, 127), peak = *a->peak;
    uint32_t key = odt_hash32((uint32_t)a->c[ODT_KEY], (uint32_t)a->id);
    uint32_t first = (uint32_t)a->c[ODT_POSITION] * (uint32_t)(rows * width);
    odt_rescaler_t q = odt_rescaler(odt_checked(a->q));
    const int8_t *head = a->a;
    for (int32_t b = 0; b < a->B; b++) {
        for (int32_t g = 0; g < width; g += K, head += rows * terms) {
            for (int32_t i = 0; i < rows; i++) {
                odt_poll();
                for (int32_t k = g; k < g + K; k += SIDE) {
                    int32_t sums[SIDE] = {0}, n = odt_min(g + K - k, SIDE), at = (b * rows + i) * width + k;
                    const int8_t *w = head + i * row, *x = a->b + b * terms * width + k;
                    int32_t left = terms;
                    #if !ODT_SMALL
                    if (n == SIDE) {
                        mix_four(sums, w, step, zero, x, width, terms);
                        left = 0;
                    }
                    #endif
                    for (; left; left--, w += step, x += width) {
                        int32_t factor = *w - zero;
                        for (int32_t l = 0; l < n; l++) {
                            sums[l] = odt_wrap_add(sums[l], factor * x[l]);
                        }
                    }
                    for (int32_t l = 0; l < n; l++, at++) {
                        uint32_t u = a->id ? odt_hash32(key, first + (uint32_t)at) : 1u << 31; // else to nearest
                        a->y[at] = odt_clamp(odt_rescale_random_by(&q, sums[l], u), 0, -127, &peak);
                    }
                }
            }
        }
    }
    *a->peak = peak;
}
