// Applies directions to the weights of float32 models.

#include "../../float32.h"
#include "../../opcodes.h"

void odt_apply_f32(const odt_apply_f32_t *a) {
    float rate = odt_float((uint32_t)a->rate[0]);
    if (a->rate[0] == 0) {
        return;
    }
    for (int32_t i = 0; i < a->N; i++) {
        a->w[i] = odt_store(a->w[i] - rate * a->d[i]);
    }
}
