// Unpacks frozen 4-bit weights, two per byte, to int8 in scratch, where the int8 loops read them.

#include "../../opcodes.h"

void odt_unpack_i4(const odt_unpack_i4_t *a) {
    for (int32_t n = 0; n < a->N; n++) {
        uint32_t word = (uint32_t)a->x[n];
        a->y[2 * n] = (int32_t)(word << 4 & 0xF0F0F0F0); // four nibbles, 16 times each
        a->y[2 * n + 1] = (int32_t)(word & 0xF0F0F0F0);
    }
}
