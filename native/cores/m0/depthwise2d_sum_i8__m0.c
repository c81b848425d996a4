// Sums of depthwise convolutions over tiles, on a Cortex-M0+ (depthwise2d_sum_i8__m0.h). One MULS makes two products: a
// weight times a word, which holds the inputs of two adjacent outputs. Two such words can be added without overflow
// between the halves, because |w| <= 127. For an output pair's words P, one register sums P and another the upper
// halves, rounded to nearest, which ASRS leaves in a register and the carry. The sum of the lower halves is the
// difference (panel_i8__m0.inc).

#include "../../core.h"
#include "depthwise2d_sum_i8__m0.h"

#if ODT_M0_DEPTHWISE

// Two functions of the same loop: odt_sum_<kind> stores sums, odt_add_<kind> adds them to those that are there, 3
// cycles each more (odt_add). `to`: a sum, `at`: its place from `from` on, or from lr on, `by`: a free register.
#define ODT_SUM_OR_ADD(kind, loop) \
    __attribute__((naked, noinline)) void odt_sum_##kind(const odt_windows_t *windows) { \
        (void)windows; \
        __asm volatile (".syntax unified\n.macro odt_add to, at, by, from\n.endm\n" loop ".purgem odt_add\n"); \
    } \
    __attribute__((naked, noinline)) void odt_add_##kind(const odt_windows_t *windows) { \
        (void)windows; \
        __asm volatile (".syntax unified\n" ODT_ADD loop ".purgem odt_add\n"); \
    }

#define ODT_ADD \
    ".macro odt_add to, at, by, from\n" \
    ".ifb \\from\n" \
    "mov \\by, lr\n" \
    "ldr \\by, [\\by, #\\at]\n" \
    ".else\n" \
    "ldr \\by, [\\from, #\\at]\n" \
    ".endif\n" \
    "adds \\to, \\to, \\by\n" \
    ".endm\n"

// Goes on to the next row at 1, or falls through after the last: advances x (r0) and the end of the row's sums (r12).
// On the stack: 0: bytes of x to skip, 4: rows left, 8: from one row's end to the next. r1 is free.
#define ODT_NEXT_ROW \
    "ldr r1, [sp]\n" \
    "adds r0, r0, r1\n" \
    "ldr r1, [sp, #8]\n" \
    "add r12, r1\n" \
    "ldr r1, [sp, #4]\n" \
    "subs r1, #1\n" \
    "str r1, [sp, #4]\n" \
    "bne 1b\n" \
    "add sp, #12\n"

// Groups of four outputs, the pairs A and B: 130 cycles for 36 products, and 12 per row. r0: x, r1: a weight, r2-r4:
// words, r8, r5: A's sums of whole words and of upper halves, r9, r7: B's; r6, r3: one row's products not yet added,
// r10, r11: those of the row before; r12: row, lr: sums.
#define ODT_BY_FOURS \
    ".macro odt_split x, all, high\n" \
    "add \\all, \\x\n" \
    "asrs \\x, \\x, #16\n" \
    "adcs \\high, \\x\n" \
    ".endm\n" \
    ".macro odt_five w\n" /* words 0 .. 4 of a row; leaves word 2 times the third weight in r6, word 4 in r3 */ \
    "ldmia r0!, {r2, r3, r4}\n" \
    "movs r6, r4\n" \
    "ldr r1, [sp, #\\w]\n" \
    "muls r2, r1\n" /* A */ \
    "muls r4, r1\n" /* B */ \
    "ldr r1, [sp, #\\w + 4]\n" \
    "muls r3, r1\n" \
    "adds r2, r2, r3\n" \
    "odt_split r2, r8, r5\n" \
    "ldmia r0!, {r2, r3}\n" \
    "muls r2, r1\n" \
    "adds r4, r4, r2\n" \
    "odt_split r4, r9, r7\n" \
    "ldr r1, [sp, #\\w + 8]\n" \
    "muls r6, r1\n" \
    "muls r3, r1\n" \
    ".endm\n" \
    "push {lr}\n" \
    /* 0: filter, 36: offset of both halves, 40: offset, 44: back, 48: end, 52: skip, 56: even, 60: the last row's */ \
    /* end */ \
    "sub sp, #64\n" \
    "ldmia r0!, {r1-r7}\n" \
    "mov r8, r2\n" \
    "mov lr, r3\n" \
    "adds r3, r3, r7\n" \
    "str r3, [sp, #48]\n" \
    "str r7, [sp, #56]\n" \
    "str r4, [sp, #40]\n" \
    "lsls r7, r4, #16\n" \
    "adds r4, r4, r7\n" \
    "str r4, [sp, #36]\n" \
    "subs r5, #8\n" /* these windows have five columns */ \
    "mov r12, r5\n" \
    "subs r6, #8\n" \
    "str r6, [sp, #44]\n" \
    "ldmia r0!, {r3, r4}\n" \
    "str r3, [sp, #52]\n" \
    "ldr r2, [sp, #56]\n" \
    "muls r4, r2\n" \
    "add r4, lr\n" \
    "str r4, [sp, #60]\n" \
    "mov r0, sp\n" \
    "ldmia r1!, {r2-r6}\n" \
    "stmia r0!, {r2-r6}\n" \
    "ldmia r1!, {r2-r5}\n" \
    "stmia r0!, {r2-r5}\n" \
    "mov r0, r8\n" \
    "1:\n" \
    "ldr r2, [sp, #36]\n" \
    "mov r8, r2\n" \
    "mov r9, r2\n" \
    "ldr r5, [sp, #40]\n" \
    "movs r7, r5\n" \
    "odt_five 0\n" \
    "mov r10, r6\n" \
    "mov r11, r3\n" \
    "add r0, r12\n" \
    "odt_five 12\n" \
    "add r6, r10\n" \
    "odt_split r6, r8, r5\n" \
    "add r3, r11\n" \
    "odt_split r3, r9, r7\n" \
    "add r0, r12\n" \
    "odt_five 24\n" \
    "odt_split r6, r8, r5\n" \
    "odt_split r3, r9, r7\n" \
    "ldr r1, [sp, #44]\n" \
    "adds r0, r0, r1\n" \
    "mov r4, r8\n" \
    "lsls r2, r5, #16\n" \
    "subs r4, r4, r2\n" \
    "mov r6, r9\n" \
    "lsls r2, r7, #16\n" \
    "subs r6, r6, r2\n" \
    "mov r1, lr\n" \
    "odt_add r4, 0, r2, r1\n" \
    "odt_add r5, 4, r2, r1\n" \
    "odt_add r6, 8, r2, r1\n" \
    "odt_add r7, 12, r2, r1\n" \
    "stmia r1!, {r4-r7}\n" \
    "mov lr, r1\n" \
    "ldr r2, [sp, #48]\n" \
    "cmp r1, r2\n" \
    "bne 1b\n" \
    "ldr r2, [sp, #56]\n" \
    "adds r2, r2, r1\n" \
    "str r2, [sp, #48]\n" \
    "ldr r2, [sp, #52]\n" \
    "adds r0, r0, r2\n" \
    "ldr r2, [sp, #60]\n" \
    "cmp r1, r2\n" \
    "bne 1b\n" \
    "add sp, #64\n" \
    "pop {pc}\n" \
    ".purgem odt_split\n" \
    ".purgem odt_five\n"

ODT_SUM_OR_ADD(fours, ODT_BY_FOURS)

// Pairs: 73 cycles for 18 products, and 11 per row. r0: w, r1: x, r2-r4: words, r6, r7: weights, r8, r5: sums of whole
// words and of upper halves, r9: row, r10: back, r11: offset, r12: the end of the row's sums, lr: sums.
#define ODT_BY_PAIRS \
    ".macro odt_two x0, w0, x1, w1\n" /* 6 cycles */ \
    "muls \\x0, \\w0\n" \
    "muls \\x1, \\w1\n" \
    "adds \\x0, \\x0, \\x1\n" \
    "add r8, \\x0\n" \
    "asrs \\x0, \\x0, #16\n" \
    "adcs r5, \\x0\n" \
    ".endm\n" \
    "push {lr}\n" \
    "ldmia r0!, {r1-r7}\n" \
    "mov lr, r3\n" \
    "mov r11, r4\n" \
    "mov r9, r5\n" \
    "mov r10, r6\n" \
    "mov r12, r3\n" \
    "add r12, r7\n" \
    "ldmia r0!, {r3, r4}\n" \
    "movs r0, r1\n" \
    "movs r1, r2\n" \
    "movs r2, r3\n" \
    "movs r3, r7\n" \
    "muls r4, r3\n" \
    "add r4, lr\n" \
    "push {r2-r4}\n" /* 0: skip, 4: even, 8: the last row's end */ \
    "1:\n" \
    "movs r5, #0\n" \
    "mov r8, r11\n" \
    "ldmia r1!, {r2, r3, r4}\n" \
    "ldmia r0!, {r6, r7}\n" \
    "odt_two r2, r6, r3, r7\n" \
    "add r1, r9\n" \
    "ldmia r1!, {r2, r3}\n" \
    "ldmia r0!, {r6, r7}\n" \
    "odt_two r4, r6, r2, r7\n" \
    "ldmia r1!, {r2}\n" \
    "ldmia r0!, {r6, r7}\n" \
    "odt_two r3, r6, r2, r7\n" \
    "add r1, r9\n" \
    "ldmia r1!, {r2, r3, r4}\n" \
    "ldmia r0!, {r6, r7}\n" \
    "odt_two r2, r6, r3, r7\n" \
    "ldmia r0!, {r6}\n" \
    "muls r4, r6\n" \
    "add r8, r4\n" \
    "asrs r4, r4, #16\n" \
    "adcs r5, r4\n" \
    "subs r0, #36\n" \
    "add r1, r10\n" \
    "mov r4, r8\n" \
    "lsls r6, r5, #16\n" \
    "subs r4, r4, r6\n" \
    "add r5, r11\n" \
    "mov r6, lr\n" \
    "odt_add r4, 0, r7, r6\n" \
    "odt_add r5, 4, r7, r6\n" \
    "stmia r6!, {r4, r5}\n" \
    "mov lr, r6\n" \
    "cmp r6, r12\n" \
    "bne 1b\n" \
    "ldr r4, [sp]\n" \
    "adds r1, r1, r4\n" \
    "ldr r4, [sp, #4]\n" \
    "add r12, r4\n" \
    "ldr r4, [sp, #8]\n" \
    "cmp r6, r4\n" \
    "bne 1b\n" \
    "add sp, #12\n" \
    "pop {pc}\n" \
    ".purgem odt_two\n"

ODT_SUM_OR_ADD(pairs, ODT_BY_PAIRS)

// Pairs with 2x2 filters: 35 cycles for 8 products, and 14 per row. r0: x, r2, r3: words, r4-r7: weights, r8, r1: sums
// of whole words and of upper halves, r9: row, r10: back, r11: offset, r12: the end of the row's sums, lr: sums.
#define ODT_BY_SMALL \
    ".macro odt_two w0, w1\n" \
    "ldmia r0!, {r2, r3}\n" \
    "muls r2, \\w0\n" \
    "muls r3, \\w1\n" \
    "adds r2, r2, r3\n" \
    "add r8, r2\n" \
    "asrs r2, r2, #16\n" \
    "adcs r1, r2\n" \
    ".endm\n" \
    "push {lr}\n" \
    "ldmia r0!, {r1-r7}\n" \
    "mov r8, r2\n" \
    "mov lr, r3\n" \
    "mov r11, r4\n" \
    "mov r9, r5\n" \
    "mov r10, r6\n" \
    "mov r12, r3\n" \
    "add r12, r7\n" \
    "ldmia r0!, {r5, r6}\n" \
    "push {r5-r7}\n" /* 0: skip, 4: rows, 8: even */ \
    "mov r0, r8\n" \
    "ldmia r1!, {r4-r7}\n" \
    "1:\n" \
    "movs r1, #0\n" \
    "mov r8, r11\n" \
    "odt_two r4, r5\n" \
    "add r0, r9\n" \
    "odt_two r6, r7\n" \
    "add r0, r10\n" \
    "mov r2, r8\n" \
    "lsls r3, r1, #16\n" \
    "subs r2, r2, r3\n" \
    "odt_add r2, 0, r3\n" \
    "add r1, r11\n" \
    "odt_add r1, 4, r3\n" \
    "movs r3, r1\n" \
    "mov r1, lr\n" \
    "stmia r1!, {r2, r3}\n" \
    "mov lr, r1\n" \
    "cmp r1, r12\n" \
    "bne 1b\n" \
    ODT_NEXT_ROW \
    "pop {pc}\n" \
    ".purgem odt_two\n"

ODT_SUM_OR_ADD(small, ODT_BY_SMALL)

// Pairs with 1x3 filters: 27 cycles for 6 products, and 13 per row. r0: x, r1-r4: words, r5-r7: weights, r8: offset,
// r10: back, r12: the end of the row's sums, lr: sums.
#define ODT_BY_LINES \
    "push {lr}\n" \
    "ldmia r0!, {r1-r7}\n" \
    "mov lr, r3\n" \
    "mov r8, r4\n" \
    "mov r10, r6\n" \
    "mov r12, r3\n" \
    "add r12, r7\n" \
    "ldmia r0!, {r5, r6}\n" \
    "push {r5-r7}\n" /* 0: skip, 4: rows, 8: even */ \
    "movs r0, r2\n" \
    "ldmia r1!, {r5-r7}\n" \
    "1:\n" \
    "ldmia r0!, {r1-r3}\n" \
    "add r0, r10\n" \
    "muls r1, r5\n" \
    "muls r2, r6\n" \
    "muls r3, r7\n" \
    "adds r1, r1, r2\n" \
    "adds r2, r1, r3\n" /* whole words */ \
    "movs r4, #0\n" \
    "asrs r1, r1, #16\n" \
    "adcs r4, r1\n" /* the upper halves */ \
    "asrs r3, r3, #16\n" \
    "adcs r4, r3\n" \
    "lsls r1, r4, #16\n" \
    "subs r2, r2, r1\n" \
    "add r2, r8\n" \
    "add r4, r8\n" \
    "mov r1, lr\n" \
    "odt_add r2, 0, r3, r1\n" \
    "odt_add r4, 4, r3, r1\n" \
    "stmia r1!, {r2, r4}\n" \
    "mov lr, r1\n" \
    "cmp r1, r12\n" \
    "bne 1b\n" \
    ODT_NEXT_ROW \
    "pop {pc}\n"

ODT_SUM_OR_ADD(lines, ODT_BY_LINES)

// Pairs with filters of any size: 15 cycles for two taps, which are 4 products; 13 per row of the filter, 7 more for an
// odd tap, 20 per pair. r0: w, r1: x, r2, r3: words, r6, r7: weights, r8, r4: sums of whole words and of upper halves,
// r9: row, r10: back - row, r11: offset, r12: the end of the pairs of taps in the filter's row, lr: sums.
#define ODT_BY_ANY \
    "push {lr}\n" \
    /* 0: skip, 4: rows, 8: even, 12: filter, 16: its end, 20: bytes of the pairs of taps in a row, 24: whether a */ \
    /* tap is left over, 28: end */ \
    "sub sp, #32\n" \
    "ldr r1, [r0, #36]\n" \
    "ldr r2, [r0, #40]\n" \
    "lsrs r3, r2, #1\n" \
    "lsls r3, r3, #3\n" \
    "str r3, [sp, #20]\n" \
    "movs r3, #1\n" \
    "ands r3, r2\n" \
    "str r3, [sp, #24]\n" \
    "muls r1, r2\n" \
    "lsls r1, r1, #2\n" \
    "ldmia r0!, {r2-r7}\n" \
    "str r2, [sp, #12]\n" \
    "adds r1, r1, r2\n" \
    "str r1, [sp, #16]\n" \
    "movs r1, r3\n" \
    "mov lr, r4\n" \
    "mov r11, r5\n" \
    "mov r9, r6\n" \
    "subs r7, r7, r6\n" /* x has advanced one row too far */ \
    "mov r10, r7\n" \
    "ldmia r0!, {r5-r7}\n" \
    "str r5, [sp, #8]\n" \
    "str r6, [sp]\n" \
    "str r7, [sp, #4]\n" \
    "adds r4, r4, r5\n" \
    "str r4, [sp, #28]\n" \
    "1:\n" \
    "movs r4, #0\n" \
    "mov r8, r11\n" \
    "ldr r0, [sp, #12]\n" \
    "2:\n" \
    "mov r12, r0\n" \
    "ldr r5, [sp, #20]\n" \
    "add r12, r5\n" \
    "cmp r0, r12\n" \
    "beq 4f\n" \
    "3:\n" \
    "ldmia r1!, {r2, r3}\n" \
    "ldmia r0!, {r6, r7}\n" \
    "muls r2, r6\n" \
    "muls r3, r7\n" \
    "adds r2, r2, r3\n" \
    "add r8, r2\n" \
    "asrs r2, r2, #16\n" \
    "adcs r4, r2\n" \
    "cmp r0, r12\n" \
    "bne 3b\n" \
    "4:\n" \
    "ldr r5, [sp, #24]\n" \
    "cmp r5, #0\n" \
    "beq 5f\n" \
    "ldmia r1!, {r2}\n" \
    "ldmia r0!, {r6}\n" \
    "muls r2, r6\n" \
    "add r8, r2\n" \
    "asrs r2, r2, #16\n" \
    "adcs r4, r2\n" \
    "5:\n" \
    "add r1, r9\n" \
    "ldr r5, [sp, #16]\n" \
    "cmp r0, r5\n" \
    "bne 2b\n" \
    "add r1, r10\n" \
    "mov r2, r8\n" \
    "lsls r3, r4, #16\n" \
    "subs r2, r2, r3\n" \
    "add r4, r11\n" \
    "movs r3, r4\n" \
    "mov r6, lr\n" \
    "odt_add r2, 0, r7, r6\n" \
    "odt_add r3, 4, r7, r6\n" \
    "stmia r6!, {r2, r3}\n" \
    "mov lr, r6\n" \
    "ldr r5, [sp, #28]\n" \
    "cmp r6, r5\n" \
    "bne 1b\n" \
    "ldr r5, [sp, #8]\n" \
    "adds r6, r6, r5\n" \
    "str r6, [sp, #28]\n" \
    "ldr r5, [sp]\n" \
    "adds r1, r1, r5\n" \
    "ldr r5, [sp, #4]\n" \
    "subs r5, #1\n" \
    "str r5, [sp, #4]\n" \
    "bne 1b\n" \
    "add sp, #32\n" \
    "pop {pc}\n"

ODT_SUM_OR_ADD(any, ODT_BY_ANY)

// Squares of 2x2 windows: 73 cycles for 18 products, eight sums, and 22 per row of windows. For errors a b above c d
// the sums are a * w22 + b * w20 + c * w02 + d * w00 and c * w01 + ... r8, r9: addresses of c and a, r2-r5: words, r6,
// r7: weights and products, r10-r12: w11, w10, w12, lr, r1: sums of the upper row and of the lower.
#define ODT_BY_SQUARES \
    "push {lr}\n" \
    /* 0: filter, 36: the end of the upper row's sums, 40: even, 44: skip, 48: rows */ \
    "sub sp, #52\n" \
    "ldmia r0!, {r1-r7}\n" \
    "mov r9, r2\n" \
    "adds r2, r2, r5\n" \
    "mov r8, r2\n" \
    "mov lr, r3\n" \
    "adds r3, r3, r7\n" \
    "str r3, [sp, #36]\n" \
    "str r7, [sp, #40]\n" \
    "ldmia r0!, {r4, r5}\n" \
    "str r4, [sp, #44]\n" \
    "str r5, [sp, #48]\n" \
    "movs r7, r3\n" \
    "mov r0, sp\n" \
    "ldmia r1!, {r2-r6}\n" \
    "stmia r0!, {r2-r6}\n" \
    "mov r11, r5\n" \
    "mov r10, r6\n" \
    "ldmia r1!, {r2-r5}\n" \
    "stmia r0!, {r2-r5}\n" \
    "mov r12, r2\n" \
    "movs r1, r7\n" \
    "1:\n" \
    "mov r0, r8\n" \
    "ldmia r0!, {r2, r3}\n" /* c, d */ \
    "mov r8, r0\n" \
    "mov r6, r10\n" \
    "muls r6, r3\n" \
    "mov r4, r11\n" \
    "muls r4, r3\n" \
    "mov r5, r12\n" \
    "muls r5, r2\n" \
    "adds r4, r4, r5\n" \
    "sxth r5, r6\n" \
    "subs r6, r6, r5\n" \
    "asrs r7, r6, #16\n" \
    "sxth r0, r4\n" \
    "subs r6, r4, r0\n" \
    "asrs r6, r6, #16\n" \
    "movs r4, r0\n" \
    "odt_add r4, 0, r0, r1\n" \
    "odt_add r5, 4, r0, r1\n" \
    "odt_add r6, 8, r0, r1\n" \
    "odt_add r7, 12, r0, r1\n" \
    "stmia r1!, {r4-r7}\n" \
    "mov r0, r9\n" \
    "ldmia r0!, {r4, r5}\n" /* a, b */ \
    "mov r9, r0\n" \
    "ldr r6, [sp, #4]\n" \
    "muls r6, r3\n" \
    "ldr r7, [sp, #28]\n" \
    "muls r7, r5\n" \
    "adds r6, r6, r7\n" \
    "ldr r7, [sp]\n" \
    "muls r3, r7\n" \
    "ldr r7, [sp, #8]\n" \
    "muls r2, r7\n" \
    "adds r2, r2, r3\n" \
    "ldr r7, [sp, #24]\n" \
    "muls r5, r7\n" \
    "ldr r7, [sp, #32]\n" \
    "muls r4, r7\n" \
    "adds r3, r4, r5\n" \
    "sxth r5, r6\n" \
    "subs r6, r6, r5\n" \
    "asrs r7, r6, #16\n" \
    "sxth r0, r2\n" \
    "sxth r4, r3\n" \
    "subs r2, r2, r0\n" \
    "subs r3, r3, r4\n" \
    "asrs r2, r2, #16\n" \
    "asrs r3, r3, #16\n" \
    "adds r6, r2, r3\n" \
    "adds r4, r4, r0\n" \
    "mov r0, lr\n" \
    "odt_add r4, 0, r2, r0\n" \
    "odt_add r5, 4, r2, r0\n" \
    "odt_add r6, 8, r2, r0\n" \
    "odt_add r7, 12, r2, r0\n" \
    "stmia r0!, {r4-r7}\n" \
    "mov lr, r0\n" \
    "ldr r2, [sp, #36]\n" \
    "cmp r0, r2\n" \
    "bne 1b\n" \
    "ldr r3, [sp, #40]\n" \
    "adds r1, r1, r3\n" \
    "adds r0, r0, r3\n" \
    "mov lr, r0\n" \
    "adds r0, r0, r3\n" \
    "str r0, [sp, #36]\n" \
    "ldr r3, [sp, #44]\n" \
    "add r8, r3\n" \
    "add r9, r3\n" \
    "ldr r3, [sp, #48]\n" \
    "subs r3, #1\n" \
    "str r3, [sp, #48]\n" \
    "bne 1b\n" \
    "add sp, #52\n" \
    "pop {pc}\n"

ODT_SUM_OR_ADD(squares, ODT_BY_SQUARES)

#endif
