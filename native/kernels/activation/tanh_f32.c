// tanh and its gradient, which needs only y, float32.

#include "../../float32.h"
#include "../../opcodes.h"

void odt_tanh_f32(const odt_tanh_f32_t *a) {
    for (int32_t i = 0; i < a->N; i++) {
        float x = a->x[i];
        float size = x < 0.0f ? -x : x;
        if (size < 0.25f) { // 1 - exp(-2x) would lose bits here, so use the series of tanh(x) / x
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
