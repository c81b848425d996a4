// The gradient of enlarging, int8: sums over SH x SW pixels. dx is [B, H, W, N].

#include "../../opcodes.h"
#include "../../common/elements.h"

void odt_upsample2d_dx_i8(const odt_upsample2d_dx_i8_t *a) {
    int32_t N = a->N, SW = a->SW, width = a->W * SW;
    odt_rescaler_t q = odt_rescaler(odt_checked(a->q));
    odt_outputs_t outputs = odt_outputs_from(0, -127, *a->peak);
    int8_t *dx = a->dx;
    for (int32_t row = 0; row < a->B * a->H; row++) {
        for (int32_t w = 0; w < a->W; w++) {
            const int8_t *e = a->e + (row * a->SH * width + w * SW) * N;
            for (int32_t n = 0; n < N; n++) {
                int32_t acc = 0;
                for (int32_t sh = 0; sh < a->SH; sh++) {
                    for (int32_t sw = 0; sw < SW; sw++) {
                        acc += e[(sh * width + sw) * N + n];
                    }
                }
                *dx++ = odt_output(&outputs, odt_rescale_by(&q, acc));
            }
        }
    }
    *a->peak = outputs.peak;
}
