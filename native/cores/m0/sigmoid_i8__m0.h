// Gradients of sigmoid and tanh, in Cortex-M0+ assembly (sigmoid_i8.c).

#ifndef ODT_SIGMOID_I8_M0_H
#define ODT_SIGMOID_I8_M0_H

#include "../../core.h"
#include "../../opcodes.h"
#include "elements__m0.h"

#if ODT_M0 && !ODT_SMALL

// Processes elements from `done` on and advances it, as in odt_bytes_t.
typedef struct {
    const int8_t *e, *y;           // 0, 4: their ends
    int8_t *dx;                    // 8: likewise
    int32_t low, middle, high;     // 12, 16, 20: bytes of the negated multiplier, the last with its sign
    uint32_t shift;                // 24: the shift - 25
    int32_t top, bottom;           // 28, 32: of odt_outputs_t
    int32_t most, least;           // 36, 40
    int32_t index;                 // 44: below 0, done when it is 0
    int32_t value;                 // 48: a new peak
} gradients_t;

// 29.5 cycles per element, with four copies of the loop's body; an element uses the copy of its index modulo 4. r0: e,
// r1: y, then a part of the product, r2: an output, r3: a part, r4-r6: low, middle, high, r7: the index, below 0; r8:
// dx, r9: y, r10: shift, r11: -2^14, r12, lr: top and bottom. On the stack: the gradients.
__attribute__((naked, noinline)) static void store_gradients(gradients_t *g) {
    (void)g;
    __asm volatile (
        ".syntax unified\n"
        ODT_SAVE_REGISTERS
        "push {r0}\n"
        "ldr r7, [r0, #44]\n"
        "movs r1, #1\n"
        "lsls r1, r1, #14\n"
        "negs r1, r1\n"
        "mov r11, r1\n"
        "ldmia r0!, {r1-r6}\n"
        "mov r9, r2\n"
        "mov r8, r3\n"
        "ldmia r0!, {r2, r3}\n" // shift, top
        "mov r10, r2\n"
        "mov r12, r3\n"
        "ldr r2, [r0]\n"
        "mov lr, r2\n"
        "movs r0, r1\n"
        "b 9f\n"
        ".irp n, 0, 1, 2, 3\n"
        "1\\n:\n"
        "mov r1, r9\n"
        "ldrsb r1, [r1, r7]\n"
        "muls r1, r1\n"
        "add r1, r11\n"
        "ldrsb r2, [r0, r7]\n"
        "muls r2, r1\n" // negative, as is the multiplier
        "movs r3, r2\n"
        "muls r3, r4\n"
        "asrs r3, r3, #8\n"
        "movs r1, r2\n"
        "muls r1, r5\n"
        "adds r3, r3, r1\n"
        "asrs r3, r3, #8\n"
        "muls r2, r6\n"
        "adds r2, r2, r3\n"
        "mov r3, r10\n"
        "asrs r2, r3\n"
        "adds r2, r2, #1\n"
        "asrs r2, r2, #1\n"
        "cmp r2, r12\n"
        "bgt 4f\n"
        "cmp r2, lr\n"
        "blt 5f\n"
        "mov r1, r8\n"
        "strb r2, [r1, r7]\n"
        "adds r7, r7, #1\n"
        ".endr\n"
        "bne 10b\n"
        "b 6f\n"
        "4:\n"
        "ldr r3, [sp]\n"
        "ldr r3, [r3, #36]\n"
        "cmp r2, r3\n"
        "bgt 6f\n"
        "movs r2, #127\n"
        "b 3f\n"
        "5:\n"
        "ldr r3, [sp]\n"
        "ldr r3, [r3, #40]\n"
        "cmp r2, r3\n"
        "blt 6f\n"
        "movs r2, #129\n" // -127
        "3:\n"
        "mov r1, r8\n"
        "strb r2, [r1, r7]\n"
        "adds r7, r7, #1\n"
        "beq 6f\n"
        "9:\n" // to the index's copy
        "lsls r1, r7, #31\n"
        "bcs 2f\n"
        "bpl 10b\n"
        "b 11b\n"
        "2:\n"
        "bpl 12b\n"
        "b 13b\n"
        "6:\n"
        "pop {r3}\n"
        "str r7, [r3, #44]\n"
        "str r2, [r3, #48]\n"
        ODT_RESTORE_REGISTERS
        );
}

// Processes all elements; returns whether q and outputs are in the usual range of models.
static int store_all_gradients(const odt_sigmoid_dx_i8_t *a, odt_multiplier_t q, odt_outputs_t *outputs) {
    if ((q.m & 127) || q.m < 0 || q.s < 24 || q.s > 55 || !odt_is_usual(outputs)) {
        return 0;
    }
    int32_t m = -(q.m >> 7);
    gradients_t g = {a->e + a->N, a->y + a->N, a->dx + a->N, m & 255, m >> 8 & 255, m >> 16, (uint32_t)q.s - 24,
        0, 0, 0, 0, -a->N, 0};
    for (;;) {
        g.top = outputs->top;
        g.bottom = outputs->bottom;
        g.most = outputs->most;
        g.least = outputs->least;
        store_gradients(&g);
        if (g.index == 0) {
            return 1;
        }
        g.dx[g.index++] = odt_output_of_peak(outputs, g.value);
        if (g.index == 0) {
            return 1;
        }
    }
}

#endif

#endif
