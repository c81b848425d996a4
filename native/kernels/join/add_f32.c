// Sums of two tensors, float32; may work in place.

#include "../../float32.h"
#include "../../opcodes.h"

void odt_add_f32(const odt_add_f32_t *a) {
    for (int32_t i = 0; i < a->N; i++) {
        float sum = a->a[i] + a->b[i];
        a->y[i] = a->relu && sum < 0.0f ? 0.0f : odt_store(sum);
    }
}
