// Adam of float32 models: gradients become directions.

#include "../../core.h"
#include "../../float32.h"
#include "../../opcodes.h"
#include "adam__soft.h"

void odt_adam_f32(const odt_adam_f32_t *a) {
    float b1 = odt_float((uint32_t)a->b1), c1 = odt_float((uint32_t)a->c1);
    float b2 = odt_float((uint32_t)a->b2), c2 = odt_float((uint32_t)a->c2);
    float eps = odt_float((uint32_t)a->eps) * odt_float((uint32_t)a->rate[1]);
    #if ODT_SOFT_FLOAT
    odt_soft_adam_t soft;
    int is_usual = odt_soft_begin(&soft, (uint32_t)a->b1, (uint32_t)a->c1, (uint32_t)a->b2, (uint32_t)a->c2, odt_bits(eps));
    #endif
    for (int32_t i = 0; i < a->N; i++) {
        #if ODT_SOFT_FLOAT
        uint32_t m_bits = odt_bits(a->m[i]), v_bits = odt_bits(a->v[i]), d_bits = odt_bits(a->d[i]);
        odt_soft_t gradient, direction;
        if (is_usual && odt_soft_within(d_bits, 76, 160, &gradient)
            && odt_soft_step(&soft, &m_bits, &v_bits, gradient, d_bits >> 31, &direction)) {
            a->m[i] = odt_float(m_bits);
            a->v[i] = odt_float(v_bits);
            a->d[i] = odt_float(odt_soft_stored(direction, m_bits >> 31, 76));
            continue;
        }
        #endif
        float d = a->d[i];
        float m = odt_store(b1 * a->m[i] + c1 * d);
        float v = odt_store2(b2 * a->v[i] + c2 * (d * d));
        a->m[i] = m;
        a->v[i] = v;
        a->d[i] = odt_store(m / (odt_sqrtf(v) + eps));
    }
}
