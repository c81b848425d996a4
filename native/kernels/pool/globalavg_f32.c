// The average of an image, float32, and its gradient. x is [B, S, N], y and e [B, N].

#include <string.h>

#include "../../float32.h"
#include "../../opcodes.h"
#include "../../common/inner_f32.h"

void odt_globalavg_f32(const odt_globalavg_f32_t *a) {
    int32_t S = a->S, N = a->N;
    float part = 1.0f / (float)S;
    for (int32_t b = 0; b < a->B; b++) {
        float *y = a->y + b * N;
        memset(y, 0, (size_t)N * sizeof(float));
        for (int32_t s = 0; s < S; s++) {
            odt_axpy_f32(y, 1.0f, a->x + (b * S + s) * N, N);
        }
        for (int32_t n = 0; n < N; n++) {
            y[n] = odt_store(y[n] * part);
        }
    }
}

void odt_globalavg_dx_f32(const odt_globalavg_dx_f32_t *a) {
    int32_t N = a->N;
    float part = 1.0f / (float)a->S;
    float *dx = a->dx;
    for (int32_t b = 0; b < a->B; b++) {
        for (int32_t s = 0; s < a->S; s++) {
            for (int32_t n = 0; n < N; n++) {
                *dx++ = odt_store(a->e[b * N + n] * part);
            }
        }
    }
}
