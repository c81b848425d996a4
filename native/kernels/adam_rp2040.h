// Rows of adam_i16 on an RP2040, in about 130 cycles a weight. The chip's divider is used directly, with the
// waiting filled: an interrupt that divides saves what is in it.

#ifndef ODT_ADAM_RP2040_H
#define ODT_ADAM_RP2040_H

#include <stdint.h>

#include "registers_m0.h"

// In the order in which the loop loads them.
typedef struct {
    int32_t high, low, shift; // 0: an odt_rescaler_t's, the shift less 1
    uint32_t second, third;   // 12: the hash's factors
    uint32_t golden;          // 20
    int32_t c1;               // 24
    uint32_t r2, rc2;         // 28
    uintptr_t sio;            // 36
    const uint8_t *lengths;   // 40: bits of 0 .. 255
    uint32_t top;             // 44
    const int32_t *end;       // 48
    int32_t *d;               // 52
    int16_t *m, *v;           // 56
    uint32_t u;               // 64: the hash's input
} odt_adam_row_t;

// d so small that d * high + (d * low >> 12) and d * low are below 2^31; at least one.
__attribute__((naked, noinline)) static void odt_adam_row(odt_adam_row_t *row) {
    (void)row;
    __asm volatile (
        ".syntax unified\n"
        ODT_SAVE_REGISTERS
        "mov lr, r0\n"
        "ldr r1, [r0, #64]\n"
        "mov r8, r1\n"
        "ldr r1, [r0, #52]\n"
        "mov r9, r1\n"
        "ldr r1, [r0, #56]\n"
        "mov r10, r1\n"
        "ldr r1, [r0, #60]\n"
        "mov r11, r1\n"
        "1:\n" // r1: g
        "mov r7, lr\n"
        "mov r0, r9\n"
        "ldr r0, [r0]\n"
        "ldmia r7!, {r1, r2, r3}\n"
        "muls r1, r0\n"
        "muls r2, r0\n"
        "asrs r2, r2, #12\n"
        "adds r1, r1, r2\n"
        "asrs r1, r3\n"
        "adds r1, r1, #1\n"
        "asrs r1, r1, #1\n"
        "mov r0, r8\n" // r0, r12: u
        "ldmia r7!, {r2, r3, r4, r5}\n"
        "add r8, r4\n"
        "lsrs r6, r0, #16\n"
        "eors r0, r6\n"
        "muls r0, r2\n"
        "lsrs r6, r0, #15\n"
        "eors r0, r6\n"
        "muls r0, r3\n"
        "lsrs r6, r0, #16\n"
        "eors r0, r6\n"
        "mov r12, r0\n"
        "mov r6, r10\n" // r3: the moment; r4: its sign, r5: its size
        "movs r2, #0\n"
        "ldrsh r2, [r6, r2]\n"
        "lsls r3, r2, #4\n"
        "subs r3, r1, r3\n"
        "muls r3, r5\n"
        "uxth r0, r0\n"
        "adds r3, r3, r0\n"
        "asrs r3, r3, #16\n"
        "adds r3, r3, r2\n"
        "asrs r4, r3, #31\n"
        "adds r5, r3, r4\n"
        "eors r5, r4\n"
        "lsrs r2, r5, #15\n"
        "bne 7f\n"
        "2:\n"
        "strh r3, [r6]\n"
        "asrs r2, r1, #31\n" // r1: |g|
        "adds r1, r1, r2\n"
        "eors r1, r2\n"
        "ldmia r7!, {r2, r3}\n" // r2, r3: the larger and the smaller of A and B
        "muls r3, r1\n"
        "lsrs r3, r3, #2\n"
        "mov r6, r11\n"
        "ldrh r6, [r6]\n"
        "sxth r6, r6\n"
        "muls r2, r6\n"
        "ldmia r7, {r0, r7}\n"
        "cmp r2, r3\n"
        "bhs 3f\n"
        "movs r6, r2\n"
        "movs r2, r3\n"
        "movs r3, r6\n"
        "3:\n" // r6: bits of the larger beyond 16
        "lsrs r6, r2, #24\n"
        "beq 8f\n"
        "ldrb r6, [r7, r6]\n"
        "adds r6, r6, #8\n"
        "4:\n"
        "lsrs r3, r6\n"
        "movs r7, r2\n"
        "lsrs r7, r6\n"
        "muls r3, r3\n"
        "lsls r7, r7, #1\n"
        "cmp r3, r7\n"
        "blo 9f\n"
        "str r3, [r0, #0x60]\n"
        "str r7, [r0, #0x64]\n"
        "mov r7, lr\n" // 8 cycles at least until the quotient is there: r1: top
        "ldr r3, [r7, #44]\n"
        "lsrs r1, r1, #4\n"
        "orrs r1, r5\n"
        "orrs r1, r3\n"
        "lsls r5, r5, #14\n"
        "mov r7, r12\n"
        "lsrs r7, r7, #16\n"
        "ldr r3, [r0, #0x70]\n"
        "lsls r3, r6\n"
        "adds r2, r2, r3\n"
        "adds r2, r2, r7\n"
        "5:\n" // r2: the root
        "lsrs r2, r2, #16\n"
        "lsrs r3, r2, #15\n"
        "bne 10f\n"
        "6:\n"
        "mov r6, r11\n"
        "strh r2, [r6]\n"
        "adds r6, r6, #2\n"
        "mov r11, r6\n"
        "orrs r1, r2\n"
        "adds r2, r2, #1\n"
        "str r5, [r0, #0x60]\n"
        "str r2, [r0, #0x64]\n"
        "mov r7, lr\n" // again 8 cycles
        "str r1, [r7, #44]\n"
        "movs r2, #2\n"
        "add r10, r2\n"
        "mov r1, r9\n"
        "ldr r6, [r7, #48]\n"
        "ldr r3, [r0, #0x70]\n"
        "lsrs r2, r3, #16\n"
        "bne 11f\n"
        "12:\n"
        "eors r3, r4\n"
        "subs r3, r3, r4\n"
        "stmia r1!, {r3}\n"
        "mov r9, r1\n"
        "cmp r1, r6\n"
        "beq 13f\n"
        "b 1b\n"
        "7:\n" // a moment beyond 15 bits
        "ldr r5, =32767\n"
        "movs r3, r5\n"
        "eors r3, r4\n"
        "subs r3, r3, r4\n"
        "b 2b\n"
        "8:\n"
        "lsrs r6, r2, #16\n"
        "ldrb r6, [r7, r6]\n"
        "cmp r2, #0\n"
        "bne 4b\n"
        "9:\n" // the root is the larger of A and B
        "mov r7, lr\n"
        "ldr r3, [r7, #44]\n"
        "lsrs r1, r1, #4\n"
        "orrs r1, r5\n"
        "orrs r1, r3\n"
        "lsls r5, r5, #14\n"
        "mov r7, r12\n"
        "lsrs r7, r7, #16\n"
        "adds r2, r2, r7\n"
        "b 5b\n"
        "10:\n"
        "ldr r2, =32767\n"
        "b 6b\n"
        "11:\n"
        "ldr r3, =65535\n"
        "b 12b\n"
        "13:\n"
        ODT_RESTORE_REGISTERS
        ".ltorg\n"
        );
}

#endif
