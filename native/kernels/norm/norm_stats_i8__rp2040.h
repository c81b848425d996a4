// Statistics of small groups on an RP2040 (norm_i8.c): their roots and reciprocals by the divider.

#ifndef ODT_NORM_STATS_I8_RP2040_H
#define ODT_NORM_STATS_I8_RP2040_H

#include "../../core.h"
#include "../common/registers__m0.h"

// Groups of n elements, which lie beside one another: n is a power of 2, 32 at most, eps 2^-64 to 2^64.
typedef struct {
    int32_t n;         // 0
    int32_t less;      // 4: -n times the zero point
    int32_t log2;      // 8: of n
    uint32_t eps;      // 12: a scale
    const int8_t *x;   // 16
    int32_t *st, *end; // 20, 24
} few_t;

// Begins a division. Its result is ready 8 cycles later, which `meanwhile` takes.
#define DIVIDE(dividend, divisor, meanwhile) \
    "str " dividend ", [r3]\n" \
    "str " divisor ", [r3, #4]\n" \
    meanwhile

#define WAIT_4 "b 99f\n" "99: b 99f\n" "99:\n"
#define WAIT_6 "b 99f\n" "99:\n" WAIT_4

// What measure() makes: 8 cycles per element and 210 per group. r3: the divider, r8: f, r9: x, r10: st, r11: its end, r12: a mean.
__attribute__((naked, noinline)) static void measure_few(const few_t *f) {
    (void)f;
    __asm volatile (
        ".syntax unified\n"
        ODT_SAVE_REGISTERS
        "mov r8, r0\n"
        "ldr r1, [r0, #16]\n"
        "mov r9, r1\n"
        "ldr r1, [r0, #20]\n"
        "mov r10, r1\n"
        "ldr r1, [r0, #24]\n"
        "mov r11, r1\n"
        // r0: x, r1: index, r2: less, r3: an element, r4: sum, r5: sum of squares, r6: log2, r7: eps
        "1:\n"
        "mov r3, r8\n"
        "ldmia r3!, {r1, r2, r6, r7}\n"
        "mov r0, r9\n"
        "add r9, r1\n"
        "movs r4, #0\n"
        "movs r5, #0\n"
        "subs r1, r1, #1\n"
        "2:\n"
        "ldrsb r3, [r0, r1]\n"
        "adds r4, r4, r3\n"
        "muls r3, r3\n"
        "adds r5, r5, r3\n"
        "subs r1, r1, #1\n"
        "bpl 2b\n"
        // the mean, towards 0; r1 is -1, then -n
        "adds r2, r2, r4\n"
        "lsls r2, r2, #10\n"
        "asrs r3, r2, #31\n"
        "lsls r1, r6\n"
        "bics r3, r1\n"
        "adds r2, r2, r3\n"
        "asrs r2, r6\n"
        "mov r12, r2\n"
        // r5: the spread, below 2^24, as a scale; r0: its exponent field less 1, n^2 taken off
        "lsls r5, r6\n"
        "muls r4, r4\n"
        "subs r5, r5, r4\n"
        "beq 11f\n" // where there is none, eps alone
        "movs r0, #149\n"
        "subs r0, r0, r6\n"
        "subs r0, r0, r6\n"
        "3:\n"
        "lsrs r1, r5, #16\n"
        "bne 4f\n"
        "lsls r5, r5, #8\n"
        "subs r0, #8\n"
        "b 3b\n"
        "4:\n"
        "lsrs r1, r5, #20\n"
        "bne 6f\n"
        "lsls r5, r5, #4\n"
        "subs r0, #4\n"
        "b 6f\n"
        "11:\n"
        "lsrs r0, r7, #23\n"
        "lsls r5, r7, #9\n"
        "lsrs r5, r5, #9\n"
        "movs r2, #1\n"
        "lsls r2, r2, #23\n"
        "orrs r5, r2\n"
        "b 12f\n"
        "5:\n"
        "lsls r5, r5, #1\n"
        "subs r0, #1\n"
        "6:\n"
        "lsrs r1, r5, #23\n"
        "beq 5b\n"
        "lsls r0, r0, #23\n"
        "adds r5, r5, r0\n"
        // odt_scale_add(): r5: the larger, then the sum's mantissa, r7: the smaller, r0: the exponent's field, r1: shifts
        "cmp r5, r7\n"
        "bhs 7f\n"
        "movs r0, r5\n"
        "movs r5, r7\n"
        "movs r7, r0\n"
        "7:\n"
        "lsrs r0, r5, #23\n"
        "lsrs r1, r7, #23\n"
        "subs r1, r0, r1\n"
        "movs r2, #1\n"
        "lsls r2, r2, #29\n"
        "lsls r5, r5, #9\n"
        "lsrs r5, r5, #3\n"
        "orrs r5, r2\n"
        "lsls r7, r7, #9\n"
        "lsrs r7, r7, #3\n"
        "orrs r7, r2\n"
        "lsrs r7, r1\n" // by more than 31: to 0, which it is after 31 too
        "adds r5, r5, r7\n"
        "lsrs r1, r5, #30\n"
        "adds r0, r0, r1\n"
        "adds r1, #6\n"
        "movs r2, #0\n"
        "lsrs r5, r1\n"
        "adcs r5, r2\n" // rounded
        "lsrs r2, r5, #24\n"
        "lsrs r5, r2\n"
        "adds r0, r0, r2\n"
        // odt_scale_sqrt(): r5: the mantissa, doubled where its exponent is even, r4: half of that, r1: 12 bits of the root, from a
        // line r6 * r4 / 2^19 + 8 * r1 by one of Newton's steps, then all 24; r0: its exponent
        "12:\n"
        "subs r0, #173\n"
        "asrs r0, r0, #1\n"
        "movs r6, #105\n"
        "movs r1, #154\n"
        "bcc 8f\n"
        "lsls r5, r5, #1\n"
        "movs r6, #75\n"
        "movs r1, #215\n"
        "8:\n"
        "lsrs r4, r5, #1\n"
        "lsrs r2, r4, #11\n"
        "muls r2, r6\n"
        "lsrs r2, r2, #8\n"
        "lsls r1, r1, #3\n"
        "adds r1, r1, r2\n"
        "ldr r3, 14f\n"
        // r0: the exponent's field of the reciprocal, less 1, r6: digits of its quotient
        DIVIDE("r4", "r1", "movs r2, #102\n" "subs r0, r2, r0\n" "lsls r0, r0, #23\n" "movs r6, #3\n" WAIT_4)
        "ldr r2, [r3, #16]\n"
        "adds r1, r1, r2\n"
        "lsrs r1, r1, #1\n"
        "movs r2, r1\n"
        "muls r2, r2\n"
        "cmp r2, r4\n"
        "bls 9f\n" // else 1 too large
        "subs r1, r1, #1\n"
        "movs r2, r1\n"
        "muls r2, r2\n"
        "9:\n"
        "lsls r2, r2, #1\n"
        "subs r5, r5, r2\n"
        "lsls r5, r5, #11\n"
        "lsls r2, r1, #1\n"
        DIVIDE("r5", "r2", "lsls r1, r1, #12\n" "movs r2, #0\n" WAIT_6)
        "ldr r5, [r3, #20]\n"
        "ldr r4, [r3, #16]\n"
        "adds r1, r1, r4\n"
        "muls r4, r4\n"
        "lsls r5, r5, #12\n"
        "cmp r5, r4\n"
        "sbcs r1, r2\n"
        // odt_scale_div() of 1: r5: what is left, r1: the divisor, r4: the quotient
        "movs r5, #1\n"
        "lsls r5, r5, #23\n"
        "movs r4, #0\n"
        "10:\n"
        "lsls r5, r5, #8\n"
        DIVIDE("r5", "r1", "lsls r4, r4, #8\n" "nop\n" WAIT_6)
        "ldr r5, [r3, #20]\n"
        "ldr r2, [r3, #16]\n"
        "adds r4, r4, r2\n"
        "subs r6, r6, #1\n"
        "bne 10b\n"
        "lsls r5, r5, #1\n"
        "cmp r5, r1\n"
        "adcs r4, r4\n"
        "lsrs r4, r4, #1\n"
        "adcs r4, r0\n" // rounded
        "mov r0, r10\n"
        "mov r3, r12\n"
        "stmia r0!, {r3, r4}\n"
        "mov r10, r0\n"
        "cmp r0, r11\n"
        "beq 13f\n"
        "b 1b\n"
        "13:\n"
        ODT_RESTORE_REGISTERS
        ".balign 4\n"
        "14: .word %c0\n"
        :: "i" (ODT_DIVIDER));
}

#undef DIVIDE
#undef WAIT_4
#undef WAIT_6

#endif
