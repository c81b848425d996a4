// Max-pooling by windows of 2x2 beside one another on a Cortex-M0+: 32 cycles an output, its gradient 25.

#ifndef ODT_MAXPOOL2D_I8_M0_H
#define ODT_MAXPOOL2D_I8_M0_H

#include <stddef.h>

#include "../common/registers__m0.h"

_Static_assert(offsetof(pooled_t, N) == 16 && offsetof(pooled_t, least) == 40, "as the loops load them");

// After ODT_SAVE_REGISTERS. r0: image, r1: N, r2: row, r5: word, r8: from an element of the image to that of the windows,
// r9: choices, r10: end of a window's channels, r11: end of a row's windows; on the stack q.
#define BEGIN_QUADS \
    "push {r0}\n" \
    "ldmia r0!, {r3-r5, r7}\n" \
    "mov r9, r5\n" \
    "movs r5, r7\n" \
    "ldmia r0!, {r1, r2}\n" \
    "subs r4, r4, r3\n" \
    "mov r8, r4\n" \
    "movs r0, r3\n" \
    "1:\n" /* a row of windows */ \
    "ldr r7, [sp]\n" \
    "ldr r6, [r7, #24]\n" \
    "adds r6, r6, r0\n" \
    "mov r11, r6\n" \
    "2:\n" /* a window */ \
    "adds r6, r0, r1\n" \
    "mov r10, r6\n"

#define END_QUADS \
    "adds r0, r0, r1\n" \
    "mov r7, r8\n" \
    "subs r7, r7, r1\n" \
    "mov r8, r7\n" \
    "cmp r0, r11\n" \
    "bne 2b\n" \
    "ldr r7, [sp]\n" \
    "ldr r6, [r7, #28]\n" \
    "adds r0, r0, r6\n" \
    "mov r3, r8\n" \
    "subs r3, r3, r6\n" \
    "mov r8, r3\n" \
    "ldr r6, [r7, #32]\n" \
    "subs r6, r6, #1\n" \
    "str r6, [r7, #32]\n" \
    "bne 1b\n" \
    "mov r4, r8\n" \
    "adds r4, r4, r0\n" \
    "mov r6, r9\n" \
    "stmia r7!, {r0, r4, r6}\n" \
    "str r5, [r7]\n" \
    "pop {r7}\n"

// r3: the largest, r4: another, r7: its choice << 6.
__attribute__((naked, noinline)) static void choose_quads(pooled_t *q) {
    (void)q;
    __asm volatile (
        ".syntax unified\n"
        ODT_SAVE_REGISTERS
        BEGIN_QUADS
        "mov r12, r6\n"
        "adds r6, r1, r2\n"
        "3:\n"
        "movs r7, #0\n"
        "ldrsb r3, [r0, r7]\n"
        "ldrsb r4, [r0, r1]\n"
        "cmp r4, r3\n"
        "ble 4f\n"
        "movs r3, r4\n"
        "movs r7, #64\n"
        "4:\n"
        "ldrsb r4, [r0, r2]\n"
        "cmp r4, r3\n"
        "ble 4f\n"
        "movs r3, r4\n"
        "movs r7, #128\n"
        "4:\n"
        "ldrsb r4, [r0, r6]\n"
        "cmp r4, r3\n"
        "ble 4f\n"
        "movs r3, r4\n"
        "movs r7, #192\n"
        "4:\n"
        "lsrs r5, r5, #2\n" // the carry: it was the fourth
        "orrs r5, r7\n"
        "mov r7, r8\n"
        "strb r3, [r0, r7]\n"
        "bcs 6f\n"
        "5:\n"
        "adds r0, r0, #1\n"
        "cmp r0, r10\n"
        "bne 3b\n"
        "b 7f\n"
        "6:\n"
        "mov r7, r9\n"
        "strb r5, [r7]\n"
        "adds r7, r7, #1\n"
        "mov r9, r7\n"
        "movs r5, #0x80\n"
        "b 5b\n"
        "7:\n"
        END_QUADS
        ODT_RESTORE_REGISTERS
        );
}

// r3: an error, r6: where it goes, r12: peak, lr: least.
__attribute__((naked, noinline)) static void spread_quads(pooled_t *q) {
    (void)q;
    __asm volatile (
        ".syntax unified\n"
        ODT_SAVE_REGISTERS
        "ldr r3, [r0, #36]\n"
        "mov r12, r3\n"
        "ldr r3, [r0, #40]\n"
        "mov lr, r3\n"
        BEGIN_QUADS
        "3:\n"
        "cmp r5, #1\n"
        "beq 6f\n"
        "4:\n"
        "mov r7, r8\n"
        "ldrsb r3, [r0, r7]\n"
        "cmp r3, r12\n"
        "bgt 7f\n"
        "cmp r3, lr\n"
        "blt 7f\n"
        "5:\n"
        "movs r6, r0\n"
        "lsrs r5, r5, #1\n"
        "bcc 8f\n"
        "adds r6, r6, r1\n"
        "8:\n"
        "lsrs r5, r5, #1\n"
        "bcc 8f\n"
        "adds r6, r6, r2\n"
        "8:\n"
        "strb r3, [r6]\n"
        "adds r0, r0, #1\n"
        "cmp r0, r10\n"
        "bne 3b\n"
        "b 8f\n"
        "6:\n" // the next four choices
        "mov r7, r9\n"
        "ldrb r5, [r7]\n"
        "adds r7, r7, #1\n"
        "mov r9, r7\n"
        "movs r7, #1\n"
        "lsls r7, r7, #8\n"
        "orrs r5, r7\n"
        "b 4b\n"
        "7:\n" // a new peak, or below -127
        "asrs r7, r3, #31\n"
        "adds r4, r3, r7\n"
        "eors r4, r7\n"
        "movs r6, #126\n"
        "mvns r6, r6\n"
        "cmp r4, r12\n"
        "ble 9f\n"
        "mov r12, r4\n"
        "negs r4, r4\n"
        "cmp r4, r6\n"
        "bge 6f\n"
        "movs r4, r6\n"
        "6:\n"
        "mov lr, r4\n"
        "9:\n"
        "cmp r3, r6\n"
        "bge 5b\n"
        "movs r3, r6\n"
        "b 5b\n"
        "8:\n"
        END_QUADS
        "mov r4, r12\n"
        "str r4, [r7, #36]\n"
        "mov r4, lr\n"
        "str r4, [r7, #40]\n"
        ODT_RESTORE_REGISTERS
        );
}

#undef BEGIN_QUADS
#undef END_QUADS

#endif
