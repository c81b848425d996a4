// Rows of adam_i8 on an RP2040, in 79 cycles per weight, 57 where a row's gradient is 0, as of a ReLU that lets nothing
// through. The chip's divider is used directly, with the waiting filled: an interrupt that divides saves what is in it.

#ifndef ODT_ADAM_I16_RP2040_H
#define ODT_ADAM_I16_RP2040_H

#include <stddef.h>

#include "../common/registers__m0.h"

_Static_assert(FINER == 11 && offsetof(adam_row_t, b1) == 8 && offsetof(adam_row_t, rate) == 20 && offsetof(adam_row_t, end) == 36
    && offsetof(adam_row_t, v_apart) == 40 && offsetof(adam_row_t, is_limited) == 60, "as the loops load them");

// Weight n of four, 76 cycles, or where the gradient is 0 (`still`) 54; `rare` comes before (b) or after (f). What it needs
// is on the stack, if `still` from b1 on. r8, lr: what rounds the moments of even and odd weights, r9: d, r10: m, r11: w, r12: v.
// An odd weight's quotient is negated before it is rounded, which is to round it by the dither's complement.
#define ODT_ADAM_WEIGHT \
    ".macro odt_adam n, rare, still=0\n" \
    "mov r7, sp\n" \
    ".if \\still\n" \
    "ldmia r7!, {r4, r5, r6}\n" \
    ".else\n" \
    "mov r0, r9\n" \
    "ldr r1, [r0, #4 * \\n]\n" \
    "ldmia r7!, {r2, r3, r4, r5, r6}\n" /* r5: the divider */ \
    "asrs r1, r2\n" \
    "muls r1, r3\n" \
    "asrs r3, r1, #31\n" \
    "eors r3, r1\n" \
    "lsrs r3, r3, #11\n" /* r3: B */ \
    ".endif\n" \
    "mov r2, r10\n" \
    "movs r0, #2 * \\n\n" \
    "ldrsh r0, [r2, r0]\n" \
    "muls r0, r4\n" \
    ".if \\n & 1\n" \
    "add r0, lr\n" \
    ".else\n" \
    "add r0, r8\n" \
    ".endif\n" \
    ".if \\still == 0\n" \
    "adds r0, r0, r1\n" \
    ".endif\n" \
    "asrs r1, r0, #16\n" /* r1: the first moment */ \
    "strh r1, [r2, #2 * \\n]\n" \
    "mov r2, r12\n" \
    "ldrh r4, [r2, #2 * \\n]\n" \
    "muls r6, r4\n" /* r6: A */ \
    ".if \\still == 0\n" \
    "lsls r4, r4, #6\n" \
    "cmp r4, r3\n" \
    "bls 4\\n\\()\\rare\n" \
    "lsrs r4, r4, #5\n" \
    "muls r3, r3\n" \
    "str r3, [r5, #0x00]\n" \
    "str r4, [r5, #0x04]\n" \
    "1\\n:\n" \
    ".endif\n" \
    ".if \\n & 1\n" /* 8 cycles until the quotient is there */ \
    "add r6, lr\n" \
    ".else\n" \
    "add r6, r8\n" \
    ".endif\n" \
    "ldmia r7!, {r3}\n" \
    "muls r1, r3\n" \
    "mov r0, r11\n" \
    "movs r4, #\\n\n" \
    "ldrsb r4, [r0, r4]\n" /* r4: the weight */ \
    ".if \\still == 0\n" \
    "ldr r3, [r5, #0x10]\n" \
    "lsls r3, r3, #4\n" \
    "adds r6, r6, r3\n" \
    ".endif\n" \
    "lsrs r6, r6, #16\n" \
    "strh r6, [r2, #2 * \\n]\n" /* the root */ \
    "adds r6, r6, #1\n" \
    "str r1, [r5, #0x08]\n" \
    "str r6, [r5, #0x0C]\n" \
    ".if \\n == 3\n" /* again 8 cycles at least */ \
    "ldmia r7!, {r1, r2, r3, r6}\n" /* r6: the end of w */ \
    ".else\n" \
    "ldmia r7!, {r1, r2, r3}\n" \
    ".endif\n" \
    ".if \\n\n" \
    "adds r3, r3, #\\n\n" \
    ".endif\n" \
    "ldrsb r7, [r0, r3]\n" \
    "lsls r4, r4, #8\n" \
    "adds r4, r4, r7\n" /* r4: W */ \
    "ldr r7, [r5, #0x10]\n" \
    ".if \\n & 1\n" \
    "subs r1, r1, r7\n" \
    "asrs r1, r2\n" \
    "adds r4, r4, r1\n" \
    ".else\n" \
    "adds r1, r1, r7\n" \
    "asrs r1, r2\n" \
    "subs r4, r4, r1\n" \
    ".endif\n" \
    "strb r4, [r0, r3]\n" /* W - 256 * w is W's low byte */ \
    "adds r4, r4, #128\n" \
    "asrs r4, r4, #8\n" \
    "movs r1, r4\n" \
    "adds r1, r1, #127\n" \
    "cmp r1, #254\n" \
    "bhi 5\\n\\()\\rare\n" \
    "3\\n:\n" \
    "strb r4, [r0, #\\n]\n" \
    ".endm\n" \
    ".macro odt_adam_rare n, main, still=0\n" \
    ".if \\still == 0\n" \
    "4\\n:\n" /* the gradient's term is the larger */ \
    "lsls r6, r3, #10\n" \
    "muls r4, r4\n" \
    "lsrs r3, r3, #5\n" \
    "adds r3, r3, #1\n" \
    "str r4, [r5, #0x00]\n" \
    "str r3, [r5, #0x04]\n" \
    "b 1\\n\\()\\main\n" \
    ".endif\n" \
    "5\\n:\n" /* a weight beyond its limit, 127 and 127 / 256 or -127 and -128 / 256 */ \
    "asrs r7, r4, #31\n" \
    "movs r4, #127\n" \
    ".if \\still\n" \
    "ldr r1, [sp, #32]\n" \
    ".else\n" \
    "ldr r1, [sp, #40]\n" \
    ".endif\n" \
    "str r4, [r1, #60]\n" \
    "eors r4, r7\n" \
    "strb r4, [r0, r3]\n" \
    "subs r4, r4, r7\n" \
    "b 3\\n\\()\\main\n" \
    ".endm\n"

// Of the row in r0, which goes to `row` on the stack: r8 .. r12, lr; on to 100, or to 101, 102, 103 as the first weights of four
// are not there: those that are too many for fours are first.
#define ODT_ADAM_ENTER(row) \
    "str r0, [sp, #" row "]\n" \
    "movs r7, r0\n" \
    "adds r7, #36\n" \
    "ldmia r7!, {r1, r2, r3, r4, r5, r6}\n" /* end, from m to v, d, m, w, half */ \
    "mov r8, r6\n" \
    "mvns r6, r6\n" \
    "uxth r6, r6\n" \
    "mov lr, r6\n" \
    "subs r1, r5, r1\n" \
    "beq 9f\n" \
    "lsls r0, r1, #30\n" \
    "lsrs r0, r0, #30\n" /* how many of the first four are not there */ \
    "subs r5, r5, r0\n" \
    "mov r11, r5\n" \
    "lsls r6, r0, #1\n" \
    "subs r4, r4, r6\n" \
    "mov r10, r4\n" \
    "add r4, r2\n" \
    "mov r12, r4\n" \
    "lsls r6, r0, #2\n" \
    "subs r3, r3, r6\n" \
    "mov r9, r3\n" \
    "cmp r0, #1\n" \
    "blo 100f\n" \
    "beq 101f\n" \
    "cmp r0, #2\n" \
    "bne 6f\n" \
    "b 102f\n" \
    "6:\n" \
    "b 103f\n" \
    "9:\n" \
    "b 8f\n"

// After four weights, to the next ones.
#define ODT_ADAM_NEXT(gradients) \
    "adds r0, r0, #4\n" \
    "mov r11, r0\n" \
    gradients \
    "movs r1, #8\n" \
    "add r10, r1\n" \
    "add r12, r1\n" \
    "cmp r0, r6\n" \
    "beq 8f\n" \
    "b 100b\n"

#define ODT_ADAM_END(size) \
    "8:\n" \
    "add sp, #" size "\n" \
    ODT_RESTORE_REGISTERS

// As the C one.
__attribute__((naked, noinline)) static void step_row(adam_row_t *row) {
    (void)row;
    __asm volatile (
        ".syntax unified\n"
        ODT_ADAM_WEIGHT
        ODT_SAVE_REGISTERS
        "sub sp, #44\n"
        "mov r1, sp\n"
        "movs r2, r0\n"
        "ldmia r2!, {r3, r4, r5, r6, r7}\n"
        "stmia r1!, {r3, r4, r5, r6, r7}\n"
        "ldmia r2!, {r3, r4, r5, r6, r7}\n"
        "stmia r1!, {r3, r4, r5, r6, r7}\n"
        ODT_ADAM_ENTER("40")
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
        ODT_ADAM_NEXT("movs r1, #16\n" "add r9, r1\n")
        ODT_ADAM_END("44")
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
        ODT_SAVE_REGISTERS
        "sub sp, #36\n"
        "mov r1, sp\n"
        "movs r2, r0\n"
        "adds r2, #8\n"
        "ldmia r2!, {r3, r4, r5, r6}\n"
        "stmia r1!, {r3, r4, r5, r6}\n"
        "ldmia r2!, {r3, r4, r5, r6}\n"
        "stmia r1!, {r3, r4, r5, r6}\n"
        ODT_ADAM_ENTER("32")
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
        ODT_ADAM_NEXT("")
        ODT_ADAM_END("36")
        "odt_adam_rare 3, b, 1\n"
        ".purgem odt_adam\n"
        ".purgem odt_adam_rare\n"
        );
}

#undef ODT_ADAM_WEIGHT
#undef ODT_ADAM_ENTER
#undef ODT_ADAM_NEXT
#undef ODT_ADAM_END

#endif
