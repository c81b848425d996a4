// Products of two tensors, int8.

#include "../../opcodes.h"
#include "../../common/elements.h"

void odt_multiply_i8(const odt_multiply_i8_t *a) {
    odt_rescaler_t q = odt_rescaler(odt_checked(a->q));
    odt_outputs_t outputs = odt_outputs_from(a->zy, a->lo, *a->peak);
    for (int32_t i = 0; i < a->N; i++) {
        uint32_t u = (uint32_t)a->a[i] - (uint32_t)a->za, v = (uint32_t)a->b[i] - (uint32_t)a->zb;
        a->y[i] = odt_output(&outputs, odt_rescale_by(&q, (int32_t)(u * v)));
    }
    *a->peak = outputs.peak;
}
