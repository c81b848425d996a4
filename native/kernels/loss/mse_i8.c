// Mean squared error, int8. x and e are [B, N], e may lie in x; padding rows have no error and no loss.

#include <string.h>

#include "../../data.h"
#include "../../fixed.h"
#include "../../opcodes.h"
#include "targets_i8.h"

void odt_mse_i8(const odt_mse_i8_t *a) {
    int32_t N = a->N, format = a->c[ODT_Y_FORMAT], zero = a->c[ODT_Y_ZERO], peak = *a->peak;
    uint32_t sx = odt_scale(*a->sx), se = odt_scale(*a->se);
    // Targets in 1/256 of the output's step.
    uint32_t inverse = odt_scale_div(odt_scale_shift(ODT_ONE, 8), sx);
    uint32_t scale = odt_scale_shift(odt_scale(a->c[ODT_Y_SCALE]), 8);
    odt_multiplier_t to_steps = odt_multiplier(odt_scale_div(scale, sx));
    odt_multiplier_t to_error = odt_multiplier(odt_scale_div(odt_scale_shift(sx, -8), se));
    odt_samples_t samples = odt_samples(a->c, a->target, format, N);
    uint64_t loss = 0;
    *a->so = (int32_t)odt_scale_div(odt_scale_shift(se, 1),
        odt_scale_int((uint32_t)N * (uint32_t)odt_rows(a->c, a->B)));
    for (int32_t b = 0; b < a->B; b++) {
        const int8_t *x = a->x + b * N;
        int8_t *e = a->e + b * N;
        const uint8_t *sample = odt_sample(&samples, b);
        if (!sample) {
            memset(e, 0, (size_t)N);
            continue;
        }
        for (int32_t i = 0; i < N; i++) {
            int32_t target = odt_element(sample, format, i);
            target = format == ODT_FLOAT32 ? odt_quantize((uint32_t)target, inverse)
                : odt_rescaled(odt_sat32((int64_t)target - zero), to_steps);
            int64_t wide = ((int64_t)x[i] - a->z) * 256 - target;
            int32_t d = odt_limit(odt_sat32(wide), -(1 << 24), 1 << 24);
            e[i] = odt_clamp(odt_rescaled(d, to_error), 0, -127, &peak);
            loss += (uint64_t)((int64_t)d * d);
        }
    }
    odt_add_loss_i8(a->c, loss);
    *a->peak = peak;
}
