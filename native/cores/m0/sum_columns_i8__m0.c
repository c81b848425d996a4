// Columns of bytes times a list of errors on a Cortex-M0+: sum_columns_i8__m0.h.

#include <stddef.h>

#include "../../core.h"
#include "../../fixed.h"
#include "sum_columns_i8__m0.h"

#if ODT_M0 && !ODT_SMALL

#include "registers__m0.h"

ODT_BESIDE_ASSEMBLY

_Static_assert(offsetof(odt_columns_t, fours) == 16 && offsetof(odt_columns_t, rows) == 28, "as the loop loads them");

// 19.75 cycles for 4 products, 42 around the errors of four columns, about 30 per row. r0: list, r1-r4: w, r5: offset,
// r6: e, r7: a product, r8-r11: sums, r12: the list's end, lr: where the loop is entered. The stack: 0: sums, 4: their
// end, 8: list, 12: the struct from w_skip on, 16: rows.
__attribute__((naked, noinline)) void odt_sum_columns(const odt_columns_t *c) {
    (void)c;
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
        "ldmia r0!, {r1-r5}\n" // sums, list, end, w, fours
        "mov r12, r3\n"
        "subs r3, r2, r3\n" // enters the loop so that the remainder modulo 4 comes first
        "lsrs r3, r3, #3\n"
        "movs r6, #3\n"
        "ands r3, r6\n"
        "movs r6, #26\n"
        "muls r3, r6\n"
        "adr r6, 2f\n"
        "adds r6, r6, r3\n"
        "mov lr, r6\n"
        "ldr r3, [r0, #8]\n"
        "push {r3}\n"
        "push {r0}\n"
        "push {r2}\n"
        "sub sp, #8\n"
        "4:\n"
        "adds r5, r5, r1\n"
        "str r1, [sp]\n"
        "str r5, [sp, #4]\n"
        "movs r7, r1\n"
        "movs r1, r4\n"
        "adds r2, r1, #1\n"
        "adds r3, r1, #2\n"
        "adds r4, r1, #3\n"
        "1:\n" // r7: the sums
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
        ".rept 4\n"
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
        "bne 1b\n"
        "ldr r6, [sp, #16]\n"
        "subs r6, r6, #1\n"
        "beq 3f\n"
        "str r6, [sp, #16]\n"
        "ldr r6, [sp, #12]\n"
        "ldr r4, [r6]\n"
        "adds r4, r4, r1\n"
        "ldr r1, [r6, #4]\n"
        "adds r1, r1, r7\n"
        "subs r6, r6, #4\n"
        "ldr r5, [r6]\n"
        "b 4b\n"
        "3:\n"
        "add sp, #20\n"
        ODT_RESTORE_REGISTERS
        ".purgem odt_column\n"
        ".purgem odt_error\n"
        );
}

_Static_assert(offsetof(odt_scan_t, count) == 8 && offsetof(odt_scan_t, rows) == 20 && offsetof(odt_scan_t, sum) == 32,
    "as the loop loads them");

// 6.75 cycles per error, 7 more if it is not 0, 17 per row, 18 per image. r0: at, r1: e, r2: offset, r3: turns left of
// the row, r4: step, r5: apart, r6: an error, r7: 0, r8: skip, r9: a row's turns, r10: e_skip, r11: rows, r12: sum, lr:
// where the loop is entered. The stack: 0: scan, 4: images.
__attribute__((naked, noinline)) odt_listed_t *odt_list_errors(
    odt_listed_t *at, const int8_t *e, int32_t offset, odt_scan_t *scan) {
    (void)at, (void)e, (void)offset, (void)scan;
    __asm volatile (
        ".syntax unified\n"
        ".macro odt_scan n\n" // 10 bytes
        "ldrsb r6, [r1, r7]\n"
        "adds r1, r1, r4\n"
        "cmp r6, #0\n"
        "bne 4\\n\\()f\n"
        "5\\n:\n"
        "adds r2, r2, r5\n"
        ".endm\n"
        ".macro odt_scan_listed n\n"
        "4\\n:\n"
        "stmia r0!, {r2, r6}\n"
        "add r12, r6\n"
        "b 5\\n\\()b\n"
        ".endm\n"
        ODT_SAVE_REGISTERS
        "ldr r7, [r3, #24]\n"
        "push {r3, r7}\n"
        "ldr r7, [r3, #32]\n"
        "mov r12, r7\n"
        "ldmia r3!, {r4-r7}\n"
        "mov r8, r7\n"
        "adds r7, r6, #3\n"
        "lsrs r7, r7, #2\n"
        "mov r9, r7\n"
        "rsbs r6, r6, #0\n" // enters the loop so that the remainder modulo 4 comes first
        "movs r7, #3\n"
        "ands r6, r7\n"
        "movs r7, #10\n"
        "muls r6, r7\n"
        "adr r7, 2f\n"
        "adds r6, r6, r7\n"
        "mov lr, r6\n"
        "ldr r6, [r3]\n"
        "mov r10, r6\n"
        "movs r7, #0\n"
        "6:\n"
        "ldr r6, [r3, #4]\n"
        "mov r11, r6\n"
        "1:\n"
        "mov r3, r9\n"
        "mov pc, lr\n"
        ".balign 4\n"
        "2:\n"
        "odt_scan 0\n"
        "odt_scan 1\n"
        "odt_scan 2\n"
        "odt_scan 3\n"
        "subs r3, r3, #1\n"
        "bne 2b\n"
        "add r2, r8\n"
        "add r1, r10\n"
        "mov r6, r11\n"
        "subs r6, r6, #1\n"
        "mov r11, r6\n"
        "bne 1b\n"
        "ldr r3, [sp]\n"
        "ldr r6, [r3, #28]\n"
        "adds r2, r2, r6\n"
        "adds r3, #16\n"
        "ldr r6, [sp, #4]\n"
        "subs r6, r6, #1\n"
        "str r6, [sp, #4]\n"
        "bne 6b\n"
        "mov r6, r12\n"
        "str r6, [r3, #16]\n"
        "add sp, #8\n"
        ODT_RESTORE_REGISTERS
        "odt_scan_listed 0\n"
        "odt_scan_listed 1\n"
        "odt_scan_listed 2\n"
        "odt_scan_listed 3\n"
        ".purgem odt_scan\n"
        ".purgem odt_scan_listed\n"
        );
}

void odt_sum_rows(odt_columns_t *c, int32_t length, int32_t w_pitch, int32_t sums_pitch, int32_t back) {
    int32_t *sums = c->sums, rest = length & 3, fours = length - rest;
    const int8_t *w = c->w + fours - back;
    if (fours) {
        c->fours = fours * (int32_t)sizeof(*sums);
        c->w_skip = w_pitch - fours;
        c->sums_skip = (sums_pitch - fours) * (int32_t)sizeof(*sums);
        odt_sum_columns(c);
    }
    if (rest == 0) {
        return;
    }
    enum { AT_ONCE = 8 };
    int32_t last[4 * AT_ONCE];
    c->fours = 4 * (int32_t)sizeof(*sums);
    c->w_skip = w_pitch - 4;
    c->sums_skip = 0;
    sums += fours;
    for (int32_t rows = c->rows; rows > 0; rows -= AT_ONCE) {
        c->sums = last;
        c->w = w;
        c->rows = odt_min(rows, AT_ONCE);
        for (int32_t i = 0; i < 4 * c->rows; i++) {
            last[i] = 0;
        }
        odt_sum_columns(c);
        w += c->rows * w_pitch;
        for (const int32_t *from = last + back; from < last + 4 * c->rows; from += 4, sums += sums_pitch) {
            for (int32_t i = 0; i < rest; i++) {
                sums[i] = odt_wrap_add(sums[i], from[i]);
            }
        }
    }
}

#endif
