// Plain SGD of int8 models: the directions are the gradients [N, K], with all rows converted to one scale.

#include "../../fixed.h"
#include "../../opcodes.h"

void odt_plain_i32(const odt_plain_i32_t *a) {
    uint32_t G = odt_scale_mul(odt_scale(a->factor), odt_scale(*a->gs));
    for (int32_t n = 0; n < a->N; n++) {
        a->ds[n] = (int32_t)G;
    }
}
