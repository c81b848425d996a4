// Gathers some columns of a tensor, and scatters them back. A column has U bytes, so it serves int8 and float32.

#include <string.h>

#include "../../fixed.h"
#include "../../opcodes.h"

void odt_pick(const odt_pick_t *a) {
    int32_t count = odt_limit(*a->count, 1, a->R);
    int8_t *y = a->y;
    for (int32_t m = 0; m < a->M; m++) {
        for (int32_t j = 0; j < count; j++, y += a->U) {
            int32_t n = odt_limit(a->rows[j], 0, a->N - 1);
            const int8_t *x = a->x + (m * a->N + n) * a->U;
            if (a->U == 1) {
                *y = *x;
            } else {
                memmove(y, x, (uint32_t)a->U);
            }
        }
    }
}

void odt_put(const odt_put_t *a) {
    int32_t count = odt_limit(*a->count, 1, a->R);
    const int8_t *x = a->x;
    for (int32_t m = 0; m < a->M; m++) {
        int8_t *y = a->y + m * a->N * a->U;
        memset(y, 0, (uint32_t)(a->N * a->U));
        for (int32_t j = 0; j < count; j++, x += a->U) {
            memmove(y + odt_limit(a->rows[j], 0, a->N - 1) * a->U, x, (uint32_t)a->U);
        }
    }
}
