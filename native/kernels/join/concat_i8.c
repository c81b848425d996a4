// Concatenates columns of several tensors, int8: each is rescaled to the result's scale. Its gradient is `slice`.

#include "../../core.h"
#include "../../opcodes.h"
#include "../../common/elements.h"
#include "../../cores/m0/elements__m0.h"
#include "../../common/axis_part.h"

void odt_concat_i8(const odt_concat_i8_t *a) {
    int32_t K = a->K, N = a->N;
    odt_rescaler_t q = odt_rescaler(odt_checked(a->q));
    odt_outputs_t outputs = odt_outputs_from(a->zy, a->lo, *a->peak);
    if (!odt_within(a->at, K, N)) {
        return;
    }
    #if ODT_M0 && !ODT_SMALL
    odt_bytes_t bytes;
    if (odt_begin_bytes(&bytes, a->zx, 1, q.q, &outputs)) {
        odt_rescale_bytes(&bytes, a->y + a->at, a->x, K, a->M, N, &outputs);
        *a->peak = outputs.peak;
        return;
    }
    #endif
    for (int32_t m = 0; m < a->M; m++) {
        const int8_t *x = a->x + m * K;
        int8_t *y = a->y + m * N + a->at;
        for (int32_t k = 0; k < K; k++) {
            y[k] = odt_output(&outputs, odt_rescale_by(&q, odt_wrap_sub(x[k], a->zx)));
        }
    }
    *a->peak = outputs.peak;
}
