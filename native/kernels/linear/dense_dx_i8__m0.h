// Columns of weights times a list of errors on a Cortex-M0+: the gradient of a dense layer's input for few samples.

#ifndef ODT_DENSE_DX_I8_M0_H
#define ODT_DENSE_DX_I8_M0_H

#include "../../core.h"

#if ODT_M0 && !ODT_SMALL

#include "../common/registers__m0.h"

// sums += e * w[offset + column] over a list that is not empty, for columns 0 .. 3, then 4 .. 7, to the end of sums, of which
// there are some. 19.5 cycles for 4 products, 45 around the errors of four columns. r0: list, r1-r4: w, r5: offset, r6: e,
// r7: a product, r8-r11: sums, r12: the list's end, lr: where the loop is entered.
__attribute__((naked, noinline)) static void sum_columns(int32_t *sums, const int32_t *sums_end, const error_t *list,
    const error_t *end, const int8_t *w) {
    (void)sums, (void)sums_end, (void)list, (void)end, (void)w;
    __asm volatile (
        ".syntax unified\n"
        ".macro odt_column w, sum\n"
        "ldrsb r7, [\\w, r5]\n"
        "muls r7, r6\n"
        "add \\sum, r7\n"
        ".endm\n"
        ".macro odt_error\n" // 19 cycles, 26 bytes
        "ldmia r0!, {r5, r6}\n"
        "odt_column r1, r8\n"
        "odt_column r2, r9\n"
        "odt_column r3, r10\n"
        "odt_column r4, r11\n"
        ".endm\n"
        ODT_SAVE_REGISTERS
        "ldr r4, [sp, #36]\n" // w
        "push {r0-r2}\n" // 0: sums, 4: their end, 8: list
        "mov r12, r3\n"
        "subs r3, r2, r3\n" // to enter the loop so that errors modulo 8 are done first
        "lsrs r3, r3, #3\n"
        "movs r5, #7\n"
        "ands r3, r5\n"
        "movs r5, #26\n"
        "muls r3, r5\n"
        "adr r5, 2f\n"
        "adds r5, r5, r3\n"
        "mov lr, r5\n"
        "movs r1, r4\n"
        "adds r2, r1, #1\n"
        "adds r3, r1, #2\n"
        "adds r4, r1, #3\n"
        "1:\n"
        "ldr r7, [sp]\n"
        "ldmia r7!, {r5, r6}\n"
        "mov r8, r5\n"
        "mov r9, r6\n"
        "ldmia r7!, {r5, r6}\n"
        "mov r10, r5\n"
        "mov r11, r6\n"
        "ldr r0, [sp, #8]\n"
        "mov pc, lr\n"
        ".balign 4\n"
        "2:\n"
        ".rept 8\n"
        "odt_error\n"
        ".endr\n"
        "cmp r0, r12\n"
        "bne 2b\n"
        "ldr r7, [sp]\n"
        "mov r5, r8\n"
        "mov r6, r9\n"
        "stmia r7!, {r5, r6}\n"
        "mov r5, r10\n"
        "mov r6, r11\n"
        "stmia r7!, {r5, r6}\n"
        "str r7, [sp]\n"
        "adds r1, r1, #4\n"
        "adds r2, r2, #4\n"
        "adds r3, r3, #4\n"
        "adds r4, r4, #4\n"
        "ldr r5, [sp, #4]\n"
        "cmp r7, r5\n"
        "beq 3f\n"
        "b 1b\n"
        "3:\n"
        "add sp, #12\n"
        ODT_RESTORE_REGISTERS
        ".purgem odt_column\n"
        ".purgem odt_error\n"
        );
}

#endif

#endif
