// A mask of the values that a clamp does not change; it later masks the errors. Element i is bit i & 7 of byte i >> 3.

#include "../../core.h"
#include "../../float32.h"
#include "../../opcodes.h"
#include "../../common/words.h"
#include "../../cores/m0/words__m0.h"
#include "../../cores/m4/words__m4.h"

static int fits(int32_t count, int32_t bytes) {
    return count <= 8 * (int64_t)bytes;
}

#if ODT_M4

// One bit per byte of y above lo, and below hi if hi is a byte.
static uint32_t open_four(const int8_t *y, int32_t lo, int32_t hi) {
    uint32_t word = odt_word(y), ones = odt_where_above(word, (uint8_t)lo * 0x01010101u, 0x01010101);
    if (hi <= 127) {
        ones = odt_where_above((uint8_t)hi * 0x01010101u, word, ones);
    }
    return ones * 0x10204080 >> 28;
}

#endif

void odt_open_i8(const odt_open_i8_t *a) {
    int32_t i = 0;
    if (!fits(a->N, a->S)) {
        return;
    }
    #if ODT_M0 && !ODT_SMALL
    if (a->N >= 8 && a->lo == -128 && a->hi > 127 && ((uintptr_t)a->y & 3) == 0) {
        i = a->N & ~7;
        odt_open_words(a->bits, a->y, i / 8);
    }
    #endif
    #if ODT_M4
    if (a->lo == (int8_t)a->lo && a->hi > -128) {
        for (; i + 8 <= a->N; i += 8) {
            a->bits[i >> 3] =
                (int8_t)(open_four(a->y + i, a->lo, a->hi) | open_four(a->y + i + 4, a->lo, a->hi) << 4);
        }
    }
    #endif
    uint32_t byte = 0;
    for (; i < a->N; i++) {
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

// Expands four bits to bytes: 0xFF for each 1.
static inline uint32_t spread(uint32_t bits) {
    uint32_t ones = bits * 0x00204081 & 0x01010101;
    return (ones << 8) - ones;
}

void odt_masked_i8(const odt_masked_i8_t *a) {
    int32_t i = 0, N = a->N;
    if (!fits(N, a->S)) {
        return;
    }
    if (ODT_32_BIT && !ODT_SMALL && (((uintptr_t)a->e | (uintptr_t)a->dx) & 3) == 0) {
        for (; i + 8 <= N; i += 8) {
            uint32_t bits = (uint8_t)a->bits[i >> 3];
            odt_store_word(a->dx + i, odt_load_word(a->e + i) & spread(bits & 15));
            odt_store_word(a->dx + i + 4, odt_load_word(a->e + i + 4) & spread(bits >> 4));
        }
    }
    for (; i < N; i++) {
        a->dx[i] = a->bits[i >> 3] >> (i & 7) & 1 ? a->e[i] : 0;
    }
}

void odt_masked_f32(const odt_masked_f32_t *a) {
    for (int32_t i = 0; i < a->N && fits(a->N, a->S); i++) {
        a->dx[i] = a->bits[i >> 3] >> (i & 7) & 1 ? a->e[i] : 0.0f;
    }
}
