// Softmax of rows [M, N] and its gradient, which needs only y, float32.

#include "../../float32.h"
#include "../../opcodes.h"

void odt_softmax_f32(const odt_softmax_f32_t *a) {
    int32_t N = a->N;
    for (int32_t m = 0; m < a->M; m++) {
        const float *x = a->x + m * N;
        float *y = a->y + m * N;
        float top = x[0], sum = 0.0f;
        for (int32_t i = 1; i < N; i++) {
            top = x[i] > top ? x[i] : top;
        }
        for (int32_t i = 0; i < N; i++) {
            y[i] = odt_expf(x[i] - top);
            sum = sum + y[i];
        }
        for (int32_t i = 0; i < N; i++) {
            y[i] = odt_store(y[i] / sum);
        }
    }
}

void odt_softmax_dx_f32(const odt_softmax_dx_f32_t *a) {
    int32_t N = a->N;
    for (int32_t m = 0; m < a->M; m++) {
        const float *e = a->e + m * N, *y = a->y + m * N;
        float *dx = a->dx + m * N;
        float mean = 0.0f;
        for (int32_t i = 0; i < N; i++) {
            mean = mean + e[i] * y[i];
        }
        for (int32_t i = 0; i < N; i++) {
            dx[i] = odt_store(y[i] * (e[i] - mean));
        }
    }
}
