// Errors of differences and their squares in assembly of a Cortex-M0+ (mse_i8.c).

#ifndef ODT_MSE_I8_M0_H
#define ODT_MSE_I8_M0_H

#include "../common/elements__m0.h"

// 29 cycles each, from d on, which is then where it ended: at `end`, before a difference of more than 16 bits and a sign, or before
// a new peak. r0: d, r1: the loss, r2: a difference, then an output and top, r4-r6: low, high, shift, r7: e; r8: -top, r9: twice top,
// r10: end, r11: peak, r12: plus, lr: errors. errors_t: high, low, shift at 8, peak, d, end, e, loss at 48, minus_top, twice_top, plus
// at 72.
__attribute__((naked, noinline)) static void store_usual(errors_t *errors) {
    (void)errors;
    __asm volatile (
        ".syntax unified\n"
        ODT_SAVE_REGISTERS
        "mov lr, r0\n"
        "ldr r5, [r0, #8]\n"
        "ldr r4, [r0, #12]\n"
        "ldr r6, [r0, #16]\n"
        "movs r1, r0\n"
        "adds r1, #72\n"
        "ldmia r1!, {r2, r3, r7}\n"
        "mov r8, r2\n"
        "mov r9, r3\n"
        "mov r12, r7\n"
        "adds r0, #48\n"
        "ldmia r0!, {r1, r2, r3, r7}\n"
        "mov r11, r1\n"
        "mov r10, r3\n"
        "ldr r1, [r0]\n"
        "movs r0, r2\n"
        "1:\n"
        "ldr r2, [r0]\n"
        "asrs r3, r2, #16\n" // 0 or -1
        "adds r3, r3, #1\n"
        "lsrs r3, r3, #1\n"
        "bne 6f\n"
        "movs r3, r2\n"
        "muls r3, r4\n"
        "asrs r3, r3, #12\n"
        "muls r2, r5\n"
        "adds r2, r2, r3\n"
        "add r2, r12\n"
        "asrs r2, r6\n"
        "cmp r2, r9\n"
        "bhi 4f\n"
        "add r2, r8\n"
        "3:\n"
        "strb r2, [r7]\n"
        "adds r7, r7, #1\n"
        "ldmia r0!, {r2}\n"
        "muls r2, r2\n"
        "beq 7f\n"
        "adds r1, r1, r2\n"
        "bcs 8f\n"
        "2:\n"
        "cmp r0, r10\n"
        "bne 1b\n"
        "b 6f\n"
        "4:\n"
        "add r2, r8\n"
        "asrs r3, r2, #31\n"
        "eors r2, r3\n"
        "subs r2, r2, r3\n"
        "cmp r2, r11\n"
        "bgt 6f\n"
        "movs r2, #127\n"
        "eors r2, r3\n"
        "subs r2, r2, r3\n"
        "b 3b\n"
        "7:\n" // of 0, or of -2^16
        "subs r0, r0, #4\n"
        "ldmia r0!, {r2}\n"
        "cmp r2, #0\n"
        "beq 2b\n"
        "8:\n"
        "mov r3, lr\n"
        "ldr r2, [r3, #68]\n"
        "adds r2, r2, #1\n"
        "str r2, [r3, #68]\n"
        "b 2b\n"
        "6:\n"
        "mov r3, lr\n"
        "str r0, [r3, #52]\n"
        "str r7, [r3, #60]\n"
        "str r1, [r3, #64]\n"
        ODT_RESTORE_REGISTERS
        );
}

#endif
