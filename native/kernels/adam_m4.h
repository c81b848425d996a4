// Rows of adam_i8 on a Cortex-M4 and later, in 54 instructions a weight: what gcc keeps on the stack is loaded four
// or five words at a time.

#ifndef ODT_ADAM_M4_H
#define ODT_ADAM_M4_H

#include <stddef.h>

_Static_assert(offsetof(adam_row_t, third) == 36 && offsetof(adam_row_t, end) == 56
    && offsetof(adam_row_t, is_limited) == 80, "as the loop loads them");

// As the C one.
__attribute__((naked, noinline)) static void step_row(adam_row_t *row) {
    (void)row;
    __asm volatile (
        ".syntax unified\n"
        "push {r4-r11, lr}\n"
        "ldrd r1, r2, [r0, #64]\n" // d, m
        "ldr r3, [r0, #72]\n" // w
        "ldr r5, [r0, #52]\n"
        "add r5, r3\n" // r
        "ldrd lr, r4, [r0, #56]\n"
        "add r4, r2\n" // v
        "ldr r6, [r0, #76]\n" // the hash's input
        "1:\n"
        "ldr r7, [r1], #4\n" // r7: g
        "ldmia r0!, {r8, r9, r10, r11, r12}\n"
        "asr r7, r7, r8\n"
        "mul r7, r7, r9\n"
        "asrs r7, r7, r10\n"
        "adc r7, r7, #0\n"
        "eor r8, r6, r6, lsr #16\n" // r8: h
        "add r6, r6, r12\n"
        "mul r8, r8, r11\n"
        "eor r8, r8, r8, lsr #15\n"
        "ldmia r0!, {r9, r10, r11, r12}\n"
        "mul r10, r10, r7\n" // r10: the moment
        "mul r11, r11, r7\n"
        "ldrsh r7, [r2]\n"
        "mla r10, r7, r9, r10\n"
        "uxtah r10, r10, r8\n"
        "asr r10, r10, #16\n"
        "strh r10, [r2], #2\n"
        "asr r11, r11, #12\n" // r11: B
        "eor r11, r11, r11, asr #31\n"
        "ldrh r7, [r4]\n"
        "mul r12, r12, r7\n"
        "cmp r11, r7, lsl #6\n"
        "bhi 4f\n"
        "mul r11, r11, r11\n"
        "lsl r7, r7, #1\n"
        "add r7, r7, #1\n"
        "2:\n"
        "udiv r11, r11, r7\n"
        "add r12, r12, r11, lsl #4\n"
        "add r12, r12, r8, lsr #16\n"
        "lsr r12, r12, #16\n" // r12: the root
        "strh r12, [r4], #2\n"
        "add r12, r12, #1\n"
        "lsl r10, r10, #12\n"
        "sdiv r10, r10, r12\n"
        "ssat r10, #16, r10\n"
        "ldmia r0, {r7, r9, r11, r12}\n"
        "mul r8, r8, r7\n"
        "lsr r8, r8, r9\n"
        "mla r8, r10, r11, r8\n"
        "asr r8, r8, r12\n"
        "ldrsb r9, [r3]\n" // r10: W
        "ldrsb r10, [r5]\n"
        "add r10, r10, r9, lsl #8\n"
        "sub r10, r10, r8\n"
        "eor r9, r10, r10, asr #31\n"
        "cmp r9, #32640\n"
        "bge 5f\n"
        "3:\n"
        "strb r10, [r5], #1\n" // W - 256 * w is W's low byte
        "add r10, r10, #128\n"
        "asr r10, r10, #8\n"
        "strb r10, [r3], #1\n"
        "sub r0, r0, #36\n"
        "cmp r1, lr\n"
        "bne 1b\n"
        "pop {r4-r11, pc}\n"
        "4:\n" // the gradient's term is the larger
        "lsl r12, r11, #10\n"
        "lsl r9, r7, #6\n"
        "lsr r7, r11, #5\n"
        "add r7, r7, #1\n"
        "mul r11, r9, r9\n"
        "b 2b\n"
        "5:\n" // a weight beyond its limit
        "movw r9, #32639\n"
        "eor r10, r9, r10, asr #31\n"
        "str r9, [r0, #44]\n"
        "b 3b\n"
        );
}

#endif
