// Sums of two tensors, int8, which may work in place.

#include "../../core.h"
#include "../../opcodes.h"
#include "../../common/elements.h"

ODT_BESIDE_ASSEMBLY

#if ODT_M0 && !ODT_SMALL
#include "../../cores/m0/add_i8__m0.h"
#endif

void odt_add_i8(const odt_add_i8_t *a) {
    odt_rescaler_t qa = odt_rescaler(odt_checked(a->qa)), qb = odt_rescaler(odt_checked(a->qb));
    odt_outputs_t outputs = odt_outputs_from(a->zy, a->lo, *a->peak);
    #if ODT_M0 && !ODT_SMALL
    if (add_all(a, qa.q, qb.q, &outputs)) {
        *a->peak = outputs.peak;
        return;
    }
    #endif
    for (int32_t i = 0; i < a->N; i++) {
        // Eight bits below the result's step keep the two roundings small.
        int32_t first = odt_rescale_by(&qa, odt_wrap_mul(odt_wrap_sub(a->a[i], a->za), 256));
        int32_t second = odt_rescale_by(&qb, odt_wrap_mul(odt_wrap_sub(a->b[i], a->zb), 256));
        a->y[i] = odt_output(&outputs, odt_sum_rounded(first, second));
    }
    *a->peak = outputs.peak;
}
