// ELU and GELU with their gradients, float32.

#include <stddef.h>

#include "../../float32.h"
#include "../../opcodes.h"

// f(x) or its gradient.
static float curve_of(float x, int32_t kind, int32_t alpha, int is_gradient) {
    if (kind == 0) { // ELU
        if (!(x <= 0.0f)) {
            return is_gradient ? 1.0f : x; // NaN stays
        }
        float power = odt_expf(x);
        return odt_float((uint32_t)alpha) * (is_gradient ? power : power - 1.0f);
    }
    // GELU, from 1 - erf(u): Abramowitz and Stegun 7.1.26.
    static const uint32_t terms[] = {0x3F87DC22, 0xBFBA00E3, 0x3FB5F0E3, 0xBE91A98E, 0x3E827906};
    float size = x < 0.0f ? -x : x;
    float u = size * odt_float(0x3F3504F3); // sqrt 1/2
    float t = 1.0f / (1.0f + u * odt_float(0x3EA7BA05)); // 0.3275911
    float p = 0.0f;
    for (int i = 0; i < 5; i++) {
        p = (p + odt_float(terms[i])) * t;
    }
    float power = odt_expf(-(u * u));
    float part = p * power * 0.5f;
    part = x < 0.0f ? part : 1.0f - part;
    return is_gradient ? part + x * (power * odt_float(0x3ECC422A)) : x * part; // 1 / sqrt(2 pi)
}

static void run(float *y, const float *x, const float *e, int32_t N, int32_t kind, int32_t alpha, int32_t gain) {
    for (int32_t i = 0; i < N; i++) {
        float v = odt_float((uint32_t)gain) * curve_of(x[i], kind, alpha, e != NULL);
        y[i] = odt_store(e ? e[i] * v : v);
    }
}

void odt_curve_f32(const odt_curve_f32_t *a) {
    run(a->y, a->x, NULL, a->N, a->kind, a->alpha, a->gain);
}

void odt_curve_dx_f32(const odt_curve_dx_f32_t *a) {
    run(a->dx, a->x, a->e, a->N, a->kind, a->alpha, a->gain);
}
