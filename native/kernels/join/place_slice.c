// Copies columns into and out of a wider tensor. N, K and `at` count bytes, so it serves int8 and float32.

#include <string.h>

#include "../../opcodes.h"
#include "../../common/axis_part.h"

void odt_place(const odt_place_t *a) {
    if (!odt_within(a->at, a->K, a->N)) {
        return;
    }
    for (int32_t m = 0; m < a->M; m++) {
        memmove(a->y + m * a->N + a->at, a->x + m * a->K, (size_t)a->K);
    }
}

void odt_slice(const odt_slice_t *a) {
    if (!odt_within(a->at, a->K, a->N)) {
        memset(a->y, 0, (size_t)a->M * (size_t)a->K);
        return;
    }
    for (int32_t m = 0; m < a->M; m++) {
        memmove(a->y + m * a->K, a->x + m * a->N + a->at, (size_t)a->K);
    }
}
