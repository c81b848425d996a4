// Rows of adam_i8 on a Cortex-M4 and later, in 49 instructions per weight: what gcc keeps on the stack is loaded four
// or five words at a time.

#ifndef ODT_ADAM_I16_M4_H
#define ODT_ADAM_I16_M4_H

#include <stddef.h>

_Static_assert(offsetof(adam_row_t, rate) == 36 && offsetof(adam_row_t, end) == 52
    && offsetof(adam_row_t, is_limited) == 76, "as the loop loads them");

// As the C one. r0: row, r1: d, r2: m, r3: w, r4: v, r5: r, r6: the dither, lr: the end of d; r7: the gradient, then the
// dither's step.
__attribute__((naked, noinline)) static void step_row(adam_row_t *row) {
    (void)row;
    __asm volatile (
        ".syntax unified\n"
        "push {r4-r11, lr}\n"
        "ldrd r1, r2, [r0, #60]\n" // d, m
        "ldrd r3, r6, [r0, #68]\n" // w, the dither
        "ldr r5, [r0, #48]\n"
        "add r5, r3\n" // r
        "ldrd lr, r4, [r0, #52]\n"
        "add r4, r2\n" // v
        "1:\n"
        "ldr r7, [r1], #4\n"
        "ldmia r0!, {r8, r9, r10, r11, r12}\n"
        "asr r7, r7, r8\n"
        "mul r9, r9, r7\n"
        "asr r9, r9, r10\n"
        "eor r9, r9, r9, asr #31\n" // r9: B
        "mul r11, r11, r7\n"
        "asr r11, r11, r12\n"
        "uxtah r11, r11, r6\n"
        "ldmia r0!, {r7, r8, r10, r12}\n" // r7: from one dither to the next
        "ldrsh r10, [r2]\n"
        "mla r11, r10, r8, r11\n"
        "asr r11, r11, #16\n" // r11: the first moment
        "strh r11, [r2], #2\n"
        "ldrh r10, [r4]\n"
        "mul r12, r12, r10\n" // r12: A
        "cmp r9, r10, lsl #6\n"
        "bhs 4f\n"
        "mul r9, r9, r9\n"
        "lsl r10, r10, #1\n"
        "2:\n"
        "udiv r9, r9, r10\n"
        "add r12, r12, r9, lsl #4\n"
        "add r12, r12, r6, lsr #16\n"
        "lsr r12, r12, #16\n" // r12: the root
        "strh r12, [r4], #2\n"
        "add r12, r12, #1\n"
        "ldmia r0, {r8, r9, r10}\n"
        "mul r11, r11, r8\n"
        "sdiv r11, r11, r12\n"
        "lsl r8, r6, #8\n"
        "add r6, r6, r7\n"
        "lsr r8, r8, r9\n"
        "add r11, r11, r8\n"
        "asr r11, r11, r10\n"
        "ldrsb r9, [r3]\n"
        "ldrsb r8, [r5]\n"
        "add r8, r8, r9, lsl #8\n"
        "sub r8, r8, r11\n" // r8: W
        "eor r9, r8, r8, asr #31\n"
        "cmp r9, #32640\n"
        "bge 5f\n"
        "3:\n"
        "strb r8, [r5], #1\n" // W - 256 * w is W's low byte
        "add r8, r8, #128\n"
        "asr r8, r8, #8\n"
        "strb r8, [r3], #1\n"
        "sub r0, r0, #36\n"
        "cmp r1, lr\n"
        "bne 1b\n"
        "pop {r4-r11, pc}\n"
        "4:\n" // the gradient's term is the larger
        "lsl r12, r9, #10\n"
        "lsl r8, r10, #6\n"
        "lsr r10, r9, #5\n"
        "add r10, r10, #1\n"
        "mul r9, r8, r8\n"
        "b 2b\n"
        "5:\n" // a weight beyond its limit
        "movw r9, #32639\n"
        "eor r8, r9, r8, asr #31\n"
        "str r9, [r0, #40]\n"
        "b 3b\n"
        );
}

#endif
