// Errors of few samples times their inputs on a Cortex-M0+: the gradient of a dense layer's weights.
//
// Of two samples one MULS sums both products: that of the words x0 + x1 * 65536 and e1 + e0 * 65536 is, modulo 2^32,
// e1 * x0 + (e0 * x0 + e1 * x1) * 65536, whose bracket is the word / 65536 rounded to nearest if it has 16 bits: unless
// both errors are -128.

#ifndef ODT_DENSE_DW_I8_M0_H
#define ODT_DENSE_DW_I8_M0_H

#include <stdint.h>

#include "../../core.h"

#if ODT_M0 && !ODT_SMALL

// Words `step` bytes apart, from dw on, are x times the errors from `place` < 0 up to their end: 9 cycles each.
__attribute__((naked, noinline)) static void set_column(
    int32_t *dw, const int8_t *end, int32_t x, int32_t step, int32_t place) {
    (void)dw, (void)end, (void)x, (void)step, (void)place;
    __asm volatile (
        ".syntax unified\n"
        "push {r4, r5, lr}\n"
        "ldr r5, [sp, #12]\n"
        "1:\n"
        "ldrsb r4, [r1, r5]\n"
        "muls r4, r2\n"
        "str r4, [r0]\n"
        "adds r0, r0, r3\n"
        "adds r5, r5, #1\n"
        "bne 1b\n"
        "pop {r4, r5, pc}\n"
        );
}

// dw = e * x for the words of x up to `end`, whose number is a multiple of 8. 31 cycles per 8 words, or 14 where e is
// 0, as it often is after a ReLU.
__attribute__((naked, noinline)) static void set_one(int32_t *dw, const int32_t *x, const int32_t *end, int32_t e) {
    (void)dw, (void)x, (void)end, (void)e;
    __asm volatile (
        ".syntax unified\n"
        "push {r4-r7, lr}\n"
        "mov r12, r2\n"
        "movs r4, r3\n"
        "beq 2f\n"
        "1:\n"
        ".rept 2\n"
        "ldmia r1!, {r4-r7}\n"
        "muls r4, r3\n"
        "muls r5, r3\n"
        "muls r6, r3\n"
        "muls r7, r3\n"
        "stmia r0!, {r4-r7}\n"
        ".endr\n"
        "cmp r1, r12\n"
        "bne 1b\n"
        "pop {r4-r7, pc}\n"
        "2:\n"
        "movs r5, r4\n"
        "movs r6, r4\n"
        "movs r7, r4\n"
        "3:\n"
        "stmia r0!, {r4-r7}\n"
        "stmia r0!, {r4-r7}\n"
        "adds r1, r1, #32\n"
        "cmp r1, r12\n"
        "bne 3b\n"
        "pop {r4-r7, pc}\n"
        );
}

// dw = start + both products of e and x: 25 cycles for 4 words of x.
__attribute__((naked, noinline)) static void set_two(int32_t *dw, const int32_t *x, const int32_t *end, uint32_t e,
    int32_t start) {
    (void)dw, (void)x, (void)end, (void)e, (void)start;
    __asm volatile (
        ".syntax unified\n"
        ".macro odt_products word\n"
        "muls \\word, r3\n"
        "asrs \\word, \\word, #16\n"
        "adcs \\word, r2\n"
        ".endm\n"
        "push {r4-r7, lr}\n"
        "mov r12, r2\n"
        "ldr r2, [sp, #20]\n"
        "1:\n"
        "ldmia r1!, {r4-r7}\n"
        "odt_products r4\n"
        "odt_products r5\n"
        "odt_products r6\n"
        "odt_products r7\n"
        "stmia r0!, {r4-r7}\n"
        "cmp r1, r12\n"
        "bne 1b\n"
        "pop {r4-r7, pc}\n"
        );
}

// dw += start + both products of e and x: 37 cycles for 4 words of x.
__attribute__((naked, noinline)) static void add_two(int32_t *dw, const int32_t *x, const int32_t *end, uint32_t e,
    int32_t start) {
    (void)dw, (void)x, (void)end, (void)e, (void)start;
    __asm volatile (
        ".syntax unified\n"
        "push {r4-r7, lr}\n"
        "mov r12, r2\n"
        "ldr r2, [sp, #20]\n"
        "1:\n"
        ".rept 2\n"
        "ldmia r1!, {r4, r5}\n"
        "odt_products r4\n"
        "odt_products r5\n"
        "ldr r6, [r0]\n"
        "ldr r7, [r0, #4]\n"
        "adds r4, r4, r6\n"
        "adds r5, r5, r7\n"
        "stmia r0!, {r4, r5}\n"
        ".endr\n"
        "cmp r1, r12\n"
        "bne 1b\n"
        "pop {r4-r7, pc}\n"
        ".purgem odt_products\n"
        );
}

#endif

#endif
