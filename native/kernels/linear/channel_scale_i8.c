// Converts errors from a scale per channel to one scale, int8, before the gradient of a layer's input. e and y are [M,
// N]: rows of a larger error, from the row in the upper half of id. The random numbers are those of the whole error.

#include "../../fixed.h"
#include "../../opcodes.h"
#include "../../common/rescale.h"

void odt_channel_scale_i8(const odt_channel_scale_i8_t *a) {
    int32_t M = a->M, N = a->N, peak = INT32_MAX;
    uint32_t id = (uint32_t)a->id, i = 0;
    uint32_t key = odt_hash32((uint32_t)a->c[ODT_KEY], id & 0xffff), first = (id >> 16) * (uint32_t)N;
    for (int32_t m = 0; m < M; m++) {
        for (int32_t n = 0; n < N; n++, i++) {
            int32_t v = odt_rescaled_random(a->e[i], odt_checked(&a->q[n]), odt_hash32(key, first + i));
            a->y[i] = odt_clamp(v, 0, -127, &peak);
        }
    }
}
