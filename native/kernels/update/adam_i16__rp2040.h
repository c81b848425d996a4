// Rows of adam_i8 on an RP2040, in 94 cycles per weight, 66 where a row's gradient is 0, as of a ReLU that lets nothing
// through. The chip's divider is used directly, with the waiting filled: an interrupt that divides saves what is in it.

#ifndef ODT_ADAM_I16_RP2040_H
#define ODT_ADAM_I16_RP2040_H

#include <stddef.h>

#include "../common/registers__m0.h"

_Static_assert(offsetof(adam_row_t, rate) == 36 && offsetof(adam_row_t, end) == 52
    && offsetof(adam_row_t, is_limited) == 76 && offsetof(adam_row_t, step) == 20, "as the loops load them");

// Weight n of four, 90 cycles, or where the gradient is 0 (`still`) 62; `rare` comes before (b) or after (f). What it needs
// is at lr, if `still` from `step` on at r9, and lr the end of w. r8: the dither, r9: d, r10: m, r11: w, r12: v.
#define ODT_ADAM_WEIGHT \
    ".macro odt_adam n, rare, still=0\n" \
    ".if \\still\n" \
    "mov r7, r9\n" \
    "ldmia r7!, {r5, r6}\n" \
    "mov r0, r8\n" \
    "add r8, r5\n" \
    "uxth r1, r0\n" \
    ".else\n" \
    "mov r7, lr\n" \
    "mov r0, r9\n" \
    "ldr r1, [r0, #4 * \\n]\n" \
    "ldmia r7!, {r2, r3, r4}\n" \
    "asrs r1, r2\n" \
    "muls r3, r1\n" \
    "asrs r3, r4\n" \
    "asrs r2, r3, #31\n" \
    "eors r3, r2\n" /* r3: B */ \
    "ldmia r7!, {r2, r4, r5, r6}\n" \
    "muls r1, r2\n" \
    "asrs r1, r4\n" \
    "mov r0, r8\n" /* r0: the dither */ \
    "add r8, r5\n" \
    "uxth r2, r0\n" \
    "adds r1, r1, r2\n" \
    ".endif\n" \
    "mov r2, r10\n" \
    "movs r5, #2 * \\n\n" \
    "ldrsh r4, [r2, r5]\n" \
    "muls r4, r6\n" \
    "adds r1, r1, r4\n" \
    "asrs r1, r1, #16\n" /* r1: the first moment */ \
    "strh r1, [r2, #2 * \\n]\n" \
    "ldmia r7!, {r4, r5}\n" /* r4: the divider */ \
    "mov r6, r12\n" \
    "ldrh r2, [r6, #2 * \\n]\n" \
    "muls r5, r2\n" /* r5: A */ \
    ".if \\still == 0\n" \
    "lsls r2, r2, #6\n" \
    "cmp r2, r3\n" \
    "bls 4\\n\\()\\rare\n" \
    "lsrs r2, r2, #5\n" \
    "muls r3, r3\n" \
    "str r3, [r4, #0x00]\n" \
    "str r2, [r4, #0x04]\n" \
    "1\\n:\n" \
    ".endif\n" \
    "lsrs r2, r0, #16\n" /* 8 cycles until the quotient is there */ \
    "adds r5, r5, r2\n" \
    "ldmia r7!, {r2, r3}\n" \
    "muls r1, r2\n" \
    "lsls r0, r0, #8\n" \
    "lsrs r0, r3\n" /* r0: what rounds the weight */ \
    ".if \\still == 0\n" \
    "ldr r2, [r4, #0x10]\n" \
    "lsls r2, r2, #4\n" \
    "adds r5, r5, r2\n" \
    ".endif\n" \
    "lsrs r5, r5, #16\n" \
    "strh r5, [r6, #2 * \\n]\n" /* the root */ \
    "adds r5, r5, #1\n" \
    "str r1, [r4, #0x08]\n" \
    "str r5, [r4, #0x0C]\n" \
    "mov r1, r11\n" /* again 8 cycles at least */ \
    "movs r3, #\\n\n" \
    "ldrsb r5, [r1, r3]\n" \
    "ldmia r7!, {r2, r6}\n" \
    ".if \\n\n" \
    "adds r6, r6, r3\n" \
    ".endif\n" \
    "ldrsb r7, [r1, r6]\n" \
    "lsls r5, r5, #8\n" \
    "adds r5, r5, r7\n" /* r5: W */ \
    "ldr r3, [r4, #0x10]\n" \
    "adds r3, r3, r0\n" \
    "asrs r3, r2\n" \
    "subs r5, r5, r3\n" \
    "strb r5, [r1, r6]\n" /* W - 256 * w is W's low byte */ \
    "adds r5, r5, #128\n" \
    "asrs r5, r5, #8\n" \
    "movs r3, r5\n" \
    "adds r3, r3, #127\n" \
    "cmp r3, #254\n" \
    "bhi 5\\n\\()\\rare\n" \
    "3\\n:\n" \
    "strb r5, [r1, #\\n]\n" \
    ".endm\n" \
    ".macro odt_adam_rare n, main, still=0\n" \
    ".if \\still == 0\n" \
    "4\\n:\n" /* the gradient's term is the larger */ \
    "lsls r5, r3, #10\n" \
    "muls r2, r2\n" \
    "lsrs r3, r3, #5\n" \
    "adds r3, r3, #1\n" \
    "str r2, [r4, #0x00]\n" \
    "str r3, [r4, #0x04]\n" \
    "b 1\\n\\()\\main\n" \
    ".endif\n" \
    "5\\n:\n" /* a weight beyond its limit, 127 and 127 / 256 or -127 and -128 / 256 */ \
    "asrs r7, r5, #31\n" \
    "movs r5, #127\n" \
    ".if \\still\n" \
    "mov r3, r9\n" \
    "str r5, [r3, #76 - 20]\n" \
    ".else\n" \
    "mov r3, lr\n" \
    "str r5, [r3, #76]\n" \
    ".endif\n" \
    "eors r5, r7\n" \
    "strb r5, [r1, r6]\n" \
    "subs r5, r5, r7\n" \
    "b 3\\n\\()\\main\n" \
    ".endm\n"

// Of the row in r0: lr, r8 .. r12, but of r9 what r7 is to be; on to 100, or to 101, 102, 103 as the first weights of four are not
// there: those that are too many for fours are first.
#define ODT_ADAM_BEGIN \
    ODT_SAVE_REGISTERS \
    "mov lr, r0\n" \
    "movs r7, r0\n" \
    "adds r7, #52\n" \
    "ldmia r7!, {r1, r2, r3, r4, r5, r6}\n" /* end, from m to v, d, m, w, dither */ \
    "mov r8, r6\n" \
    "subs r1, r1, r3\n" \
    "bne 6f\n" \
    ODT_RESTORE_REGISTERS \
    "6:\n" \
    "movs r0, #0\n" \
    "lsrs r6, r1, #2\n" /* how many weights */ \
    "lsls r1, r1, #28\n" \
    "beq 7f\n" \
    "movs r0, #16\n" \
    "lsrs r1, r1, #28\n" \
    "subs r0, r0, r1\n" /* 4 times how many of the four are not there */ \
    "7:\n" \
    "subs r3, r3, r0\n" \
    "mov r9, r3\n" \
    "lsrs r3, r0, #1\n" \
    "subs r4, r4, r3\n" \
    "mov r10, r4\n" \
    "add r4, r2\n" \
    "mov r12, r4\n" \
    "lsrs r3, r3, #1\n" \
    "subs r5, r5, r3\n" \
    "mov r11, r5\n"

#define ODT_ADAM_ENTER \
    "cmp r0, #4\n" \
    "blo 100f\n" \
    "beq 101f\n" \
    "cmp r0, #8\n" \
    "bne 6f\n" \
    "b 102f\n" \
    "6:\n" \
    "b 103f\n"

// As the C one.
__attribute__((naked, noinline)) static void step_row(adam_row_t *row) {
    (void)row;
    __asm volatile (
        ".syntax unified\n"
        ODT_ADAM_WEIGHT
        ODT_ADAM_BEGIN
        ODT_ADAM_ENTER
        "odt_adam_rare 0, f\n"
        "100:\n"
        "odt_adam 0, b\n"
        "101:\n"
        "odt_adam 1, f\n"
        "b 102f\n"
        "odt_adam_rare 1, b\n"
        "odt_adam_rare 2, f\n"
        "102:\n"
        "odt_adam 2, b\n"
        "103:\n"
        "odt_adam 3, f\n"
        "adds r1, r1, #4\n"
        "mov r11, r1\n"
        "movs r0, #16\n"
        "add r9, r0\n"
        "movs r0, #8\n"
        "add r10, r0\n"
        "add r12, r0\n"
        "mov r7, lr\n"
        "ldr r7, [r7, #52]\n"
        "cmp r7, r9\n"
        "beq 7f\n"
        "b 100b\n"
        "7:\n"
        ODT_RESTORE_REGISTERS
        "odt_adam_rare 3, b\n"
        ".purgem odt_adam\n"
        ".purgem odt_adam_rare\n"
        );
}

// The same of a row whose gradient is 0.
__attribute__((naked, noinline)) static void step_still_row(adam_row_t *row) {
    (void)row;
    __asm volatile (
        ".syntax unified\n"
        ODT_ADAM_WEIGHT
        ODT_ADAM_BEGIN
        "add r6, r3\n"
        "add r6, r11\n"
        "mov r5, lr\n"
        "adds r5, #20\n"
        "mov r9, r5\n"
        "mov lr, r6\n" // the end of w
        ODT_ADAM_ENTER
        "odt_adam_rare 0, f, 1\n"
        "100:\n"
        "odt_adam 0, b, 1\n"
        "101:\n"
        "odt_adam 1, f, 1\n"
        "b 102f\n"
        "odt_adam_rare 1, b, 1\n"
        "odt_adam_rare 2, f, 1\n"
        "102:\n"
        "odt_adam 2, b, 1\n"
        "103:\n"
        "odt_adam 3, f, 1\n"
        "adds r1, r1, #4\n"
        "mov r11, r1\n"
        "movs r0, #8\n"
        "add r10, r0\n"
        "add r12, r0\n"
        "cmp r1, lr\n"
        "beq 7f\n"
        "b 100b\n"
        "7:\n"
        ODT_RESTORE_REGISTERS
        "odt_adam_rare 3, b, 1\n"
        ".purgem odt_adam\n"
        ".purgem odt_adam_rare\n"
        );
}

#undef ODT_ADAM_WEIGHT
#undef ODT_ADAM_BEGIN
#undef ODT_ADAM_ENTER

#endif
