// Elementwise, int8: ReLU and its gradient, addition. All may work in place.

#include "../fixed.h"
#include "../opcodes.h"
#include "words.h"

void odt_relu_i8(const odt_relu_i8_t *a) {
    const int8_t *x = a->x;
    int8_t *y = a->y;
    int32_t z = a->z;
    for (const int8_t *end = x + a->N; x != end;) {
        *y++ = (int8_t)odt_max(*x++, z);
    }
}

void odt_relu_dx_i8(const odt_relu_dx_i8_t *a) {
    const int8_t *e = a->e, *y = a->y;
    int8_t *dx = a->dx;
    int32_t lo = a->lo;
    const int8_t *end = e + a->N;
    if (UINTPTR_MAX == 0xFFFFFFFF && lo == -128 && (((uintptr_t)e | (uintptr_t)y | (uintptr_t)dx) & 3) == 0) {
        for (; end - e >= 4; e += 4, y += 4, dx += 4) { // by words; where there are vectors, the loop below is one of them
            uint32_t word = odt_load_word(y) ^ 0x80808080;
            word = (((word & 0x7F7F7F7F) + 0x7F7F7F7F) | word) & 0x80808080; // of bytes that are not 0
            odt_store_word(dx, odt_load_word(e) & ((word - (word >> 7)) | word));
        }
    }
    for (; e != end; e++) {
        *dx++ = *y++ > lo ? *e : 0;
    }
}

void odt_add_i8(const odt_add_i8_t *a) {
    int32_t peak = *a->peak;
    odt_multiplier_t qa = odt_checked(a->qa), qb = odt_checked(a->qb);
    for (int32_t i = 0; i < a->N; i++) {
        // Eight bits below the result's step keep the two roundings small.
        int64_t sum = odt_rescaled(odt_wrap_mul(odt_wrap_sub(a->a[i], a->za), 256), qa);
        sum += odt_rescaled(odt_wrap_mul(odt_wrap_sub(a->b[i], a->zb), 256), qb);
        int32_t v = (int32_t)(((int64_t)odt_sat32(sum) + 128) >> 8);
        a->y[i] = odt_clamp(v, a->zy, a->lo, &peak);
    }
    *a->peak = peak;
}
