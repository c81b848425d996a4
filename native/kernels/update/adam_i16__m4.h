// Rows of adam_i8 on a Cortex-M4 and later, in 41 instructions per weight.

#ifndef ODT_ADAM_I16_M4_H
#define ODT_ADAM_I16_M4_H

#include <stddef.h>

_Static_assert(FINER == 11 && offsetof(adam_row_t, r2) == 16 && offsetof(adam_row_t, rate) == 20 && offsetof(adam_row_t, r_apart) == 32
    && offsetof(adam_row_t, half) == 56 && offsetof(adam_row_t, is_limited) == 60, "as the loop loads them");

// As the C one, two weights at a time, the first of which has the dither as it is, the second its complement. r0: row, r1: d, r2: m,
// r3: w, r4: v, r5: r, r6: `half` << 16, r9: sqrt(beta2), r10: factor, lr: the end of w.
__attribute__((naked, noinline)) static void step_row(adam_row_t *row) {
    (void)row;
    __asm volatile (
        ".syntax unified\n"
        ".macro odt_adam n\n" // 39 instructions
        "ldr r7, [r1], #4\n"
        "ldr r11, [r0]\n"
        "asr r7, r7, r11\n"
        "mul r7, r7, r10\n"
        "eor r11, r7, r7, asr #31\n"
        "lsr r11, r11, #11\n" // r11: B
        "add r7, r7, r6, lsr #16\n"
        "ldrsh r12, [r2]\n"
        "ldr r8, [r0, #8]\n"
        "mla r7, r12, r8, r7\n"
        "asr r7, r7, #16\n" // r7: the first moment
        "strh r7, [r2], #2\n"
        "ldrh r12, [r4]\n"
        "cmp r11, r12, lsl #6\n"
        "bhs 4\\n\\()f\n"
        "mul r8, r12, r9\n" // r8: A
        "mul r11, r11, r11\n"
        "lsl r12, r12, #1\n"
        "1\\n:\n"
        "udiv r11, r11, r12\n"
        "add r8, r8, r11, lsl #4\n"
        "add r8, r8, r6, lsr #16\n"
        "lsr r8, r8, #16\n" // r8: the root
        "strh r8, [r4], #2\n"
        "add r8, r8, #1\n"
        "ldr r11, [r0, #20]\n"
        "mul r7, r7, r11\n"
        "sdiv r7, r7, r8\n"
        "ldrd r11, r12, [r0, #24]\n"
        ".if \\n\n" // to round the negated quotient is to round by the complement
        "sub r7, r11, r7\n"
        ".else\n"
        "add r7, r7, r11\n"
        ".endif\n"
        "asr r7, r7, r12\n"
        "ldrsb r11, [r3]\n"
        "ldrsb r12, [r5]\n"
        "add r12, r12, r11, lsl #8\n"
        ".if \\n\n"
        "add r12, r12, r7\n"
        ".else\n"
        "sub r12, r12, r7\n" // r12: W
        ".endif\n"
        "eor r11, r12, r12, asr #31\n"
        "cmp r11, #32640\n"
        "bge 5\\n\\()f\n"
        "3\\n:\n"
        "strb r12, [r5], #1\n" // W - 256 * w is W's low byte
        "add r12, r12, #128\n"
        "asr r12, r12, #8\n"
        "strb r12, [r3], #1\n"
        "mvn r6, r6\n"
        ".endm\n"
        ".macro odt_adam_rare n\n"
        "4\\n:\n" // the gradient's term is the larger
        "lsl r7, r12, #6\n"
        "lsl r8, r11, #10\n"
        "lsr r12, r11, #5\n"
        "add r12, r12, #1\n"
        "mul r11, r7, r7\n"
        "ldrsh r7, [r2, #-2]\n"
        "b 1\\n\\()b\n"
        "5\\n:\n" // a weight beyond its limit
        "movw r11, #32639\n"
        "eor r12, r11, r12, asr #31\n"
        "str r11, [r0, #60]\n"
        "b 3\\n\\()b\n"
        ".endm\n"
        "push {r4-r11, lr}\n"
        "ldrd r1, r2, [r0, #44]\n" // d, m
        "ldrd r3, r6, [r0, #52]\n" // w, half
        "ldrd r5, lr, [r0, #32]\n"
        "add r5, r3\n" // r
        "ldr r4, [r0, #40]\n"
        "add r4, r2\n" // v
        "ldr r9, [r0, #16]\n"
        "ldr r10, [r0, #4]\n"
        "lsl r6, r6, #16\n"
        "subs r7, lr, r3\n"
        "beq 8f\n"
        "lsrs r7, r7, #1\n"
        "bcc 6f\n"
        "mvn r6, r6\n"
        "b 7f\n"
        "6:\n"
        "odt_adam 0\n"
        "7:\n"
        "odt_adam 1\n"
        "cmp r3, lr\n"
        "bne 6b\n"
        "8:\n"
        "pop {r4-r11, pc}\n"
        "odt_adam_rare 0\n"
        "odt_adam_rare 1\n"
        ".purgem odt_adam\n"
        ".purgem odt_adam_rare\n"
        );
}

#endif
