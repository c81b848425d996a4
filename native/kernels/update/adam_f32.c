// Adam of float32 models: gradients become directions.

#include "../../float32.h"
#include "../../opcodes.h"

void odt_adam_f32(const odt_adam_f32_t *a) {
    float eps = odt_float((uint32_t)a->eps) * odt_float((uint32_t)a->rate[1]);
    float b1 = odt_float((uint32_t)a->b1), c1 = odt_float((uint32_t)a->c1);
    float b2 = odt_float((uint32_t)a->b2), c2 = odt_float((uint32_t)a->c2);
    for (int32_t i = 0; i < a->N; i++) {
        float d = a->d[i];
        float m = odt_store(b1 * a->m[i] + c1 * d);
        float v = odt_store2(b2 * a->v[i] + c2 * (d * d));
        a->m[i] = m;
        a->v[i] = v;
        a->d[i] = odt_store(m / (odt_sqrtf(v) + eps));
    }
}
