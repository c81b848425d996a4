// Mean absolute error, int8. x and e are [B, N], e may lie in x; padding rows have no error and no loss.

#include <string.h>

#include "../../core.h"
#include "../../data.h"
#include "../../fixed.h"
#include "../../opcodes.h"
#include "targets_i8.h"

void odt_mae_i8(const odt_mae_i8_t *a) {
    int32_t N = a->N;
    odt_targets_i8_t t = odt_targets_i8(a->c, a->target, N, 8, odt_scale(*a->sx));
    uint64_t loss = 0;
    #if !ODT_SMALL
    int32_t differences[ODT_DIFFERENCES];
    #endif
    *a->se = (int32_t)odt_mean_scale(ODT_PART_OF_127, N, a->c, a->B);
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
            loss += odt_magnitude(d);
            e[i] = d > 0 ? 127 : d < 0 ? -127 : 0;
        }
    }
    odt_add_loss_i8(a->c, loss);
}
