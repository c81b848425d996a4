// Sums of two tensors, int8; may work in place.

#include "../../core.h"
#include "../../opcodes.h"
#include "../../common/elements.h"

ODT_BESIDE_ASSEMBLY

#if ODT_M0 && !ODT_SMALL
#include "../../cores/m0/add_i8__m0.h"
#elif !ODT_SMALL
#include "../../common/summand.h"

// The sums for the usual multipliers and zero points; returns 0 for others.
static int add_all(const odt_add_i8_t *a, odt_multiplier_t qa, odt_multiplier_t qb, odt_outputs_t *outputs) {
    uint32_t first, second;
    odt_summand_t of_a, of_b;
    if (!odt_make_summand(&of_a, a->za, qa, &first) || !odt_make_summand(&of_b, a->zb, qb, &second)
        || !odt_is_usual(outputs)) {
        return 0;
    }
    const int8_t *from = a->a, *other = a->b;
    int8_t *y = a->y, *end = y + a->N;
    uint32_t half = 128 + (uint32_t)(256 * outputs->z) - (first + second);
    odt_limits_t limits = odt_limits_of(outputs);
    while (y != end) {
        uint32_t left = ((uint32_t)*from++ * of_a.factor + of_a.plus) >> of_a.shift;
        uint32_t right = ((uint32_t)*other++ * of_b.factor + of_b.plus) >> of_b.shift;
        int32_t v = (int32_t)(left + right + half) >> 8;
        *y++ = odt_output_by(&limits, outputs, v);
    }
    return 1;
}
#endif

void odt_add_i8(const odt_add_i8_t *a) {
    odt_rescaler_t qa = odt_rescaler(odt_checked(a->qa)), qb = odt_rescaler(odt_checked(a->qb));
    odt_outputs_t outputs = odt_outputs_from(a->zy, a->lo, *a->peak);
    #if !ODT_SMALL
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
