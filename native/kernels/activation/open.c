// Where a clamp let values through, as bits, for errors to be masked by: bit i & 7 of byte i >> 3.

#include "../../float32.h"
#include "../../opcodes.h"

static int fits(int32_t count, int32_t bytes) {
    return count <= 8 * (int64_t)bytes;
}

void odt_open_i8(const odt_open_i8_t *a) {
    if (!fits(a->N, a->S)) {
        return;
    }
    uint32_t byte = 0;
    for (int32_t i = 0; i < a->N; i++) {
        byte |= (uint32_t)(a->y[i] > a->lo && a->y[i] < a->hi) << (i & 7);
        if ((i & 7) == 7 || i == a->N - 1) {
            a->bits[i >> 3] = (int8_t)byte;
            byte = 0;
        }
    }
}

void odt_open_f32(const odt_open_f32_t *a) {
    float hi = odt_float((uint32_t)a->hi);
    if (!fits(a->N, a->S)) {
        return;
    }
    uint32_t byte = 0;
    for (int32_t i = 0; i < a->N; i++) {
        byte |= (uint32_t)(a->y[i] > 0.0f && a->y[i] < hi) << (i & 7);
        if ((i & 7) == 7 || i == a->N - 1) {
            a->bits[i >> 3] = (int8_t)byte;
            byte = 0;
        }
    }
}

void odt_masked_i8(const odt_masked_i8_t *a) {
    for (int32_t i = 0; i < a->N && fits(a->N, a->S); i++) {
        a->dx[i] = a->bits[i >> 3] >> (i & 7) & 1 ? a->e[i] : 0;
    }
}

void odt_masked_f32(const odt_masked_f32_t *a) {
    for (int32_t i = 0; i < a->N && fits(a->N, a->S); i++) {
        a->dx[i] = a->bits[i >> 3] >> (i & 7) & 1 ? a->e[i] : 0.0f;
    }
}
