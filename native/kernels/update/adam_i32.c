// Adam of int8 models with state in float32: gradients [N, K] become directions. With state in int16: adam_i16.c.

#include "../../fixed.h"
#include "../../float32.h"
#include "../../opcodes.h"

void odt_adam_i32(const odt_adam_i32_t *a) {
    float G = odt_float(odt_scale_mul(odt_scale(a->factor), odt_scale(*a->gs)));
    float b1 = odt_float((uint32_t)a->b1), c1 = odt_float((uint32_t)a->c1);
    float b2 = odt_float((uint32_t)a->b2), c2 = odt_float((uint32_t)a->c2);
    float eps = odt_float((uint32_t)a->eps) * odt_float((uint32_t)a->rate[1]);
    for (int32_t i = 0; i < a->N * a->K; i++) {
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
