// Converts sums to outputs, two at a time (finish_i8__m4.h).

#include "../../core.h"
#include "../correlate.h"

#if ODT_M4

#include "../../fixed.h"
#include "words__m4.h"
#include "finish_i8__m4.h"

// What finish_pairs() loads; results have 15 bits, or the largest or the smallest has 16.
typedef struct {
    const int32_t *sums;
    const odt_multiplier_t *q;
    int8_t *y;
    const int32_t *end; // of the sums
    uint32_t most, least, zy, lo;
} pairs_t;

// 29 instructions for two outputs, up to the end or an unusual shift. r1: sums, r2: q, r3: y, r4: the end, r5, r6: the
// largest and the smallest results, r7: zy, r8: lo, r9-r12: m and shift of both, then results.
ODT_ASSEMBLY static void finish_pairs(pairs_t *p) {
    (void)p;
    __asm volatile (
        ".syntax unified\n"
        "push {r0, r4-r11, lr}\n"
        "ldm r0, {r1-r8}\n"
        "1:\n"
        "ldm r2, {r9-r12}\n"
        "sub r10, r10, #33\n" // the last bit is shifted out with rounding
        "sub r12, r12, #33\n"
        "orr r0, r10, r12\n"
        "cmp r0, #30\n"
        "bhs 2f\n"
        "ldrd r0, lr, [r1], #8\n"
        "add r2, r2, #16\n"
        "smmul r9, r0, r9\n"
        "smmul r11, lr, r11\n"
        "asr r9, r9, r10\n"
        "asr r11, r11, r12\n"
        "ssat r9, #16, r9\n"
        "ssat r11, #16, r11\n"
        "pkhbt r9, r9, r11, lsl #16\n"
        "mov r0, #0x00010001\n"
        "shadd16 r9, r9, r0\n"
        "ssub16 r0, r9, r5\n"
        "sel r5, r9, r5\n"
        "ssub16 r0, r6, r9\n"
        "sel r6, r9, r6\n"
        "sadd16 r9, r9, r7\n"
        "ssat16 r9, #8, r9\n"
        "ssub16 r0, r9, r8\n"
        "sel r9, r9, r8\n"
        "lsr r10, r9, #16\n"
        "strb r9, [r3], #1\n"
        "strb r10, [r3], #1\n"
        "cmp r1, r4\n"
        "bne 1b\n"
        "2:\n"
        "pop {r0}\n"
        "stm r0, {r1-r6}\n"
        "pop {r4-r11, pc}\n"
        );
}

int32_t odt_finish_pairs(const int32_t *sums, int32_t count, const odt_multiplier_t *q, int32_t zy, int32_t lo,
    int32_t *peak, int8_t *y) {
    pairs_t p = {.sums = sums, .q = q, .y = y, .end = sums + (count & ~1), .most = odt_twice(INT16_MIN),
        .zy = odt_twice(zy), .lo = odt_twice(lo)};
    if (count < 2 || zy != (int8_t)zy || lo != (int8_t)lo) {
        return 0;
    }
    finish_pairs(&p);
    int32_t high = odt_max((int16_t)p.most, (int32_t)p.most >> 16);
    int32_t low = odt_min((int16_t)p.least, (int32_t)p.least >> 16);
    if (high >= INT16_MAX / 2 || low <= INT16_MIN / 2) { // may have been saturated
        return 0;
    }
    if (p.sums != sums) {
        *peak = odt_max(*peak, lo == zy ? high : odt_max(high, -low));
    }
    return (int32_t)(p.sums - sums);
}

#endif
