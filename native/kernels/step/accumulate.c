// Sums the gradients of micro-batches to that of the batch.

#include "../../fixed.h"
#include "../../float32.h"
#include "../../opcodes.h"

void odt_accumulate_i32(const odt_accumulate_i32_t *a) {
    for (int32_t i = 0; i < a->N; i++) {
        a->y[i] = odt_wrap_add(a->y[i], a->d[i]);
    }
}

void odt_accumulate_f32(const odt_accumulate_f32_t *a) {
    for (int32_t i = 0; i < a->N; i++) {
        a->y[i] = odt_store(a->y[i] + a->d[i]);
    }
}
