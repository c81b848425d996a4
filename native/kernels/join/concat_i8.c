// Columns of several tensors in one, int8: each is brought to the scale of the result. Its gradient is `slice`.

#include "../../fixed.h"
#include "../../opcodes.h"
#include "../common/within.h"

void odt_concat_i8(const odt_concat_i8_t *a) {
    int32_t K = a->K, N = a->N, peak = *a->peak;
    odt_multiplier_t q = odt_checked(a->q);
    if (!odt_within(a->at, K, N)) {
        return;
    }
    for (int32_t m = 0; m < a->M; m++) {
        const int8_t *x = a->x + m * K;
        int8_t *y = a->y + m * N + a->at;
        for (int32_t k = 0; k < K; k++) {
            int32_t v = odt_rescaled((int32_t)((uint32_t)x[k] - (uint32_t)a->zx), q);
            y[k] = odt_clamp(v, a->zy, a->lo, &peak);
        }
    }
    *a->peak = peak;
}
