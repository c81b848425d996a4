// Converts sums to outputs on a Cortex-M0+, for panel_i8__m0.inc and depthwise2d_i8__m0.c.
//
// The least result that is neither out of range nor a new peak is subtracted from each result. As an unsigned number,
// the difference is then too large exactly if the result is out of range or a new peak.

#ifndef ODT_FINISH_I8_M0_H
#define ODT_FINISH_I8_M0_H

#include <stddef.h>

// Checks where a struct has these members, which all include zy: the range of outputs and the peaks so far.
#define ODT_FINISH_AT(type, high, low, max, min) \
    _Static_assert(offsetof(type, high) == 32 && offsetof(type, low) == 36 && offsetof(type, max) == 40 \
        && offsetof(type, min) == 44, "as ODT_FINISH_RARE loads them")

// odt_finish: converts the sum, in r2 and in r3, of 19 bits and a sign, to an output and stores it at r1. Each use has
// a number n. r5, r6, r7: m_low, m_high and q.s - 19; r11: the least result, r4: zy - r11, r10: the largest result -
// r11; r12: step; the struct's address is on the stack. The rare cases are odt_finish_rare n, and ODT_FINISH_RARE at
// label 81. If outputs are clamped at zy, odt_finish_cut n, at 7n, processes sums below 0.
#define ODT_FINISH_MACROS \
    ".macro odt_finish n\n" \
    "muls r3, r5\n" /* v * m_high + (v * m_low >> 12), shifted and, by the last bit that goes, rounded */ \
    "asrs r3, r3, #12\n" \
    "muls r2, r6\n" \
    "adds r2, r2, r3\n" \
    "asrs r2, r7\n" \
    "2\\n:\n" \
    "adcs r2, r4\n" \
    "cmp r2, r10\n" \
    "bhi 6\\n\\()f\n" \
    "3\\n:\n" \
    "add r2, r11\n" \
    "4\\n:\n" \
    "strb r2, [r1]\n" \
    "add r1, r12\n" \
    ".endm\n" \
    ".macro odt_finish_rare n\n" \
    "6\\n:\n" \
    "bl 81f\n" \
    "b 3\\n\\()b\n" \
    ".endm\n" \
    ".macro odt_finish_cut n\n" \
    "7\\n:\n" \
    "mov r2, r11\n" \
    "b 4\\n\\()b\n" \
    ".endm\n"

#define ODT_FINISH_PURGE \
    ".purgem odt_finish\n" \
    ".purgem odt_finish_rare\n" \
    ".purgem odt_finish_cut\n"

// For a result out of range or a new peak; follows the comparison with r10.
#define ODT_FINISH_RARE \
    "add r2, r11\n" \
    "bmi 1f\n" \
    "ldr r3, [sp]\n" \
    "ldr r3, [r3, #40]\n" \
    "cmp r2, r3\n" \
    "ble 2f\n" \
    "ldr r3, [sp]\n" \
    "str r2, [r3, #40]\n" \
    "ldr r3, [r3, #32]\n" \
    "cmp r2, r3\n" \
    "ble 3f\n" \
    "movs r2, r3\n" \
    "3:\n" \
    "mov r3, r11\n" \
    "subs r2, r2, r3\n" \
    "mov r10, r2\n" \
    "2:\n" \
    "mov r2, r10\n" \
    "bx lr\n" \
    "1:\n" \
    "ldr r3, [sp]\n" \
    "ldr r3, [r3, #44]\n" \
    "cmp r2, r3\n" \
    "bge 2f\n" \
    "ldr r3, [sp]\n" \
    "str r2, [r3, #44]\n" \
    "ldr r3, [r3, #36]\n" \
    "cmp r2, r3\n" \
    "bge 3f\n" \
    "movs r2, r3\n" \
    "3:\n" \
    "mov r3, r11\n" \
    "mov r11, r2\n" \
    "subs r3, r3, r2\n" \
    "adds r4, r4, r3\n" \
    "add r10, r3\n" \
    "2:\n" \
    "movs r2, #0\n" \
    "bx lr\n"

#endif
