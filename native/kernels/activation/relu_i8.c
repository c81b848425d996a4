// ReLU and its gradient, int8; both may work in place. ReLU6 is a ReLU with a fixed scale, in which 127 is 6.

#include <string.h>

#include "../../core.h"
#include "../../fixed.h"
#include "../../opcodes.h"
#include "../../common/words.h"
#include "../../cores/m0/words__m0.h"
#include "../../cores/m4/words__m4.h"

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
    #if ODT_M4
    if (lo == (int8_t)lo) {
        for (; end - e >= 4; e += 4, y += 4, dx += 4) {
            uint32_t word = odt_where_above(odt_word(y), (uint8_t)lo * 0x01010101u, odt_word(e));
            memcpy(dx, &word, 4);
        }
    }
    #endif
    if (ODT_32_BIT && !ODT_M4 && lo == -128 && (((uintptr_t)e | (uintptr_t)y | (uintptr_t)dx) & 3) == 0) {
        #if ODT_M0 && !ODT_SMALL
        if (a->N >= 4) {
            int32_t whole = a->N & ~3;
            odt_mask_words(dx, e, y, whole / 4);
            e += whole;
            y += whole;
            dx += whole;
        }
        #endif
        for (; end - e >= 4; e += 4, y += 4, dx += 4) {
            uint32_t word = odt_load_word(y) ^ 0x80808080;
            // the top bit of each byte: 1 if the byte is not 0
            word = (((word & 0x7F7F7F7F) + 0x7F7F7F7F) | word) & 0x80808080;
            odt_store_word(dx, odt_load_word(e) & ((word - (word >> 7)) | word));
        }
    }
    #if !ODT_32_BIT
    // a buffer, so that the compiler vectorizes this although dx may be e
    int8_t found[64], low = (int8_t)lo;
    for (; low == lo && end - e >= 64; e += 64, y += 64, dx += 64) {
        for (int32_t i = 0; i < 64; i++) {
            found[i] = (int8_t)(e[i] & -(y[i] > low));
        }
        memcpy(dx, found, sizeof(found));
    }
    #endif
    for (; e != end; e++) {
        *dx++ = *y++ > lo ? *e : 0;
    }
}

void odt_relu6_dx_i8(const odt_relu6_dx_i8_t *a) {
    for (int32_t i = 0; i < a->N; i++) {
        a->dx[i] = a->y[i] > -128 && a->y[i] < 127 ? a->e[i] : 0;
    }
}
