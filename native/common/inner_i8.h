// Inner loops of the int8 kernels, over contiguous memory. Plain loops that a compiler vectorises;
// sums are int32 and wrap, so a zero point is taken out: sum (x - z) w = sum x w - z sum w.

#ifndef ODT_INNER_I8_H
#define ODT_INNER_I8_H

#include <stdint.h>

#include "../fixed.h"

// Channels that a kernel sums at a time where its filter's sums are not contiguous.
#define ODT_BLOCK 32

static inline int32_t odt_dot_i8(const int8_t *a, const int8_t *b, int32_t n) {
    int32_t sum = 0;
    for (int32_t i = 0; i < n; i++) {
        sum = odt_wrap_add(sum, a[i] * b[i]);
    }
    return sum;
}

// sum (a[i] - z) * b[i]
static inline int32_t odt_dot_from_i8(const int8_t *a, int32_t z, const int8_t *b, int32_t n) {
    int32_t sum = 0;
    for (int32_t i = 0; i < n; i++) {
        sum = odt_wrap_add(sum, odt_wrap_mul(odt_wrap_sub(a[i], z), b[i]));
    }
    return sum;
}

static inline int32_t odt_sum_i8(const int8_t *a, int32_t n) {
    int32_t sum = 0;
    for (int32_t i = 0; i < n; i++) {
        sum = odt_wrap_add(sum, a[i]);
    }
    return sum;
}

// acc[i] += e * w[i] - offset
static inline void odt_axpy_i8(int32_t *acc, int32_t e, const int8_t *w, int32_t offset,
    int32_t n) {
    int16_t e16 = (int16_t)e;
    for (int32_t i = 0; i < n; i++) {
        acc[i] = odt_wrap_add(acc[i], odt_wrap_sub((int16_t)(e16 * w[i]), offset));
    }
}

#endif
