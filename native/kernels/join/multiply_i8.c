// Products of two tensors, int8.

#include "../../fixed.h"
#include "../../opcodes.h"

void odt_multiply_i8(const odt_multiply_i8_t *a) {
    int32_t peak = *a->peak;
    odt_multiplier_t q = odt_checked(a->q);
    for (int32_t i = 0; i < a->N; i++) {
        uint32_t u = (uint32_t)a->a[i] - (uint32_t)a->za, v = (uint32_t)a->b[i] - (uint32_t)a->zb;
        a->y[i] = odt_clamp(odt_rescaled((int32_t)(u * v), q), a->zy, a->lo, &peak);
    }
    *a->peak = peak;
}
