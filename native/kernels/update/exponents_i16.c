// Block exponents (exponents_i16.h).

#include <string.h>

#include "../../core.h"
#include "exponents_i16.h"

// Bits of the largest of K magnitudes.
int32_t odt_bits_of(const int32_t *d, int32_t K) {
    int32_t any = 0;
    const int32_t *whole = d + (K & ~3);
    #if ODT_M0
    if (d != whole) {
        int32_t sign;
        __asm (
            ".syntax unified\n"
            "1:\n" // 20 cycles for 4; %0: d, %1: any, %2: sign, %3: whole
            "ldmia %0!, {r3-r6}\n"
            ".irp word, r3, r4, r5, r6\n"
            "asrs %2, \\word, #31\n"
            "eors \\word, %2\n"
            "orrs %1, \\word\n"
            ".endr\n"
            "cmp %0, %3\n"
            "bne 1b\n"
            : "+l" (d), "+l" (any), "=&l" (sign) : "h" (whole) : "r3", "r4", "r5", "r6", "cc", "memory");
    }
    #elif ODT_M4
    for (; (whole - d) & 7; d += 4) {
        any |= (d[0] ^ d[0] >> 31) | (d[1] ^ d[1] >> 31) | (d[2] ^ d[2] >> 31) | (d[3] ^ d[3] >> 31);
    }
    if (d != whole) {
        __asm (
            ".syntax unified\n"
            "1:\n" // 19 instructions for 8
            "ldmia %0!, {r3-r6, r8-r11}\n"
            ".irp word, r3, r4, r5, r6, r8, r9, r10, r11\n"
            "eor \\word, \\word, \\word, asr #31\n"
            "orr %1, %1, \\word\n"
            ".endr\n"
            "cmp %0, %2\n"
            "bne 1b\n"
            : "+r" (d), "+r" (any) : "r" (whole)
            : "r3", "r4", "r5", "r6", "r8", "r9", "r10", "r11", "cc", "memory");
    }
    #else
    for (; d != whole; d += 4) {
        any |= (d[0] ^ d[0] >> 31) | (d[1] ^ d[1] >> 31) | (d[2] ^ d[2] >> 31) | (d[3] ^ d[3] >> 31);
    }
    #endif
    for (const int32_t *end = d + (K & 3); d != end; d++) {
        any |= *d ^ *d >> 31;
    }
    return odt_bit_length((uint32_t)any);
}

void odt_state_shift_right(int16_t *v, int32_t K, int32_t bits) {
    if (bits > 15) { // all is shifted out; a state that has no exponent yet is also 0
        memset(v, 0, 2 * (size_t)K);
        return;
    }
    for (int32_t k = 0; k < K; k++) {
        v[k] = (int16_t)((v[k] + (1 << (bits - 1))) >> bits);
    }
}
