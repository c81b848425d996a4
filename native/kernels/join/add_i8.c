// Sums of two tensors, int8, which may work in place.

#include "../../fixed.h"
#include "../../opcodes.h"

void odt_add_i8(const odt_add_i8_t *a) {
    int32_t peak = *a->peak;
    odt_multiplier_t qa = odt_checked(a->qa), qb = odt_checked(a->qb);
    for (int32_t i = 0; i < a->N; i++) {
        // Eight bits below the result's step keep the two roundings small.
        int64_t sum = odt_rescaled(odt_wrap_mul(odt_wrap_sub(a->a[i], a->za), 256), qa);
        sum += odt_rescaled(odt_wrap_mul(odt_wrap_sub(a->b[i], a->zb), 256), qb);
        int32_t v = (int32_t)(((int64_t)odt_sat32(sum) + 128) >> 8);
        a->y[i] = odt_clamp(v, a->zy, a->lo, &peak);
    }
    *a->peak = peak;
}
