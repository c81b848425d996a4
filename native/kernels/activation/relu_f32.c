// ReLU, ReLU6 and their gradients, which need only y, float32; all may work in place.

#include "../../opcodes.h"

void odt_relu_f32(const odt_relu_f32_t *a) {
    for (int32_t i = 0; i < a->N; i++) {
        a->y[i] = a->x[i] < 0.0f ? 0.0f : a->x[i]; // NaN stays
    }
}

void odt_relu_dx_f32(const odt_relu_dx_f32_t *a) {
    for (int32_t i = 0; i < a->N; i++) {
        a->dx[i] = a->y[i] > 0.0f ? a->e[i] : 0.0f;
    }
}

void odt_relu6_f32(const odt_relu6_f32_t *a) {
    for (int32_t i = 0; i < a->N; i++) {
        float x = a->x[i];
        a->y[i] = x < 0.0f ? 0.0f : x > 6.0f ? 6.0f : x; // NaN stays
    }
}

void odt_relu6_dx_f32(const odt_relu6_dx_f32_t *a) {
    for (int32_t i = 0; i < a->N; i++) {
        a->dx[i] = a->y[i] > 0.0f && a->y[i] < 6.0f ? a->e[i] : 0.0f;
    }
}
