// Rows of adam_i8 on an RP2040, in 112 cycles a weight. The chip's divider is used directly, with the waiting
// filled: an interrupt that divides saves what is in it.

#ifndef ODT_ADAM_RP2040_H
#define ODT_ADAM_RP2040_H

#include <stddef.h>

#include "registers_m0.h"

_Static_assert(offsetof(adam_row_t, third) == 36 && offsetof(adam_row_t, end) == 56
    && offsetof(adam_row_t, is_limited) == 80, "as the loop loads them");

// As the C one, two weights at a time. r8: the hash's input, r9: d, r10: m, r12: v, r11: w, lr: row.
__attribute__((naked, noinline)) static void step_row(adam_row_t *row) {
    (void)row;
    __asm volatile (
        ".syntax unified\n"
        ".macro odt_adam n, d, m, rare\n" // weight n of the two, 105 cycles; `rare` is before or behind
        "mov r7, lr\n"
        "mov r0, r9\n"
        "ldr r1, [r0, #\\d]\n"
        "ldmia r7!, {r2, r3, r4}\n"
        "asrs r1, r2\n"
        "muls r1, r3\n"
        "movs r6, #0\n"
        "asrs r1, r4\n"
        "adcs r1, r6\n" // r1: g
        "mov r0, r8\n"
        "lsrs r2, r0, #16\n"
        "eors r0, r2\n"
        "ldmia r7!, {r2, r3, r4, r5}\n"
        "add r8, r3\n"
        "muls r0, r2\n"
        "lsrs r2, r0, #15\n"
        "eors r0, r2\n" // r0: h
        "mov r2, r10\n"
        ".if \\n\n"
        "movs r6, #\\m\n"
        ".endif\n"
        "ldrsh r3, [r2, r6]\n"
        "muls r3, r4\n"
        "muls r5, r1\n"
        "adds r5, r5, r3\n"
        "uxth r3, r0\n"
        "adds r5, r5, r3\n"
        "asrs r5, r5, #16\n" // r5: the moment
        "strh r5, [r2, #\\m]\n"
        "ldmia r7!, {r2, r4}\n"
        "mov r6, r12\n"
        "muls r1, r2\n"
        "asrs r1, r1, #12\n"
        "asrs r2, r1, #31\n"
        "eors r1, r2\n" // r1: B
        "ldrh r2, [r6, #\\m]\n"
        "muls r4, r2\n" // r4: A
        "lsls r3, r2, #6\n"
        "lsls r2, r2, #1\n"
        "cmp r3, r1\n"
        "blo 4\\n\\()\\rare\n"
        "1\\n:\n"
        "adds r2, r2, #1\n"
        "muls r1, r1\n"
        "movs r3, #0xD0\n"
        "lsls r3, r3, #24\n"
        "str r1, [r3, #0x60]\n"
        "str r2, [r3, #0x64]\n"
        "lsrs r1, r0, #16\n" // 8 cycles until the quotient is there
        "adds r4, r4, r1\n"
        "lsls r5, r5, #12\n"
        "ldmia r7!, {r1, r2}\n"
        "muls r0, r1\n"
        "lsrs r0, r2\n" // r0: what rounds the weight
        "ldr r1, [r3, #0x70]\n"
        "lsls r1, r1, #4\n"
        "adds r4, r4, r1\n"
        "lsrs r4, r4, #16\n"
        "strh r4, [r6, #\\m]\n" // the root
        "adds r4, r4, #1\n"
        "str r5, [r3, #0x68]\n"
        "str r4, [r3, #0x6C]\n"
        "mov r1, r11\n" // again 8 cycles at least
        "movs r4, #\\n\n"
        "ldrsb r5, [r1, r4]\n"
        "lsls r5, r5, #8\n"
        "ldmia r7!, {r2, r4, r6}\n"
        ".if \\n\n"
        "adds r6, r6, #1\n"
        ".endif\n"
        "ldrsb r7, [r1, r6]\n"
        "adds r5, r5, r7\n" // r5: W
        "ldr r3, [r3, #0x70]\n"
        "sxth r7, r3\n"
        "cmp r7, r3\n"
        "bne 5\\n\\()\\rare\n"
        "2\\n:\n"
        "muls r3, r2\n"
        "adds r3, r3, r0\n"
        "asrs r3, r4\n"
        "subs r5, r5, r3\n"
        "strb r5, [r1, r6]\n" // W - 256 * w is W's low byte
        "adds r5, r5, #128\n"
        "asrs r5, r5, #8\n"
        "movs r3, r5\n"
        "adds r3, r3, #127\n"
        "cmp r3, #254\n"
        "bhi 6\\n\\()\\rare\n"
        "3\\n:\n"
        "strb r5, [r1, #\\n]\n"
        ".endm\n"
        ".macro odt_adam_rare n, main\n"
        "4\\n:\n" // the gradient's term is the larger
        "lsls r4, r1, #10\n"
        "lsrs r2, r1, #5\n"
        "movs r1, r3\n"
        "b 1\\n\\()\\main\n"
        "5\\n:\n" // a direction beyond 15 bits
        "asrs r7, r3, #31\n"
        "ldr r3, =32767\n"
        "eors r3, r7\n"
        "b 2\\n\\()\\main\n"
        "6\\n:\n" // a weight beyond its limit, 127 and 127 / 256 or -127 and -128 / 256
        "asrs r7, r5, #31\n"
        "movs r5, #127\n"
        "mov r3, lr\n"
        "str r5, [r3, #80]\n"
        "eors r5, r7\n"
        "strb r5, [r1, r6]\n"
        "subs r5, r5, r7\n"
        "b 3\\n\\()\\main\n"
        ".endm\n"
        ODT_SAVE_REGISTERS
        "mov lr, r0\n"
        "ldr r1, [r0, #60]\n" // from m to v
        "ldr r2, [r0, #68]\n"
        "mov r10, r2\n"
        "add r1, r2\n"
        "mov r12, r1\n"
        "ldr r1, [r0, #72]\n"
        "mov r11, r1\n"
        "ldr r1, [r0, #76]\n"
        "mov r8, r1\n"
        "ldr r1, [r0, #64]\n"
        "ldr r2, [r0, #56]\n"
        "mov r9, r1\n"
        "subs r2, r2, r1\n"
        "bne 7f\n"
        ODT_RESTORE_REGISTERS
        "7:\n"
        "lsls r2, r2, #29\n"
        "bpl 9f\n"
        "mov r1, r11\n" // an odd one first, as the second of two
        "subs r1, #1\n"
        "mov r11, r1\n"
        "movs r0, #2\n"
        "mov r1, r10\n"
        "subs r1, r1, r0\n"
        "mov r10, r1\n"
        "mov r1, r12\n"
        "subs r1, r1, r0\n"
        "mov r12, r1\n"
        "mov r1, r9\n"
        "subs r1, #4\n"
        "mov r9, r1\n"
        "b 8f\n"
        "odt_adam_rare 0, f\n"
        "9:\n"
        "odt_adam 0, 0, 0, b\n"
        "8:\n"
        "odt_adam 1, 4, 2, f\n"
        "adds r1, r1, #2\n"
        "mov r11, r1\n"
        "movs r0, #8\n"
        "add r9, r0\n"
        "movs r0, #4\n"
        "add r10, r0\n"
        "add r12, r0\n"
        "mov r7, lr\n"
        "ldr r7, [r7, #56]\n"
        "cmp r7, r9\n"
        "beq 7f\n"
        "b 9b\n"
        "7:\n"
        ODT_RESTORE_REGISTERS
        "odt_adam_rare 1, b\n"
        ".ltorg\n"
        ".purgem odt_adam\n"
        ".purgem odt_adam_rare\n"
        );
}

#endif
