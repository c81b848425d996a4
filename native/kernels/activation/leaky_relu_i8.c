// Leaky ReLU and its gradient, int8.

#include "../../fixed.h"
#include "../../opcodes.h"

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
        if (a->x[i] <= a->z) { // rounded at random: with a small slope all would round to 0
            v = odt_rescaled_random(v, q, odt_hash32(key, (uint32_t)i));
        }
        a->dx[i] = (int8_t)odt_limit(v, -127, 127);
    }
}
