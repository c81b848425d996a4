// Four rows of weights times one column on a Cortex-M0+: a layer's forward pass for a batch so small that packing weights
// does not pay. sums[r] = sum_k (x[k] - zx) * w[r][k], rows `step` bytes apart.

#ifndef ODT_DENSE_I8_M0_H
#define ODT_DENSE_I8_M0_H

#include "../../core.h"
#include "../common/registers__m0.h"
#include "conv2d_i8.h"

#if ODT_M0

#if ODT_SMALL
#define ODT_COLUMNS "4" // in the loop
#else
#define ODT_COLUMNS "32"
#endif

// 20 cycles for 4 products, 20.5 in a .mpy file, which is to be small. r0: x,
// r1: w, r2: step, r3: K; on the stack zx and sums. In the loop r0: the end of x, r1-r4: the ends of the rows, r5: the index,
// r6: x - zx, r7: a product, r8-r11: sums, r12: -zx, lr: where the loop is entered.
__attribute__((naked, noinline)) void odt_dot4_i8(const int8_t *x, const int8_t *w,
    int32_t step, int32_t K, int32_t zx, int32_t *sums) {
    (void)x, (void)w, (void)step, (void)K, (void)zx, (void)sums;
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
        "movs r4, #0\n"
        "mov r8, r4\n"
        "mov r9, r4\n"
        "mov r10, r4\n"
        "mov r11, r4\n"
        "rsbs r5, r3, #0\n" // the index: -K .. -1 from the rows' ends
        "adds r0, r0, r3\n"
        "adds r1, r1, r3\n"
        "movs r4, #" ODT_COLUMNS " - 1\n" // to enter the loop so that K modulo its columns are done first
        "ands r4, r5\n"
        "movs r6, #30\n"
        "muls r6, r4\n"
        "adr r7, 1f\n"
        "adds r7, r7, r6\n"
        "mov lr, r7\n"
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
        "ldr r0, [sp, #40]\n"
        "mov r4, r8\n"
        "mov r5, r9\n"
        "mov r6, r10\n"
        "mov r7, r11\n"
        "stmia r0!, {r4-r7}\n"
        ODT_RESTORE_REGISTERS
        ".purgem odt_row\n"
        ".purgem odt_column\n"
        );
}

#endif

#endif
