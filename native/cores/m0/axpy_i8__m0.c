// Adds multiples of rows of bytes to rows of sums, on a Cortex-M0+: axpy_i8__m0.h.

#include <stddef.h>

#include "../../core.h"
#include "axpy_i8__m0.h"

#if ODT_M0 && !ODT_SMALL

#include "registers__m0.h"

_Static_assert(
    offsetof(odt_axpy_rows_t, plus) == 12 && offsetof(odt_axpy_rows_t, rows) == 32, "as the loop loads them");

// r0: sums, r1: x, r2: e, r3-r6: four sums, r7: an element; r8: plus, r9: bytes of a row's sums in groups of four, r10:
// their end, r11: remaining elements, r12, lr: from a row's end to the next row of x and of sums. On the stack: rows.
__attribute__((naked, noinline)) void odt_axpy_rows(const odt_axpy_rows_t *a) {
    (void)a;
    __asm volatile (
        ".syntax unified\n"
        ".macro odt_axpy_one sum, at\n"
        "ldrb r7, [r1, #\\at]\n"
        "sxtb r7, r7\n"
        "add r7, r8\n"
        "muls r7, r2\n"
        "adds \\sum, \\sum, r7\n"
        ".endm\n"
        ODT_SAVE_REGISTERS
        "ldmia r0!, {r1-r7}\n" // sums, x, e, plus, fours, rest, x_skip
        "mov r8, r4\n"
        "mov r9, r5\n"
        "mov r11, r6\n"
        "mov r12, r7\n"
        "ldmia r0!, {r5, r6}\n" // sums_skip, rows
        "mov lr, r5\n"
        "push {r6}\n"
        "movs r0, r1\n"
        "movs r1, r2\n"
        "movs r2, r3\n"
        "1:\n"
        "mov r7, r9\n"
        "adds r7, r7, r0\n"
        "mov r10, r7\n"
        "cmp r7, r0\n"
        "beq 3f\n"
        "2:\n"
        "ldmia r0!, {r3-r6}\n"
        "subs r0, r0, #16\n"
        "odt_axpy_one r3, 0\n"
        "odt_axpy_one r4, 1\n"
        "odt_axpy_one r5, 2\n"
        "odt_axpy_one r6, 3\n"
        "stmia r0!, {r3-r6}\n"
        "adds r1, r1, #4\n"
        "cmp r0, r10\n"
        "bne 2b\n"
        "3:\n"
        "mov r4, r11\n"
        "cmp r4, #0\n"
        "beq 5f\n"
        "4:\n"
        "ldr r3, [r0]\n"
        "odt_axpy_one r3, 0\n"
        "stmia r0!, {r3}\n"
        "adds r1, r1, #1\n"
        "subs r4, r4, #1\n"
        "bne 4b\n"
        "5:\n"
        "add r0, lr\n"
        "add r1, r12\n"
        "ldr r7, [sp]\n"
        "subs r7, r7, #1\n"
        "str r7, [sp]\n"
        "bne 1b\n"
        "add sp, #4\n"
        ODT_RESTORE_REGISTERS
        ".purgem odt_axpy_one\n"
        );
}

#endif
