// Enlarges images: each pixel becomes SH x SW pixels. x is [B, H, W, N]; N counts bytes, so it serves int8 and float32.

#include <string.h>

#include "../../opcodes.h"

void odt_upsample2d(const odt_upsample2d_t *a) {
    int32_t N = a->N;
    size_t row = (size_t)(a->W * a->SW) * (size_t)N;
    int8_t *y = a->y;
    const int8_t *x = a->x;
    for (int32_t rows = a->B * a->H; rows; rows--) {
        int8_t *first = y;
        for (int32_t w = 0; w < a->W; w++, x += N) {
            for (int32_t sw = 0; sw < a->SW; sw++, y += N) {
                memmove(y, x, (size_t)N);
            }
        }
        for (int32_t sh = 1; sh < a->SH; sh++, y += row) {
            memmove(y, first, row);
        }
    }
}
