// Four rows of weights times one column, on 32-bit cores without loops of their own; the interface of dense_i8__m0.h.

#ifndef ODT_DENSE_I8_C_H
#define ODT_DENSE_I8_C_H

#include "../../core.h"
#include "../../fixed.h"
#include "../correlate.h"

#if ODT_PANEL && !ODT_M4 && !ODT_M0

void odt_dot4_i8(const int8_t *x, const int8_t *w, int32_t step, int32_t K, int32_t zx, int32_t *sums, int32_t fours) {
    for (; fours; fours--, w += 4 * step, sums += 4) {
        int32_t s0 = 0, s1 = 0, s2 = 0, s3 = 0;
        const int8_t *at = w;
        for (const int8_t *from = x, *end = x + K; from != end; from++, at++) {
            int32_t v = odt_wrap_sub(*from, zx);
            s0 = odt_wrap_add(s0, odt_wrap_mul(v, at[0]));
            s1 = odt_wrap_add(s1, odt_wrap_mul(v, at[step]));
            s2 = odt_wrap_add(s2, odt_wrap_mul(v, at[2 * step]));
            s3 = odt_wrap_add(s3, odt_wrap_mul(v, at[3 * step]));
        }
        sums[0] = s0;
        sums[1] = s1;
        sums[2] = s2;
        sums[3] = s3;
    }
}

#endif

#endif
