// Mean squared error, int8. x and e are [B, N], e may lie in x; padding rows have no error and no loss.

#include <string.h>

#include "../../core.h"
#include "../../data.h"
#include "../../fixed.h"
#include "../../opcodes.h"
#include "../common/elements.h"
#include "targets_i8.h"

#if !ODT_SMALL

enum { ELEMENTS = 32 }; // at a time

// Errors of differences; returns the sum of their squares.
static __attribute__((noinline)) uint64_t store_errors(int8_t *e, const int32_t *d, int32_t count, const odt_rescaler_t *q,
    odt_outputs_t *outputs) {
    uint64_t loss = 0;
    for (const int32_t *end = d + count; d != end; d++) {
        uint32_t size = odt_magnitude(*d);
        loss += size < 1u << 16 ? size * size : (uint64_t)size * size;
        *e++ = odt_output(outputs, odt_rescale_by(q, *d));
    }
    return loss;
}

#endif

void odt_mse_i8(const odt_mse_i8_t *a) {
    int32_t N = a->N;
    uint32_t sx = odt_scale(*a->sx), se = odt_scale(*a->se);
    odt_outputs_t outputs = odt_outputs_from(0, -127, *a->peak);
    odt_multiplier_t q = odt_multiplier(odt_scale_div(odt_scale_shift(sx, -8), se));
    #if !ODT_SMALL
    odt_rescaler_t to_error = odt_rescaler(q);
    #endif
    odt_targets_i8_t t = odt_targets_i8(a->c, a->target, N, 8, sx);
    uint64_t loss = 0;
    *a->so = (int32_t)odt_mean_scale(odt_scale_shift(se, 1), N, a->c, a->B);
    for (int32_t b = 0; b < a->B; b++) {
        const int8_t *x = a->x + b * N;
        int8_t *e = a->e + b * N;
        const uint8_t *sample = odt_sample(&t.samples, b);
        if (!sample) {
            memset(e, 0, (size_t)N);
            continue;
        }
        #if ODT_SMALL
        for (int32_t i = 0; i < N; i++) {
            int32_t d = odt_difference_i8(&t, sample, i, x[i], a->z);
            e[i] = odt_output(&outputs, odt_rescaled(d, q));
            loss += (uint64_t)((int64_t)d * d);
        }
        #else
        for (int32_t i = 0; i < N; i += ELEMENTS) {
            int32_t differences[ELEMENTS], count = odt_min(N - i, ELEMENTS);
            odt_differences_i8(&t, sample, i, x + i, count, a->z, differences);
            loss += store_errors(e + i, differences, count, &to_error, &outputs);
        }
        #endif
    }
    odt_add_loss_i8(a->c, loss);
    *a->peak = outputs.peak;
}
