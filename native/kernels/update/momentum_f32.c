// Momentum and Nesterov momentum of float32 models: gradients become directions. Nesterov looks one step ahead: v = mu
// * v + gradient, the direction is gradient + mu * v.

#include "../../float32.h"
#include "../../opcodes.h"

void odt_momentum_f32(const odt_momentum_f32_t *a) {
    float mu = odt_float((uint32_t)a->mu);
    for (int32_t i = 0; i < a->N; i++) {
        float v = odt_store(mu * a->v[i] + a->d[i]);
        a->v[i] = v;
        a->d[i] = v;
    }
}

void odt_nesterov_f32(const odt_nesterov_f32_t *a) {
    float mu = odt_float((uint32_t)a->mu);
    for (int32_t i = 0; i < a->N; i++) {
        float v = odt_store(mu * a->v[i] + a->d[i]);
        a->v[i] = v;
        a->d[i] = odt_store(a->d[i] + mu * v);
    }
}
