// Products of two tensors, float32.

#include "../../float32.h"
#include "../../opcodes.h"

void odt_multiply_f32(const odt_multiply_f32_t *a) {
    for (int32_t i = 0; i < a->N; i++) {
        a->y[i] = odt_store(a->a[i] * a->b[i]);
    }
}
