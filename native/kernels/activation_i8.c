// Activations, int8, and their gradients. ReLU is in elementwise_i8.c; ReLU6 is a ReLU whose scale
// is fixed such that 127 is 6.

#include "../fixed.h"
#include "../opcodes.h"

void odt_relu6_dx_i8(const odt_relu6_dx_i8_t *a) {
    for (int32_t i = 0; i < a->N; i++) {
        a->dx[i] = a->y[i] > -128 && a->y[i] < 127 ? a->e[i] : 0;
    }
}

void odt_leaky_relu_i8(const odt_leaky_relu_i8_t *a) {
    odt_multiplier_t q = odt_multiplier(odt_scale(a->slope));
    for (int32_t i = 0; i < a->N; i++) {
        int32_t v = (int32_t)((uint32_t)a->x[i] - (uint32_t)a->z);
        if (v < 0) {
            v = (int32_t)((uint32_t)odt_rescaled(v, q) + (uint32_t)a->z);
            a->y[i] = (int8_t)odt_limit(v, -128, 127);
        } else {
            a->y[i] = a->x[i];
        }
    }
}

void odt_leaky_relu_dx_i8(const odt_leaky_relu_dx_i8_t *a) {
    odt_multiplier_t q = odt_multiplier(odt_scale(a->slope));
    uint32_t key = odt_hash32((uint32_t)a->c[ODT_KEY], (uint32_t)a->id);
    for (int32_t i = 0; i < a->N; i++) {
        int32_t v = a->e[i];
        if (a->x[i] <= a->z) { // rounded at random: a small slope would leave nothing
            v = odt_rescaled_random(v, q, odt_hash32(key, (uint32_t)i));
        }
        a->dx[i] = (int8_t)odt_limit(v, -127, 127);
    }
}

// 256 / (1 + exp(-v)) - 128 of v = x - z in steps, q the steps in units of log 2.
static int8_t sigmoid(int32_t v, const odt_multiplier_t *q) {
    int32_t magnitude = v < 0 ? -v : v;
    uint32_t power = odt_exp2n(odt_rescaled_byte(magnitude, q));
    uint32_t whole = 65536 + power;
    uint32_t part = (256 * (v < 0 ? power : 65536) + whole / 2) / whole;
    return (int8_t)odt_min((int32_t)part - 128, 127);
}

void odt_sigmoid_i8(const odt_sigmoid_i8_t *a) {
    uint32_t scale = odt_scale_mul(odt_scale(a->factor), odt_scale(*a->sx));
    odt_multiplier_t q = odt_multiplier(odt_scale_mul(scale, ODT_LOG2E));
    int32_t z = odt_limit(a->z, -128, 127);
    if (a->N < 256) {
        for (int32_t i = 0; i < a->N; i++) {
            a->y[i] = sigmoid(a->x[i] - z, &q);
        }
        return;
    }
    int8_t values[256];
    for (int32_t x = -128; x < 128; x++) {
        values[x + 128] = sigmoid(x - z, &q);
    }
    for (int32_t i = 0; i < a->N; i++) {
        a->y[i] = values[a->x[i] + 128];
    }
}

void odt_sigmoid_dx_i8(const odt_sigmoid_dx_i8_t *a) {
    int32_t peak = *a->peak;
    odt_multiplier_t q = odt_checked(a->q);
    for (int32_t i = 0; i < a->N; i++) {
        int32_t v = a->e[i] * (16384 - a->y[i] * a->y[i]);
        a->dx[i] = odt_clamp(odt_rescaled(v, q), 0, -127, &peak);
    }
    *a->peak = peak;
}

void odt_softmax_i8(const odt_softmax_i8_t *a) {
    uint32_t scale = odt_scale_mul(odt_scale(a->factor), odt_scale(*a->sx));
    odt_multiplier_t q = odt_multiplier(odt_scale_mul(scale, ODT_LOG2E));
    int32_t N = a->N;
    for (int32_t m = 0; m < a->M; m++) {
        const int8_t *x = a->x + m * N;
        int8_t *y = a->y + m * N;
        int32_t top = -128;
        for (int32_t i = 0; i < N; i++) {
            top = odt_max(top, x[i]);
        }
        uint32_t sum = 0;
        for (int32_t i = 0; i < N; i++) {
            sum += odt_exp2n(odt_rescaled((top - x[i]) * 65536, q));
            sum = sum < 1u << 30 ? sum : 1u << 30;
        }
        for (int32_t i = 0; i < N; i++) {
            uint32_t p = odt_exp2n(odt_rescaled((top - x[i]) * 65536, q));
            y[i] = (int8_t)odt_min((int32_t)((512 * p + sum) / (2 * sum)) - 128, 127);
        }
    }
}

void odt_softmax_dx_i8(const odt_softmax_dx_i8_t *a) {
    int32_t N = a->N, peak = *a->peak;
    odt_multiplier_t q = odt_checked(a->q);
    for (int32_t m = 0; m < a->M; m++) {
        const int8_t *e = a->e + m * N, *y = a->y + m * N;
        int8_t *dx = a->dx + m * N;
        uint32_t mean = 0; // of e, in 1/256; it wraps
        for (int32_t i = 0; i < N; i++) {
            mean += (uint32_t)(e[i] * (y[i] + 128));
        }
        for (int32_t i = 0; i < N; i++) {
            uint32_t v = (uint32_t)(y[i] + 128) * ((uint32_t)(256 * e[i]) - mean);
            dx[i] = odt_clamp(odt_rescaled((int32_t)v, q), 0, -127, &peak);
        }
    }
    *a->peak = peak;
}
