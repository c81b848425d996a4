// Adds a vector to each sample, int8; may work in place.

#include "../../fixed.h"
#include "../../opcodes.h"
#include "../../common/elements.h"

static int32_t to_nearest(int32_t v, const odt_multiplier_t *q) {
    return odt_rescaled_random(v, odt_checked(q), 1u << 31);
}

void odt_offset_i8(const odt_offset_i8_t *a) {
    int32_t zero = odt_limit(a->zx, -128, 127), peak = *a->peak;
    for (int32_t n = 0; n < a->N; n++) {
        int32_t offset = to_nearest(a->b[n], a->qb);
        for (int32_t at = n; at < a->B * a->N; at += a->N) {
            int32_t x = to_nearest((a->x[at] - zero) * 256, a->qx);
            a->y[at] = odt_clamp(odt_sum_rounded(x, offset), a->zy, a->lo, &peak);
        }
    }
    *a->peak = peak;
}
