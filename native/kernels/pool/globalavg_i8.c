// The average of an image, int8, and its gradient. x is [B, S, N], y and e [B, N].

#include <string.h>

#include "../../fixed.h"
#include "../../opcodes.h"
#include "../../common/inner_i8.h"

void odt_globalavg_i8(const odt_globalavg_i8_t *a) {
    int32_t S = a->S, N = a->N, peak = *a->peak;
    odt_multiplier_t q = odt_checked(a->q);
    int8_t *y = a->y;
    for (int32_t b = 0; b < a->B; b++) {
        for (int32_t n = 0; n < N; n++) {
            const int8_t *x = a->x + b * S * N + n;
            int32_t acc = odt_wrap_sub(0, odt_wrap_mul(S, a->zx));
            for (int32_t s = 0; s < S; s++) {
                acc = odt_wrap_add(acc, x[s * N]);
            }
            *y++ = odt_clamp(odt_rescaled(acc, q), a->zy, a->lo, &peak);
        }
    }
    *a->peak = peak;
}

void odt_globalavg_dx_i8(const odt_globalavg_dx_i8_t *a) {
    int8_t *dx = a->dx;
    for (int32_t b = 0; b < a->B; b++) {
        for (int32_t s = 0; s < a->S; s++) {
            memmove(dx, a->e + b * a->N, (size_t)a->N);
            dx += a->N;
        }
    }
}
