// Clipping by the global norm: sums its square, tensor by tensor, and computes the factor that limits it.

#include "../../fixed.h"
#include "../../float32.h"
#include "../../opcodes.h"

void odt_squares_i32(const odt_squares_i32_t *a) {
    uint32_t top = 0;
    for (int32_t i = 0; i < a->N; i++) {
        uint32_t size = odt_magnitude(a->d[i]);
        top = size > top ? size : top;
    }
    int32_t drop = 0, k = 0;
    while (top >> drop >> 18) {
        drop++;
    }
    uint64_t sum = 0;
    for (int32_t i = 0; i < a->N; i++) {
        uint64_t v = odt_magnitude(a->d[i]) >> drop;
        sum += v * v;
    }
    if (!sum) {
        return;
    }
    while (sum >> k >> 32) {
        k++;
    }
    uint32_t unit = odt_scale_shift(odt_scale_mul(odt_scale(a->factor), odt_scale(*a->gs)), drop);
    uint32_t square = odt_scale_shift(odt_scale_int((uint32_t)(sum >> k)), k);
    square = odt_scale_mul(square, odt_scale_mul(unit, unit));
    *a->total = (int32_t)(*a->total ? odt_scale_add(odt_scale(*a->total), square) : square);
}

void odt_clip_i32(const odt_clip_i32_t *a) {
    uint32_t root = *a->total ? odt_scale_sqrt(odt_scale(*a->total)) : 0, limit = odt_scale(a->limit);
    *a->y = (int32_t)(root > limit ? odt_scale_div(limit, root) : ODT_ONE);
}

void odt_squares_f32(const odt_squares_f32_t *a) {
    float total = *a->total;
    for (int32_t i = 0; i < a->N; i++) {
        total = total + a->d[i] * a->d[i];
    }
    *a->total = odt_store2(total);
}

void odt_clip_f32(const odt_clip_f32_t *a) {
    float root = odt_sqrtf(*a->total), limit = odt_float((uint32_t)a->limit);
    *a->y = root > limit ? odt_store(limit / root) : 1.0f;
}

void odt_scale_f32(const odt_scale_f32_t *a) {
    for (int32_t i = 0; i < a->N; i++) {
        a->d[i] = odt_store(a->d[i] * *a->factor);
    }
}
