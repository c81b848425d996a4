// Rows of adam_i8 on an RP2040, in 122 cycles a weight. The chip's divider is used directly, with the waiting
// filled: an interrupt that divides saves what is in it.

#ifndef ODT_ADAM_RP2040_H
#define ODT_ADAM_RP2040_H

#include <stddef.h>

#include "registers_m0.h"

_Static_assert(offsetof(adam_row_t, third) == 36 && offsetof(adam_row_t, is_limited) == 80, "as the loop loads them");

// As the C one.
__attribute__((naked, noinline)) static void step_row(adam_row_t *row) {
    (void)row;
    __asm volatile (
        ".syntax unified\n"
        ODT_SAVE_REGISTERS
        "mov lr, r0\n"
        "ldr r1, [r0, #76]\n"
        "mov r8, r1\n" // the hash's input
        "ldr r1, [r0, #64]\n"
        "mov r9, r1\n" // d
        "ldr r1, [r0, #68]\n"
        "mov r10, r1\n" // m
        "ldr r1, [r0, #72]\n"
        "mov r11, r1\n" // w
        "ldr r1, [r0, #16]\n"
        "mov r12, r1\n"
        "1:\n" // r1: g
        "mov r7, lr\n"
        "mov r0, r9\n"
        "ldmia r0!, {r1}\n"
        "mov r9, r0\n"
        "ldmia r7!, {r2, r3, r4}\n"
        "asrs r1, r2\n"
        "muls r1, r3\n"
        "movs r6, #0\n"
        "asrs r1, r4\n"
        "adcs r1, r6\n"
        "mov r0, r8\n" // r0: h
        "add r8, r12\n"
        "lsrs r2, r0, #16\n"
        "eors r0, r2\n"
        "ldmia r7!, {r2, r3, r4, r5}\n"
        "muls r0, r2\n"
        "lsrs r2, r0, #15\n"
        "eors r0, r2\n"
        "mov r2, r10\n" // r5: the moment
        "ldrsh r3, [r2, r6]\n"
        "muls r3, r4\n"
        "muls r5, r1\n"
        "adds r5, r5, r3\n"
        "uxth r3, r0\n"
        "adds r5, r5, r3\n"
        "asrs r5, r5, #16\n"
        "strh r5, [r2]\n"
        "adds r6, r2, #2\n"
        "mov r10, r6\n"
        "movs r6, r2\n"
        "ldmia r7!, {r2, r3}\n"
        "muls r1, r2\n" // r1: B
        "asrs r1, r1, #12\n"
        "asrs r2, r1, #31\n"
        "eors r1, r2\n"
        "ldr r4, [r7, #20]\n"
        "adds r6, r6, r4\n"
        "ldrh r2, [r6]\n"
        "muls r3, r2\n"
        "lsls r4, r2, #6\n"
        "lsls r2, r2, #1\n"
        "cmp r4, r1\n"
        "blo 7f\n"
        "8:\n"
        "adds r2, r2, #1\n"
        "muls r1, r1\n"
        "movs r4, #0xD0\n"
        "lsls r4, r4, #24\n"
        "str r1, [r4, #0x60]\n"
        "str r2, [r4, #0x64]\n"
        "lsrs r1, r0, #16\n" // 8 cycles at least until the quotient is there
        "adds r3, r3, r1\n"
        "lsls r5, r5, #12\n"
        "ldmia r7!, {r1}\n"
        "muls r0, r1\n" // r0: what rounds the weight
        "mov r1, r11\n"
        "ldr r2, [r7, #20]\n"
        "ldr r7, [r4, #0x70]\n"
        "lsls r7, r7, #4\n"
        "adds r3, r3, r7\n"
        "lsrs r3, r3, #16\n" // r3: the root
        "strh r3, [r6]\n"
        "adds r3, r3, #1\n"
        "str r5, [r4, #0x68]\n"
        "str r3, [r4, #0x6C]\n"
        "movs r7, #0\n" // again 8 cycles; r5: W
        "ldrsb r5, [r1, r7]\n"
        "lsls r5, r5, #8\n"
        "ldrsb r3, [r1, r2]\n"
        "adds r5, r5, r3\n"
        "mov r7, lr\n"
        "ldr r6, [r7, #40]\n"
        "ldr r3, [r4, #0x70]\n"
        "sxth r4, r3\n"
        "cmp r4, r3\n"
        "bne 4f\n"
        "2:\n"
        "muls r3, r6\n"
        "ldr r6, [r7, #44]\n"
        "lsrs r0, r6\n"
        "adds r3, r3, r0\n"
        "ldr r6, [r7, #48]\n"
        "asrs r3, r6\n"
        "subs r5, r5, r3\n"
        "asrs r3, r5, #31\n"
        "eors r3, r5\n"
        "lsrs r3, r3, #7\n"
        "cmp r3, #255\n"
        "bhs 5f\n"
        "3:\n"
        "strb r5, [r1, r2]\n" // W - 256 * w is W's low byte
        "adds r5, r5, #128\n"
        "asrs r5, r5, #8\n"
        "strb r5, [r1]\n"
        "adds r1, r1, #1\n"
        "mov r11, r1\n"
        "ldr r7, [r7, #52]\n"
        "cmp r7, r9\n"
        "bne 1b\n"
        "b 6f\n"
        "4:\n" // a direction beyond 15 bits
        "asrs r4, r3, #31\n"
        "ldr r3, =32767\n"
        "eors r3, r4\n"
        "b 2b\n"
        "5:\n" // a weight beyond its limit
        "asrs r3, r5, #31\n"
        "ldr r5, =32639\n"
        "str r5, [r7, #80]\n"
        "eors r5, r3\n"
        "b 3b\n"
        "7:\n" // the gradient's term is the larger
        "lsls r3, r1, #10\n"
        "lsrs r2, r1, #5\n"
        "movs r1, r4\n"
        "b 8b\n"
        "6:\n"
        ODT_RESTORE_REGISTERS
        ".ltorg\n"
        );
}

#endif
