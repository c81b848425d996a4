// Rows of apply_i8 on an RP2040, in 67 cycles per weight.

#ifndef ODT_APPLY_I8_RP2040_H
#define ODT_APPLY_I8_RP2040_H

#include <stdint.h>

#include "registers__m0.h"

typedef struct {
    uint32_t second, third, golden; // 0: of the hash
    int32_t high, low, shift, rest; // 12: an odt_rescaler_t's, and 32 - shift
    const int32_t *end;             // 28
    int32_t is_limited;             // 32
    const int32_t *d;               // 36
    int8_t *w;                      // 40
    int32_t apart;                  // 44: from w to r
    uint32_t u;                     // 48: the hash's input
} odt_apply_row_t;

// Stops at `end`, or at the first d with more than 18 bits and a sign; d, w and u are then those of that element. r5:
// d, r8: u, r9: w, r10: from w to r, r11: 32639, r12: twice that, lr: row; r0: the direction, r1: the change, r2: W,
// r3: the hash.
__attribute__((naked, noinline)) static void odt_apply_row(odt_apply_row_t *row) {
    (void)row;
    __asm volatile (
        ".syntax unified\n"
        ODT_SAVE_REGISTERS
        "mov lr, r0\n"
        "ldr r1, [r0, #48]\n"
        "mov r8, r1\n"
        "ldr r1, [r0, #40]\n"
        "mov r9, r1\n"
        "ldr r1, [r0, #44]\n"
        "mov r10, r1\n"
        "ldr r1, =32639\n"
        "mov r11, r1\n"
        "adds r1, r1, r1\n"
        "mov r12, r1\n"
        "ldr r5, [r0, #36]\n"
        "1:\n"
        "ldr r0, [r5]\n"
        "lsls r1, r0, #13\n"
        "asrs r1, r1, #13\n"
        "cmp r1, r0\n"
        "bne 4f\n"
        "adds r5, r5, #4\n"
        "mov r7, lr\n"
        "mov r3, r8\n" // r3: u
        "ldmia r7!, {r1, r2, r4}\n"
        "add r8, r4\n"
        "lsrs r4, r3, #16\n"
        "eors r3, r4\n"
        "muls r3, r1\n"
        "lsrs r4, r3, #15\n"
        "eors r3, r4\n"
        "muls r3, r2\n"
        "lsrs r4, r3, #16\n"
        "eors r3, r4\n"
        "ldmia r7!, {r1, r2, r4, r6}\n" // r1: the change
        "muls r1, r0\n"
        "muls r2, r0\n"
        "movs r7, r3\n"
        "lsls r7, r4\n"
        "lsrs r7, r7, #20\n"
        "adds r2, r2, r7\n"
        "asrs r2, r2, #12\n"
        "lsrs r3, r6\n"
        "adds r1, r1, r3\n"
        "adds r1, r1, r2\n"
        "asrs r1, r4\n"
        "mov r6, r9\n" // r2: W
        "movs r7, #0\n"
        "ldrsb r2, [r6, r7]\n"
        "mov r7, r10\n"
        "ldrsb r3, [r6, r7]\n"
        "lsls r2, r2, #8\n"
        "adds r2, r2, r3\n"
        "subs r2, r2, r1\n"
        "mov r3, r11\n"
        "adds r3, r3, r2\n"
        "cmp r3, r12\n"
        "bhi 3f\n"
        "2:\n"
        "strb r2, [r6, r7]\n" // W - 256 * w is W's low byte
        "adds r2, r2, #128\n"
        "asrs r2, r2, #8\n"
        "strb r2, [r6]\n"
        "adds r6, r6, #1\n"
        "mov r9, r6\n"
        "mov r7, lr\n"
        "ldr r7, [r7, #28]\n"
        "cmp r5, r7\n"
        "bne 1b\n"
        "b 4f\n"
        "3:\n"
        "asrs r1, r2, #31\n"
        "mov r2, r11\n"
        "mov r3, lr\n"
        "str r2, [r3, #32]\n"
        "eors r2, r1\n"
        "subs r2, r2, r1\n"
        "b 2b\n"
        "4:\n"
        "mov r0, lr\n"
        "str r5, [r0, #36]\n"
        "mov r1, r9\n"
        "str r1, [r0, #40]\n"
        "mov r1, r8\n"
        "str r1, [r0, #48]\n"
        ODT_RESTORE_REGISTERS
        ".ltorg\n"
        );
}

#endif
