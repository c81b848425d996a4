// Huber's loss, int8. x and e are [B, N], e may lie in x; padding rows have no error and no loss.

#include <string.h>

#include "../../core.h"
#include "../../data.h"
#include "../../fixed.h"
#include "../../opcodes.h"
#include "../../common/elements.h"
#include "targets_i8.h"

void odt_huber_i8(const odt_huber_i8_t *a) {
    int32_t N = a->N;
    uint32_t sx = odt_scale(*a->sx), se = odt_scale(*a->se);
    odt_multiplier_t to_error = odt_multiplier(odt_scale_div(odt_scale_shift(sx, -8), se));
    odt_targets_i8_t t = odt_targets_i8(a->c, a->target, N, 8, sx);
    int32_t delta = odt_limit(odt_quantize(odt_scale(a->delta), ODT_INVERSE(t)), 1, 1 << 24);
    uint64_t loss = 0;
    odt_outputs_t outputs = odt_outputs_from(0, -127, *a->peak);
    #if !ODT_SMALL
    odt_rescaler_t rescaler = odt_rescaler(to_error);
    int32_t differences[ODT_DIFFERENCES];
    #endif
    *a->so = (int32_t)odt_mean_scale(se, N, a->c, a->B);
    for (int32_t b = 0; b < a->B; b++) {
        const int8_t *x = a->x + b * N;
        int8_t *e = a->e + b * N;
        const uint8_t *sample = odt_sample(&t.samples, b);
        if (!sample) {
            memset(e, 0, (size_t)N);
            continue;
        }
        for (int32_t i = 0; i < N; i++) {
            #if ODT_SMALL
            int32_t d = odt_difference_i8(&t, sample, i, x[i], a->z);
            #else
            if (i % ODT_DIFFERENCES == 0) {
                odt_differences_i8(&t, sample, i, x + i, odt_min(N - i, ODT_DIFFERENCES), a->z, differences);
            }
            int32_t d = differences[i % ODT_DIFFERENCES];
            #endif
            uint32_t size = odt_magnitude(d), least = size < (uint32_t)delta ? size : (uint32_t)delta,
                     rest = 2 * size - least;
            d = odt_limit(d, -delta, delta);
            #if ODT_SMALL
            loss += (uint64_t)least * rest;
            e[i] = odt_output(&outputs, odt_rescaled(d, to_error));
            #else
            loss += (least >> 15 | rest >> 17) == 0 ? least * rest : (uint64_t)least * rest;
            e[i] = odt_output(&outputs, odt_rescale_by(&rescaler, d));
            #endif
        }
    }
    odt_add_loss_i8(a->c, loss);
    *a->peak = outputs.peak;
}
