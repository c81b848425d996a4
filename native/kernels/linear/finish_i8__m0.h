// How sums become outputs on a Cortex-M0+: what panel_i8__m0.h and depthwise2d_i8__m0.c share.

#ifndef ODT_FINISH_I8_M0_H
#define ODT_FINISH_I8_M0_H

#include <stddef.h>

// Where a struct is to have them, all with zy included: the range of outputs and the peaks that there were.
#define ODT_FINISH_AT(type, high, low, max, min) \
    _Static_assert(offsetof(type, high) == 20 && offsetof(type, low) == 24 && offsetof(type, max) == 28 \
        && offsetof(type, min) == 32, "as ODT_FINISH_RARE loads them")

// The end of a macro with the argument n, a digit: the output of r2 and r3, both the sum, of 19 bits and a sign, goes to
// r1. r5, r6, r7: m_low, m_high and shift; r10, r11: top and bottom, what is neither out of range nor a new peak; r12:
// step; lr: 2 * zy + 1; r4: min; on the stack where high, low, max and min are (ODT_FINISH_AT).
#define ODT_FINISH \
    "muls r3, r5\n" /* (v * m_high + (v * m_low >> 12)) >> shift, rounded */ \
    "asrs r3, r3, #12\n" \
    "muls r2, r6\n" \
    "adds r2, r2, r3\n" \
    "asrs r2, r7\n" \
    "2\\n:\n" \
    "add r2, lr\n" \
    "asrs r2, r2, #1\n" \
    "cmp r2, r10\n" \
    "bgt 6\\n\\()f\n" \
    "cmp r2, r11\n" \
    "blt 8\\n\\()f\n" \
    "3\\n:\n" \
    "strb r2, [r1]\n" \
    "add r1, r12\n"

// The end of another macro, for the same n: what ODT_FINISH seldom needs.
#define ODT_FINISH_RARE \
    "6\\n:\n" /* out of range, if no new peak */ \
    "ldr r3, [sp]\n" \
    "ldr r3, [r3, #28]\n" \
    "cmp r2, r3\n" \
    "bgt 7\\n\\()f\n" \
    "mov r2, r10\n" \
    "b 3\\n\\()b\n" \
    "7\\n:\n" \
    "ldr r3, [sp]\n" \
    "str r2, [r3, #28]\n" \
    "ldr r3, [r3, #20]\n" \
    "mov r10, r2\n" \
    "cmp r2, r3\n" \
    "ble 3\\n\\()b\n" \
    "mov r10, r3\n" \
    "movs r2, r3\n" \
    "b 3\\n\\()b\n" \
    "8\\n:\n" \
    "cmp r2, r4\n" \
    "blt 9\\n\\()f\n" \
    "mov r2, r11\n" \
    "b 3\\n\\()b\n" \
    "9\\n:\n" \
    "movs r4, r2\n" \
    "ldr r3, [sp]\n" \
    "ldr r3, [r3, #24]\n" \
    "mov r11, r2\n" \
    "cmp r2, r3\n" \
    "bge 3\\n\\()b\n" \
    "mov r11, r3\n" \
    "movs r2, r3\n" \
    "b 3\\n\\()b\n"

#endif
