// Applies directions to the biases [N] of int8 models, which are in 2^-20.

#include "../../fixed.h"
#include "../../opcodes.h"
#include "../../common/rescale.h"

void odt_apply_i32(const odt_apply_i32_t *a) {
    const int64_t limit = 1 << 30;
    if (*a->rate == 0) {
        return;
    }
    uint32_t step = odt_scale_mul(odt_scale(*a->rate), odt_scale(*a->ds));
    odt_rescaler_t q = odt_rescaler(odt_multiplier(odt_scale_shift(step, 20)));
    for (int32_t n = 0; n < a->N; n++) {
        int64_t b = (int64_t)a->b[n] - odt_rescale_by(&q, a->d[n]);
        a->b[n] = (int32_t)(b > limit ? limit : b < -limit ? -limit : b);
    }
}
