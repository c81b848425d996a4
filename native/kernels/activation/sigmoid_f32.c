// Sigmoid and its gradient, which needs only y, float32.

#include "../../float32.h"
#include "../../opcodes.h"

void odt_sigmoid_f32(const odt_sigmoid_f32_t *a) {
    for (int32_t i = 0; i < a->N; i++) {
        float x = a->x[i];
        if (x >= 0.0f) {
            x = 1.0f / (1.0f + odt_expf(-x));
        } else if (x < 0.0f) {
            float power = odt_expf(x);
            x = power / (1.0f + power);
        }
        a->y[i] = odt_store(x); // NaN stays
    }
}

void odt_sigmoid_dx_f32(const odt_sigmoid_dx_f32_t *a) {
    for (int32_t i = 0; i < a->N; i++) {
        float y = a->y[i];
        a->dx[i] = odt_store(a->e[i] * (y * (1.0f - y)));
    }
}
