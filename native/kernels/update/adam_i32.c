// Adam of int8 models with state in float32: gradients [N, K] become directions. With state in int16: adam_i16.c.

#include "../../core.h"
#include "../../fixed.h"
#include "../../float32.h"
#include "../../opcodes.h"
#include "adam__soft.h"

void odt_adam_i32(const odt_adam_i32_t *a) {
    float G = odt_float(odt_scale_mul(odt_scale(a->factor), odt_scale(*a->gs)));
    float b1 = odt_float((uint32_t)a->b1), c1 = odt_float((uint32_t)a->c1);
    float b2 = odt_float((uint32_t)a->b2), c2 = odt_float((uint32_t)a->c2);
    float eps = odt_float((uint32_t)a->eps) * odt_float((uint32_t)a->rate[1]);
    #if ODT_SOFT_FLOAT
    odt_soft_adam_t soft;
    odt_soft_t scale = {0, 0};
    int is_usual = odt_soft_begin(&soft, (uint32_t)a->b1, (uint32_t)a->c1, (uint32_t)a->b2, (uint32_t)a->c2, odt_bits(eps))
        && odt_soft_within(odt_bits(G), 25, 200, &scale);
    #endif
    for (int32_t i = 0; i < a->N * a->K; i++) {
        #if ODT_SOFT_FLOAT
        uint32_t m_bits = odt_bits(a->m[i]), v_bits = odt_bits(a->v[i]), size = odt_magnitude(a->d[i]);
        if (is_usual && size < 1 << 24) {
            int32_t up = 24 - odt_bit_length(size);
            odt_soft_t gradient = {size << up, 150 - up}, direction;
            gradient = odt_soft_mul(gradient, scale);
            if (odt_soft_step(&soft, &m_bits, &v_bits, gradient, a->d[i] < 0, &direction)) {
                a->m[i] = odt_float(m_bits);
                a->v[i] = odt_float(v_bits);
                // In 2^-20, cut off; 4 at most.
                int32_t x = 0;
                if (direction.man && direction.field > 106) {
                    x = direction.field > 129 ? 1 << 22 : odt_min((int32_t)(direction.man >> (130 - direction.field)), 1 << 22);
                }
                a->d[i] = m_bits >> 31 ? -x : x;
                continue;
            }
        }
        #endif
        float g = (float)a->d[i] * G;
        float m = odt_store(b1 * a->m[i] + c1 * g);
        float v = odt_store2(b2 * a->v[i] + c2 * (g * g));
        a->m[i] = m;
        a->v[i] = v;
        float x = m / (odt_sqrtf(v) + eps);
        x = x > 4.0f ? 4.0f : x < -4.0f ? -4.0f : x;
        a->d[i] = odt_to_int(x * 1048576.0f);
    }
    for (int32_t n = 0; n < a->N; n++) {
        a->ds[n] = (int32_t)odt_scale_shift(ODT_ONE, -20);
    }
}
