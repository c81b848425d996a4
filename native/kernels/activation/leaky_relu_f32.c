// Leaky ReLU and its gradient, which needs only y, float32.

#include "../../float32.h"
#include "../../opcodes.h"

void odt_leaky_relu_f32(const odt_leaky_relu_f32_t *a) {
    float slope = odt_float((uint32_t)a->slope);
    for (int32_t i = 0; i < a->N; i++) {
        a->y[i] = a->x[i] > 0.0f ? a->x[i] : odt_store(a->x[i] * slope);
    }
}

void odt_leaky_relu_dx_f32(const odt_leaky_relu_dx_f32_t *a) {
    float slope = odt_float((uint32_t)a->slope);
    for (int32_t i = 0; i < a->N; i++) {
        a->dx[i] = a->y[i] > 0.0f ? a->e[i] : odt_store(a->e[i] * slope);
    }
}
