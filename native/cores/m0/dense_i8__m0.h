// Four rows of weights times one column on a Cortex-M0+: a layer's forward pass for a batch so small that packing
// weights does not pay. sums[r] = sum_k (x[k] - zx) * w[r][k], rows `step` bytes apart, and `fours` times as many.

#ifndef ODT_DENSE_I8_M0_H
#define ODT_DENSE_I8_M0_H

#include "../../core.h"
#include "registers__m0.h"
#include "../correlate.h"

#if ODT_M0

#if ODT_SMALL
#define ODT_COLUMNS "4" // in the loop
#else
#define ODT_COLUMNS "8"
#endif

// 20.5 cycles for 4 products, 21 in a .mpy file, which is to be small and sums four rows only; 35 more for each four
// rows. r0: x, r1: w, r2: step, r3: K; on the stack 0: step, 4: K, 44: zx, 48: sums, 52: fours, or 36: zx, 40: sums in
// a .mpy file. In the loop r0: the end of x, r1-r4: the ends of the rows, r5: the index, r6: x - zx, r7: a product,
// r8-r11: sums, r12: -zx, lr: where the loop is entered.
__attribute__((naked, noinline)) void odt_dot4_i8(const int8_t *x, const int8_t *w,
    int32_t step, int32_t K, int32_t zx, int32_t *sums, int32_t fours) {
    (void)x, (void)w, (void)step, (void)K, (void)zx, (void)sums, (void)fours;
    __asm volatile (
        ".syntax unified\n"
        ".macro odt_row w, sum\n"
        "ldrsb r7, [\\w, r5]\n"
        "muls r7, r6\n"
        "add \\sum, r7\n"
        ".endm\n"
        ".macro odt_column\n" // 20 cycles, 30 bytes
        "ldrsb r6, [r0, r5]\n"
        "add r6, r12\n"
        "odt_row r1, r8\n"
        "odt_row r2, r9\n"
        "odt_row r3, r10\n"
        "odt_row r4, r11\n"
        "adds r5, r5, #1\n"
        ".endm\n"
        ODT_SAVE_REGISTERS
        "ldr r4, [sp, #36]\n" // zx
        "rsbs r4, r4, #0\n"
        "mov r12, r4\n"
        "rsbs r5, r3, #0\n"
        "adds r0, r0, r3\n"
        "movs r4, #" ODT_COLUMNS " - 1\n" // enters the loop so that the remainder of K comes first
        "ands r4, r5\n"
        "movs r6, #30\n"
        "muls r6, r4\n"
        "adr r7, 1f\n"
        "adds r7, r7, r6\n"
        "mov lr, r7\n"
    #if !ODT_SMALL
        "push {r2, r3}\n"
        "3:\n"
        "pop {r2, r3}\n"
        "push {r2, r3}\n"
    #endif
        "movs r4, #0\n"
        "mov r8, r4\n"
        "mov r9, r4\n"
        "mov r10, r4\n"
        "mov r11, r4\n"
        "rsbs r5, r3, #0\n" // the index: -K .. -1 from the rows' ends
        "adds r1, r1, r3\n"
        "movs r6, r2\n"
        "adds r2, r1, r6\n"
        "adds r3, r2, r6\n"
        "adds r4, r3, r6\n"
        "mov pc, lr\n"
        ".balign 4\n"
        "1:\n"
        ".rept " ODT_COLUMNS "\n"
        "odt_column\n"
        ".endr\n"
        "beq 2f\n"
        "b 1b\n"
        "2:\n"
    #if ODT_SMALL
        "ldr r7, [sp, #40]\n"
    #else
        "ldr r7, [sp, #48]\n"
    #endif
        "mov r1, r8\n"
        "mov r2, r9\n"
        "mov r3, r10\n"
        "mov r6, r11\n"
        "stmia r7!, {r1-r3, r6}\n"
    #if !ODT_SMALL
        "ldr r3, [sp, #52]\n"
        "subs r3, r3, #1\n"
        "beq 4f\n"
        "str r7, [sp, #48]\n"
        "str r3, [sp, #52]\n"
        "pop {r2, r3}\n"
        "push {r2, r3}\n"
        "adds r1, r4, r2\n" // the end of the next row
        "subs r1, r1, r3\n"
        "b 3b\n"
        "4:\n"
        "add sp, #8\n"
    #endif
        ODT_RESTORE_REGISTERS
        ".purgem odt_row\n"
        ".purgem odt_column\n"
        );
}

#if !ODT_SMALL

// The sum of (x[k] - zx) * w[k], K > 0: 8.5 cycles each. r0: the end of x, r1: of w, r2: the index, r3: zx, r4: the
// sum, r5, r6: elements.
__attribute__((naked, noinline)) static int32_t dot_one(const int8_t *x, const int8_t *w, int32_t K, int32_t zx) {
    (void)x, (void)w, (void)K, (void)zx;
    __asm volatile (
        ".syntax unified\n"
        "push {r4-r6, lr}\n"
        "adds r0, r0, r2\n"
        "adds r1, r1, r2\n"
        "rsbs r2, r2, #0\n"
        "movs r4, #3\n" // enters the loop so that the remainder of K comes first
        "ands r4, r2\n"
        "movs r6, #12\n"
        "muls r4, r6\n"
        "adr r5, 1f\n"
        "adds r5, r5, r4\n"
        "movs r4, #0\n"
        "mov pc, r5\n"
        ".balign 4\n"
        "1:\n"
        ".rept 4\n"
        "ldrsb r5, [r0, r2]\n"
        "ldrsb r6, [r1, r2]\n"
        "subs r5, r5, r3\n"
        "muls r5, r6\n"
        "adds r4, r4, r5\n"
        "adds r2, r2, #1\n"
        ".endr\n"
        "bne 1b\n"
        "movs r0, r4\n"
        "pop {r4-r6, pc}\n"
        );
}

// Converts sums to outputs; each has its own multiplier.
typedef struct {
    const int32_t *sums;       // 0
    int32_t bias;              // 4: bytes from a sum to its bias
    const odt_multiplier_t *q; // 8
    int8_t *y;                 // 12
    const int32_t *end;        // 16: of sums
    // 20: a result above or below these bounds is out of range or a new peak, and they are updated
    int32_t top, bottom;
    int32_t zy;                // 28
    // 32: the output for all results below `bottom`; or LEAST less than the smallest result in range
    int32_t least;
} finish_t;

enum { LEAST = 256 };

// 43 cycles each. Returns where it ended: after the last, or at one that takes more than this loop offers. r0: sums,
// r1: y, r2: the sum, r3: the same times m's lower 12 bits, r4, r6: these and the upper, r5: shift, r7: q, r8: bias,
// r9: end, r10, r11: top, bottom, r12: zy, lr: least.
__attribute__((naked, noinline)) static const int32_t *finish_usual(finish_t *f) {
    (void)f;
    __asm volatile (
        ".syntax unified\n"
        ODT_SAVE_REGISTERS
        "push {r0}\n"
        "ldmia r0!, {r1-r7}\n"
        "mov r8, r2\n"
        "mov r9, r5\n"
        "mov r10, r6\n"
        "mov r11, r7\n"
        "ldmia r0!, {r5, r6}\n"
        "mov r12, r5\n"
        "mov lr, r6\n"
        "movs r0, r1\n"
        "movs r1, r4\n"
        "movs r7, r3\n"
        "1:\n"
        "mov r3, r8\n"
        "ldr r3, [r0, r3]\n"
        "ldr r2, [r0]\n"
        "adds r2, r2, r3\n"
        "lsls r3, r2, #13\n" // has 18 bits and a sign
        "asrs r3, r3, #13\n"
        "cmp r3, r2\n"
        "bne 4f\n"
        "ldr r4, [r7]\n"
        "ldr r5, [r7, #4]\n"
        "lsls r6, r4, #25\n"
        "bne 4f\n"
        "asrs r6, r4, #19\n"
        "bmi 4f\n"
        "lsls r4, r4, #13\n"
        "lsrs r4, r4, #20\n"
        "subs r5, #20\n"
        "cmp r5, #29\n"
        "bhi 4f\n"
        "muls r3, r4\n"
        "asrs r3, r3, #12\n"
        "muls r2, r6\n"
        "adds r2, r2, r3\n"
        "asrs r2, r5\n"
        "adds r2, r2, #1\n"
        "asrs r2, r2, #1\n"
        "cmp r2, r10\n"
        "bgt 3f\n"
        "cmp r2, r11\n"
        "blt 5f\n"
        "add r2, r12\n"
        "2:\n"
        "strb r2, [r1]\n"
        "adds r1, r1, #1\n"
        "adds r7, #8\n"
        "adds r0, r0, #4\n"
        "cmp r0, r9\n"
        "bne 1b\n"
        "b 4f\n"
        "3:\n"
        "mov r3, r12\n"
        "adds r3, r3, r2\n"
        "cmp r3, #127\n"
        "bgt 4f\n"
        "mov r10, r2\n"
        "movs r2, r3\n"
        "b 2b\n"
        "5:\n"
        "mov r3, lr\n"
        "cmp r3, #127\n"
        "bgt 6f\n"
        "movs r2, r3\n"
        "b 2b\n"
        "6:\n"
        "subs r3, #128\n"
        "subs r3, #128\n"
        "mov r4, r12\n"
        "adds r4, r4, r2\n"
        "cmp r4, r3\n"
        "blt 4f\n"
        "mov r11, r2\n"
        "movs r2, r4\n"
        "b 2b\n"
        "4:\n"
        "pop {r3}\n"
        "mov r4, r10\n"
        "mov r5, r11\n"
        "str r4, [r3, #20]\n"
        "str r5, [r3, #24]\n"
        ODT_RESTORE_REGISTERS
        );
}

#endif

#endif

#endif
