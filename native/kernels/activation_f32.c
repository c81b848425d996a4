// Activations, float32, and their gradients, which need y only. ReLU is in elementwise_f32.c.

#include "../float32.h"
#include "../opcodes.h"

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

void odt_tanh_f32(const odt_tanh_f32_t *a) {
    for (int32_t i = 0; i < a->N; i++) {
        float x = a->x[i];
        float size = x < 0.0f ? -x : x;
        if (size < 0.25f) { // where 1 - exp(-2x) would lose bits; the series of tanh(x) / x
            float z = x * x;
            float p = odt_float(0x3CB327A4); // 62 / 2835
            p = p * z + odt_float(0xBD5D0DD1); // -17 / 315
            p = p * z + odt_float(0x3E088889); // 2 / 15
            p = p * z + odt_float(0xBEAAAAAB); // -1 / 3
            x = x * (p * z + 1.0f);
        } else if (size >= 0.25f) {
            float power = odt_expf(size * -2.0f);
            float y = (1.0f - power) / (1.0f + power);
            x = x < 0.0f ? -y : y;
        }
        a->y[i] = odt_store(x); // NaN stays
    }
}

void odt_tanh_dx_f32(const odt_tanh_dx_f32_t *a) {
    for (int32_t i = 0; i < a->N; i++) {
        a->dx[i] = odt_store(a->e[i] * (1.0f - a->y[i] * a->y[i]));
    }
}

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
