// The size of a layer's errors relative to the largest so far. It sets the share of the channels that get a gradient.

#include "../../fixed.h"
#include "../../float32.h"
#include "../../opcodes.h"

void odt_relative_i8(const odt_relative_i8_t *a) {
    uint64_t sum = 0;
    for (int32_t i = 0; i < a->N; i++) {
        sum += odt_magnitude(a->e[i]);
    }
    uint32_t total = sum > INT32_MAX ? INT32_MAX : (uint32_t)sum, largest = (uint32_t)*a->largest;
    if (!a->c[ODT_KEY]) { // not within a training step
        *a->ratio = 65536;
        return;
    }
    if (!total) {
        *a->ratio = 0;
        return;
    }
    uint32_t size = odt_scale_mul(odt_scale_int(total), odt_scale(*a->se));
    largest = odt_scale((int32_t)largest);
    if (size > largest) {
        largest = size;
    }
    *a->largest = (int32_t)largest;
    *a->ratio = odt_rescaled(65536, odt_multiplier(odt_scale_div(size, largest)));
}

void odt_relative_f32(const odt_relative_f32_t *a) {
    float total = 0;
    for (int32_t i = 0; i < a->N; i++) {
        total = total + (a->e[i] < 0 ? -a->e[i] : a->e[i]);
    }
    total = odt_store(total);
    if (!a->c[ODT_KEY]) {
        *a->ratio = 65536;
        return;
    }
    if (total > *a->largest) {
        *a->largest = total;
    }
    *a->ratio = total > 0 ? odt_limit(odt_to_int(total / *a->largest * 65536.0f), 0, 65536) : 0;
}
