// Rows mixed by the weights of attention, head by head, int8: the values into outputs, and errors back to queries, keys
// and values.

#include "../../fixed.h"
#include "../../opcodes.h"

enum { SIDE = 4 }; // columns that are summed side by side

void odt_mix_i8(const odt_mix_i8_t *a) {
    int32_t rows = a->T, terms = a->S, row = a->back ? 1 : terms, step = a->back ? rows : 1;
    int32_t K = a->K, width = a->G * K, zero = odt_limit(a->za, -128, 127), peak = *a->peak;
    uint32_t key = odt_hash32((uint32_t)a->c[ODT_KEY], (uint32_t)a->id);
    uint32_t first = (uint32_t)a->c[ODT_POSITION] * (uint32_t)(rows * width);
    odt_multiplier_t q = odt_checked(a->q);
    const int8_t *head = a->a;
    for (int32_t b = 0; b < a->B; b++) {
        for (int32_t g = 0; g < width; g += K, head += rows * terms) {
            for (int32_t i = 0; i < rows; i++) {
                odt_poll();
                for (int32_t k = g; k < g + K; k += SIDE) {
                    int32_t sums[SIDE] = {0}, n = odt_min(g + K - k, SIDE), at = (b * rows + i) * width + k;
                    const int8_t *w = head + i * row, *x = a->b + b * terms * width + k;
                    for (int32_t j = 0; j < terms; j++, w += step, x += width) {
                        int32_t factor = *w - zero;
                        for (int32_t l = 0; l < n; l++) {
                            sums[l] = odt_wrap_add(sums[l], factor * x[l]);
                        }
                    }
                    for (int32_t l = 0; l < n; l++, at++) {
                        uint32_t u = a->id ? odt_hash32(key, first + (uint32_t)at) : 1u << 31; // or to nearest
                        a->y[at] = odt_clamp(odt_rescaled_random(sums[l], q, u), 0, -127, &peak);
                    }
                }
            }
        }
    }
    *a->peak = peak;
}
