// Sums of two tensors, int8: as add_i8.c, but rounded once, as in other frameworks. May work in place.

#include "../../core.h"
#include "../../opcodes.h"
#include "../../common/elements.h"
#include "../../cores/x86/add_once__x86.h"

void odt_add_once_i8(const odt_add_once_i8_t *a) {
    odt_rescaler_t qa = odt_rescaler(odt_checked(a->qa)), qb = odt_rescaler(odt_checked(a->qb));
    odt_outputs_t outputs = odt_outputs_from(a->zy, a->lo, *a->peak);
    int32_t done = 0;
    #if ODT_X86
    done = odt_add_once_i8__x86(a, qa.q, qb.q, &outputs.peak);
    #endif
    for (int32_t i = done; i < a->N; i++) {
        int32_t first = odt_rescale_by(&qa, odt_wrap_mul(odt_wrap_sub(a->a[i], a->za), 65536));
        int32_t second = odt_rescale_by(&qb, odt_wrap_mul(odt_wrap_sub(a->b[i], a->zb), 65536));
        int32_t sum = odt_sat32((int64_t)first + second);
        a->y[i] = odt_output(&outputs, (int32_t)(((int64_t)sum + 32768) >> 16));
    }
    *a->peak = outputs.peak;
}
