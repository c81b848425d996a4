// The gradient of a LayerNorm's input on an RP2040 (norm_i8.c): rows of 64 elements at most, one after another.

#ifndef ODT_NORM_DX_I8_RP2040_H
#define ODT_NORM_DX_I8_RP2040_H

#include "../../core.h"
#include "norm_i8__m0.h"

// An element's gain; then its h, and its error times the gain, which becomes the error in outputs' parts.
typedef struct {
    int32_t gain, h, error;
} term_t;

// What dx_rows loads, and where it stopped. Of a row's multiplier the upper 24 bits of a product are enough: an output that may be
// one more or less by what is left out is `exact`, as one is that is clamped or a new peak.
typedef struct dx_rows {
    const int8_t *x;     // 0: of the next row
    const int32_t *st;   // 4
    int32_t left;        // 8: rows
    uint32_t u;          // 12: of its first element before it is hashed
    int8_t *dx;          // 16
    int32_t zero, one;   // 20, 24: as in hats_t
    int32_t delta;       // 28: bytes from an x to its e
    int32_t length;      // 32
    term_t *terms;       // 36
    int32_t high, low;   // 40, 44: of what all multipliers have, 12 bits each
    int32_t shift;       // 48: of parts, less that of h
    int32_t top;         // 52: of odt_outputs_t, -bottom too
    int32_t mean, slope; // 56, 60: of the row
    int32_t (*exact)(struct dx_rows *rows, const term_t *after, uint32_t u, int8_t *dx); // 64: makes an output, returns top
    int32_t least;       // 68: a row's shift of h that lets no sum wrap: 14 where a row has 32 elements at most, else 15
} dx_rows_t;

// Rows to the end, or to one that is out of range: 87 cycles per element, 180 per row. On the stack rows.
//
// Sums: 30 each. r0: x, r1: terms, r2: h, r3: e, r4, r5: factor and offset of h, r6: gain, r7: e * h, r8: shift of h, r9: end, r10:
// delta, r11: sum of errors, r12, lr: of products, by the upper bits of e * h and modulo 2^32.
//
// Errors, less their means: 26. r0: terms, r4, r5: -slope by 12 bits, r6, r7: multiplier by 16, r9: end, r10: shift of parts, r11:
// 32 - shift, r12: -mean in parts. An error is at most 1 less than it should be before it is multiplied, parts are -600 to 1364.
//
// Outputs: 31. r0: terms, r4, r5: the hash's factors, r6: 32 - shift, r7: shift, r8: u, r9: end, r10: from one u to the next, r11:
// top, r12: what leaves no doubt, lr: dx.
__attribute__((naked, noinline)) static void dx_rows(dx_rows_t *rows) {
    (void)rows;
    __asm volatile (
        ".syntax unified\n"
        ODT_SAVE_REGISTERS
        "push {r0}\n"
        "1:\n"
        "ldr r3, [sp]\n"
        "ldmia r3!, {r0, r1, r2}\n"
        "cmp r2, #0\n"
        "beq 7f\n"
        "ldmia r1!, {r2, r4}\n"
        "adds r3, #8\n"
        "ldmia r3!, {r5, r6}\n"
        ODT_FACTORS
        "ldr r7, [r3, #40]\n"
        "cmp r6, r7\n"
        "blt 7f\n"
        "mov r8, r6\n"
        "ldmia r3, {r1-r3}\n"
        "mov r10, r1\n"
        "adds r2, r2, r0\n"
        "mov r9, r2\n"
        "movs r1, r3\n"
        "movs r2, #0\n"
        "mov r11, r2\n"
        "mov r12, r2\n"
        "mov lr, r2\n"
        "2:\n"
        "movs r3, #0\n"
        "ldrsb r2, [r0, r3]\n"
        "muls r2, r4\n"
        "adds r2, r2, r5\n"
        "bvs 7f\n"
        "mov r3, r8\n"
        "asrs r2, r3\n"
        "mov r3, r10\n"
        "ldrsb r3, [r0, r3]\n"
        "adds r0, r0, #1\n"
        "ldmia r1!, {r6}\n"
        "movs r7, r3\n"
        "muls r7, r2\n"
        "muls r3, r6\n"
        "add r11, r3\n"
        "stmia r1!, {r2, r3}\n"
        "movs r2, r7\n"
        "muls r2, r6\n"
        "add lr, r2\n"
        "asrs r7, r7, #12\n"
        "muls r7, r6\n"
        "add r12, r7\n"
        "cmp r0, r9\n"
        "bne 2b\n"
        "b 3f\n"
        "7:\n"
        "add sp, #4\n"
        ODT_RESTORE_REGISTERS
        // r1: the products' sum / 4096, towards 0
        "3:\n"
        "mov r9, r1\n"
        "mov r1, r12\n"
        "lsls r2, r1, #12\n"
        "mov r3, lr\n"
        "subs r3, r3, r2\n"
        "asrs r2, r3, #12\n"
        "adds r2, r2, r1\n"
        "asrs r2, r2, #31\n"
        "lsrs r2, r2, #20\n"
        "adds r3, r3, r2\n"
        "asrs r3, r3, #12\n"
        "adds r1, r1, r3\n"
        // r1, r2: slope and mean, r5: multiplier, r6: shift of parts; 8 cycles at least from a divisor to its quotient
        "ldr r0, [sp]\n"
        "ldr r3, 11f\n"
        "ldr r7, [r0, #32]\n"
        "str r1, [r3, #8]\n"
        "str r7, [r3, #12]\n"
        "lsrs r5, r4, #12\n"
        "lsls r4, r4, #20\n"
        "lsrs r4, r4, #20\n"
        "ldr r6, [r0, #40]\n"
        "muls r4, r6\n"
        "ldr r2, [r0, #44]\n"
        "muls r2, r5\n"
        "adds r4, r4, r2\n"
        "ldr r1, [r3, #16]\n"
        "mov r2, r11\n"
        "str r2, [r3, #8]\n"
        "str r7, [r3, #12]\n"
        "lsrs r4, r4, #12\n"
        "muls r5, r6\n"
        "adds r5, r5, r4\n"
        "str r1, [r0, #60]\n"
        "asrs r4, r1, #24\n" // 0 or -1
        "adds r4, r4, #1\n"
        "lsrs r4, r4, #1\n"
        "bne 7b\n"
        "ldr r2, [r3, #16]\n"
        "str r2, [r0, #56]\n"
        "ldr r6, [r0, #48]\n"
        "add r6, r8\n"
        // a shift of 24 at most; beyond 38 a multiplier may be 0
        "movs r3, r6\n"
        "subs r3, #24\n"
        "ble 3f\n"
        "cmp r3, #14\n"
        "bgt 7b\n"
        "lsrs r5, r3\n"
        "movs r6, #24\n"
        "3:\n"
        "movs r3, #32\n"
        "subs r3, r3, r6\n"
        "mov r10, r6\n"
        "mov r11, r3\n"
        "uxth r6, r5\n"
        "lsrs r7, r5, #16\n"
        "negs r1, r1\n"
        "asrs r5, r1, #12\n"
        "lsls r4, r1, #20\n"
        "lsrs r4, r4, #20\n"
        // what parts may lack, at least: 600 less
        "negs r2, r2\n"
        "asrs r3, r2, #8\n"
        "muls r3, r6\n"
        "asrs r3, r3, #8\n"
        "muls r2, r7\n"
        "adds r2, r2, r3\n"
        "movs r3, #150\n"
        "lsls r3, r3, #2\n"
        "subs r2, r2, r3\n"
        "mov r12, r2\n"
        "ldr r0, [r0, #36]\n"
        "4:\n"
        "ldr r1, [r0, #4]\n"
        "ldr r2, [r0, #8]\n"
        "movs r3, r1\n"
        "muls r3, r4\n"
        "asrs r3, r3, #12\n"
        "muls r1, r5\n"
        "adds r1, r1, r3\n"
        "adds r1, r1, r2\n"
        "asrs r3, r1, #22\n" // 0 or -1
        "adds r3, r3, #1\n"
        "lsrs r3, r3, #1\n"
        "bne 7b\n"
        "asrs r2, r1, #8\n"
        "muls r2, r6\n"
        "asrs r2, r2, #8\n"
        "muls r1, r7\n"
        "adds r1, r1, r2\n"
        "add r1, r12\n"
        "str r1, [r0, #8]\n"
        "adds r0, #12\n"
        "cmp r0, r9\n"
        "bne 4b\n"
        "ldr r3, [sp]\n"
        "ldr r0, [r3, #36]\n"
        "ldr r1, [r3, #12]\n"
        "mov r8, r1\n"
        "ldr r1, [r3, #16]\n"
        "mov lr, r1\n"
        "mov r7, r10\n"
        "mov r6, r11\n"
        "ldr r1, [r3, #52]\n"
        "mov r11, r1\n"
        "ldr r1, 12f\n"
        "mov r10, r1\n"
        "ldr r4, 13f\n"
        "ldr r5, 14f\n"
        "movs r1, #1\n"
        "lsls r1, r1, #11\n"
        "lsls r1, r6\n"
        "negs r1, r1\n"
        "mov r12, r1\n"
        "5:\n"
        "ldr r1, [r0, #8]\n"
        "adds r0, #12\n"
        ODT_HASH_UPPER
        "lsrs r2, r6\n"
        "adds r1, r1, r2\n"
        "movs r2, r1\n"
        "lsls r2, r6\n"
        "cmp r2, r12\n"
        "bhs 6f\n"
        "asrs r1, r7\n"
        "mov r3, r11\n"
        "adds r2, r1, r3\n"
        "lsls r3, r3, #1\n"
        "cmp r2, r3\n"
        "bhi 6f\n"
        "mov r3, lr\n"
        "strb r1, [r3]\n"
        "8:\n"
        "adds r3, r3, #1\n"
        "mov lr, r3\n"
        "add r8, r10\n"
        "cmp r0, r9\n"
        "bne 5b\n"
        "ldr r6, [sp]\n"
        "ldmia r6!, {r0-r2}\n"
        "ldr r3, [r6, #20]\n"
        "adds r0, r0, r3\n"
        "adds r1, #8\n"
        "subs r2, r2, #1\n"
        "mov r3, r8\n"
        "mov r4, lr\n"
        "subs r6, #12\n"
        "stmia r6!, {r0-r4}\n"
        "b 1b\n"
        "6:\n"
        "movs r1, r0\n"
        "mov r2, r12\n"
        "mov r3, lr\n"
        "push {r1-r4}\n"
        "ldr r0, [sp, #16]\n"
        "mov r2, r8\n"
        "ldr r4, [r0, #64]\n"
        "blx r4\n"
        "mov r11, r0\n"
        "pop {r0, r2-r4}\n"
        "mov r12, r2\n"
        "b 8b\n"
        ".balign 4\n"
        "11: .word %c0\n"
        "12: .word %c1\n"
        "13: .word %c2\n"
        "14: .word %c3\n"
        :: "i" (ODT_DIVIDER), "i" (ODT_HASH_GOLDEN), "i" (ODT_HASH_SECOND), "i" (ODT_HASH_THIRD));
}

#endif
