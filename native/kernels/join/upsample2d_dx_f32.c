// The gradient of enlarging, float32: sums over SH x SW pixels. dx is [B, H, W, N].

#include "../../float32.h"
#include "../../opcodes.h"

void odt_upsample2d_dx_f32(const odt_upsample2d_dx_f32_t *a) {
    int32_t N = a->N, SW = a->SW, width = a->W * SW;
    float *dx = a->dx;
    for (int32_t row = 0; row < a->B * a->H; row++) {
        for (int32_t w = 0; w < a->W; w++) {
            const float *e = a->e + (row * a->SH * width + w * SW) * N;
            for (int32_t n = 0; n < N; n++) {
                float acc = 0.0f;
                for (int32_t sh = 0; sh < a->SH; sh++) {
                    for (int32_t sw = 0; sw < SW; sw++) {
                        acc = acc + e[(sh * width + sw) * N + n];
                    }
                }
                *dx++ = odt_store(acc);
            }
        }
    }
}
