// Fisher information of output channels (Theis et al., 2018): for each sample, activation times error is summed over a
// channel's positions; the squares are summed over the samples.

#include "../../fixed.h"
#include "../../float32.h"
#include "../../opcodes.h"

void odt_fisher_i8(const odt_fisher_i8_t *a) {
    int32_t z = odt_limit(a->z, -128, 127);
    uint32_t unit = odt_scale_mul(odt_scale_mul(odt_scale(a->factor), odt_scale(*a->se)), odt_scale(*a->sy));
    for (int32_t b = 0; b < a->B; b++) {
        for (int32_t n = 0; n < a->N; n++) {
            int32_t at = b * a->S * a->N + n;
            uint32_t sum = 0;
            for (int32_t s = 0; s < a->S; s++, at += a->N) {
                sum += (uint32_t)(a->e[at] * (a->y[at] - z));
            }
            if (sum) {
                uint32_t v = odt_scale_mul(unit, odt_scale_int(odt_magnitude((int32_t)sum)));
                v = odt_scale_mul(v, v);
                a->total[n] = (int32_t)(a->total[n] ? odt_scale_add(odt_scale(a->total[n]), v) : v);
            }
        }
    }
}

void odt_fisher_f32(const odt_fisher_f32_t *a) {
    for (int32_t b = 0; b < a->B; b++) {
        for (int32_t n = 0; n < a->N; n++) {
            int32_t at = b * a->S * a->N + n;
            float sum = 0;
            for (int32_t s = 0; s < a->S; s++, at += a->N) {
                sum = sum + a->e[at] * a->y[at];
            }
            sum = odt_store(sum);
            a->total[n] = odt_store2(a->total[n] + sum * sum);
        }
    }
}
