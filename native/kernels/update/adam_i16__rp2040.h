// Rows of adam_i8 on an RP2040, in 94 cycles per weight. The chip's divider is used directly, with the waiting
// filled: an interrupt that divides saves what is in it.

#ifndef ODT_ADAM_I16_RP2040_H
#define ODT_ADAM_I16_RP2040_H

#include <stddef.h>

#include "../common/registers__m0.h"

_Static_assert(offsetof(adam_row_t, rate) == 36 && offsetof(adam_row_t, end) == 52
    && offsetof(adam_row_t, is_limited) == 76, "as the loop loads them");

// As the C one, four weights at a time. r8: the dither, r9: d, r10: m, r12: v, r11: w, lr: row.
__attribute__((naked, noinline)) static void step_row(adam_row_t *row) {
    (void)row;
    __asm volatile (
        ".syntax unified\n"
        ".macro odt_adam n, rare\n" // weight n of the four, 90 cycles; `rare` comes before (b) or after (f)
        "mov r7, lr\n"
        "mov r0, r9\n"
        "ldr r1, [r0, #4 * \\n]\n"
        "ldmia r7!, {r2, r3, r4}\n"
        "asrs r1, r2\n"
        "muls r3, r1\n"
        "asrs r3, r4\n"
        "asrs r2, r3, #31\n"
        "eors r3, r2\n" // r3: B
        "ldmia r7!, {r2, r4, r5, r6}\n"
        "muls r1, r2\n"
        "asrs r1, r4\n"
        "mov r0, r8\n" // r0: the dither
        "add r8, r5\n"
        "uxth r2, r0\n"
        "adds r1, r1, r2\n"
        "mov r2, r10\n"
        "movs r5, #2 * \\n\n"
        "ldrsh r4, [r2, r5]\n"
        "muls r4, r6\n"
        "adds r1, r1, r4\n"
        "asrs r1, r1, #16\n" // r1: the first moment
        "strh r1, [r2, #2 * \\n]\n"
        "ldmia r7!, {r4, r5}\n" // r4: the divider
        "mov r6, r12\n"
        "ldrh r2, [r6, #2 * \\n]\n"
        "muls r5, r2\n" // r5: A
        "lsls r2, r2, #6\n"
        "cmp r2, r3\n"
        "bls 4\\n\\()\\rare\n"
        "lsrs r2, r2, #5\n"
        "muls r3, r3\n"
        "str r3, [r4, #0x00]\n"
        "str r2, [r4, #0x04]\n"
        "1\\n:\n"
        "lsrs r2, r0, #16\n" // 8 cycles until the quotient is there
        "adds r5, r5, r2\n"
        "ldmia r7!, {r2, r3}\n"
        "muls r1, r2\n"
        "lsls r0, r0, #8\n"
        "lsrs r0, r3\n" // r0: what rounds the weight
        "ldr r2, [r4, #0x10]\n"
        "lsls r2, r2, #4\n"
        "adds r5, r5, r2\n"
        "lsrs r5, r5, #16\n"
        "strh r5, [r6, #2 * \\n]\n" // the root
        "adds r5, r5, #1\n"
        "str r1, [r4, #0x08]\n"
        "str r5, [r4, #0x0C]\n"
        "mov r1, r11\n" // again 8 cycles at least
        "movs r3, #\\n\n"
        "ldrsb r5, [r1, r3]\n"
        "ldmia r7!, {r2, r6}\n"
        ".if \\n\n"
        "adds r6, r6, r3\n"
        ".endif\n"
        "ldrsb r7, [r1, r6]\n"
        "lsls r5, r5, #8\n"
        "adds r5, r5, r7\n" // r5: W
        "ldr r3, [r4, #0x10]\n"
        "adds r3, r3, r0\n"
        "asrs r3, r2\n"
        "subs r5, r5, r3\n"
        "strb r5, [r1, r6]\n" // W - 256 * w is W's low byte
        "adds r5, r5, #128\n"
        "asrs r5, r5, #8\n"
        "movs r3, r5\n"
        "adds r3, r3, #127\n"
        "cmp r3, #254\n"
        "bhi 5\\n\\()\\rare\n"
        "3\\n:\n"
        "strb r5, [r1, #\\n]\n"
        ".endm\n"
        ".macro odt_adam_rare n, main\n"
        "4\\n:\n" // the gradient's term is the larger
        "lsls r5, r3, #10\n"
        "muls r2, r2\n"
        "lsrs r3, r3, #5\n"
        "adds r3, r3, #1\n"
        "str r2, [r4, #0x00]\n"
        "str r3, [r4, #0x04]\n"
        "b 1\\n\\()\\main\n"
        "5\\n:\n" // a weight beyond its limit, 127 and 127 / 256 or -127 and -128 / 256
        "asrs r7, r5, #31\n"
        "movs r5, #127\n"
        "mov r3, lr\n"
        "str r5, [r3, #76]\n"
        "eors r5, r7\n"
        "strb r5, [r1, r6]\n"
        "subs r5, r5, r7\n"
        "b 3\\n\\()\\main\n"
        ".endm\n"
        ODT_SAVE_REGISTERS
        "mov lr, r0\n"
        "movs r7, r0\n"
        "adds r7, #52\n"
        "ldmia r7!, {r1, r2, r3, r4, r5, r6}\n" // end, from m to v, d, m, w, dither
        "mov r8, r6\n"
        "subs r1, r1, r3\n"
        "bne 6f\n"
        ODT_RESTORE_REGISTERS
        "6:\n"
        "movs r0, #0\n"
        "lsls r1, r1, #28\n"
        "beq 7f\n"
        "movs r0, #16\n" // first those that are too many for fours, as the last of four
        "lsrs r1, r1, #28\n"
        "subs r0, r0, r1\n" // 4 times how many of the four are not there
        "7:\n"
        "subs r3, r3, r0\n"
        "mov r9, r3\n"
        "lsrs r3, r0, #1\n"
        "subs r4, r4, r3\n"
        "mov r10, r4\n"
        "add r4, r2\n"
        "mov r12, r4\n"
        "lsrs r3, r3, #1\n"
        "subs r5, r5, r3\n"
        "mov r11, r5\n"
        "cmp r0, #4\n"
        "blo 100f\n"
        "beq 101f\n"
        "cmp r0, #8\n"
        "bne 6f\n"
        "b 102f\n"
        "6:\n"
        "b 103f\n"
        "odt_adam_rare 0, f\n"
        "100:\n"
        "odt_adam 0, b\n"
        "101:\n"
        "odt_adam 1, f\n"
        "b 102f\n"
        "odt_adam_rare 1, b\n"
        "odt_adam_rare 2, f\n"
        "102:\n"
        "odt_adam 2, b\n"
        "103:\n"
        "odt_adam 3, f\n"
        "adds r1, r1, #4\n"
        "mov r11, r1\n"
        "movs r0, #16\n"
        "add r9, r0\n"
        "movs r0, #8\n"
        "add r10, r0\n"
        "add r12, r0\n"
        "mov r7, lr\n"
        "ldr r7, [r7, #52]\n"
        "cmp r7, r9\n"
        "beq 7f\n"
        "b 100b\n"
        "7:\n"
        ODT_RESTORE_REGISTERS
        "odt_adam_rare 3, b\n"
        ".purgem odt_adam\n"
        ".purgem odt_adam_rare\n"
        );
}

#endif
