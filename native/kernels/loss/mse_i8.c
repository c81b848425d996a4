// Mean squared error, int8. x and e are [B, N], e may lie in x; padding rows have no error and no loss.

#include <string.h>

#include "../../core.h"
#include "../../data.h"
#include "../../fixed.h"
#include "../../opcodes.h"
#include "../common/elements.h"
#include "targets_i8.h"

void odt_mse_i8(const odt_mse_i8_t *a) {
    int32_t N = a->N;
    uint32_t sx = odt_scale(*a->sx), se = odt_scale(*a->se);
    odt_outputs_t outputs = odt_outputs_from(0, -127, *a->peak);
    odt_multiplier_t to_error = odt_multiplier(odt_scale_div(odt_scale_shift(sx, -8), se));
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
        for (int32_t i = 0; i < N; i++) {
            int32_t d = odt_difference_i8(&t, sample, i, x[i], a->z);
            uint32_t size = odt_magnitude(d);
            e[i] = odt_output(&outputs, odt_rescaled(d, to_error));
            loss += !ODT_SMALL && size < 1u << 16 ? size * size : (uint64_t)((int64_t)d * d);
        }
    }
    odt_add_loss_i8(a->c, loss);
    *a->peak = outputs.peak;
}
