// Rows of a softmax on an RP2040: softmax__rp2040.h.

#include "../../core.h"
#include "softmax__rp2040.h"

#if ODT_RP2040

#include "registers__m0.h"

ODT_BESIDE_ASSEMBLY

enum { MOST = 256 }; // elements of a row, whose powers are on the stack

int odt_begin_softmax(odt_softmax_t *s, int32_t N, const odt_multiplier_t *q, uint32_t factor, int32_t plus) {
    uint32_t shift = (uint32_t)q->s - 24;
    s->N = N;
    s->shift = shift + 1;
    s->multiplier = (uint32_t)q->m >> 7;
    s->half = 1u << (shift & 31);
    s->factor = factor;
    s->plus = plus;
    // 255 * multiplier + half has 32 bits.
    return shift - 1 <= 23 && ((uint32_t)q->m & 0x8000007F) == 0 && N >= 1 && N <= MOST;
}

// One step of a polynomial: r4 = constant - (r4 * f >> 16), of r2 = -f and constant * 65536 + 65535.
#define STEP(constant) \
    "muls r4, r2\n" \
    "add r4, " constant "\n" \
    "lsrs r4, r4, #16\n"

// 7 cycles an element for the largest, 33 a power, 13 a quotient, of which the divider works for 8. r8: sum, r9: s, r10-r12, lr:
// constants of exp2n.
__attribute__((naked, noinline)) uint32_t odt_softmax_row(odt_softmax_t *s, const int8_t *x, int8_t *y) {
    (void)s;
    (void)x;
    (void)y;
    __asm volatile (
        ".syntax unified\n"
        ODT_SAVE_REGISTERS
        "mov r9, r0\n"
        "str r2, [r0, #32]\n"
        "movs r3, r0\n"
        "ldr r0, [r3]\n"
        "movs r7, #127\n"
        "mvns r7, r7\n"
        // r0: index, r1: x, r2: x[i], r6: where the largest is, r7: the largest
        "1:\n"
        "subs r0, r0, #1\n"
        "bmi 2f\n"
        "ldrsb r2, [r1, r0]\n"
        "cmp r2, r7\n"
        "blt 1b\n"
        "movs r7, r2\n"
        "movs r6, r0\n"
        "b 1b\n"
        "2:\n"
        "str r7, [r3, #24]\n"
        "str r6, [r3, #28]\n"
        "ldmia r3!, {r0, r5, r6}\n"
        "ldr r4, [r3]\n"
        "muls r7, r6\n"
        "adds r7, r7, r4\n"
        "adr r4, 9f\n"
        "ldmia r4!, {r2, r3}\n"
        "mov r10, r2\n"
        "mov r11, r3\n"
        "ldmia r4!, {r2, r3}\n"
        "mov r12, r2\n"
        "mov lr, r3\n"
        "movs r2, #0\n"
        "mov r8, r2\n"
        "subs r0, r0, #1\n"
        // r0: index, r1: x, r2: t, then its lower half negated, r3: its upper half, r4: the power, r5: shift, r6: multiplier, r7: top *
        // multiplier + half
        "3:\n"
        "ldrsb r2, [r1, r0]\n"
        "muls r2, r6\n"
        "subs r2, r7, r2\n"
        "lsrs r2, r5\n"
        "lsrs r3, r2, #16\n"
        "cmp r3, #16\n"
        "bhi 5f\n"
        "uxth r2, r2\n"
        "negs r2, r2\n"
        "mov r4, lr\n"
        STEP("r10")
        STEP("r11")
        STEP("r12")
        "muls r4, r2\n" // and of 65536, which has a bit more
        "subs r4, r4, #1\n"
        "lsrs r4, r4, #16\n"
        "adds r4, r4, #1\n" // no carry: a shift by 0 leaves it
        "movs r2, #0\n"
        "lsrs r4, r3\n"
        "adcs r4, r2\n"
        "4:\n"
        "push {r4}\n"
        "add r8, r4\n"
        "subs r0, r0, #1\n"
        "bpl 3b\n"
        // r0: index, below 0, r1: where y ends, less 1, r2: the divider, r3: sum, r4: twice it, r5: factor, r6: a dividend, r7: the
        // quotient before; r12: plus
        "mov r7, r9\n"
        "ldr r0, [r7]\n"
        "ldr r1, [r7, #32]\n"
        "ldr r2, 9f + 16\n"
        "mov r3, r8\n"
        "lsls r4, r3, #1\n"
        "ldr r5, [r7, #16]\n"
        "pop {r6}\n"
        "muls r6, r5\n"
        "adds r6, r6, r3\n"
        "str r6, [r2]\n"
        "str r4, [r2, #4]\n"
        "ldr r7, [r7, #20]\n"
        "mov r12, r7\n"
        "adds r1, r1, r0\n"
        "subs r1, r1, #1\n"
        "negs r0, r0\n"
        "adds r0, r0, #1\n"
        "beq 8f\n"
        "6:\n" // 8 cycles at least from one quotient to the next
        "pop {r6}\n"
        "muls r6, r5\n"
        "adds r6, r6, r3\n"
        "ldr r7, [r2, #16]\n"
        "str r6, [r2]\n"
        "str r4, [r2, #4]\n"
        "add r7, r12\n"
        "strb r7, [r1, r0]\n"
        "adds r0, r0, #1\n"
        "bne 6b\n"
        "8:\n"
        "mov r3, r9\n"
        "ldr r4, [r3, #28]\n"
        "ldr r3, [r3, #32]\n"
        "ldr r7, [r2, #16]\n"
        "add r7, r12\n"
        "strb r7, [r1]\n"
        "ldrsb r7, [r3, r4]\n" // 128 can only be that of the largest, which never is -128
        "adds r7, #128\n"
        "bne 7f\n"
        "movs r7, #127\n"
        "strb r7, [r3, r4]\n"
        "7:\n"
        "mov r0, r8\n"
        ODT_RESTORE_REGISTERS
        "5:\n"
        "movs r4, #0\n"
        "b 4b\n"
        ".balign 4\n"
        "9: .word 3491 * 65536 + 65535, 15696 * 65536 + 65535, 45421 * 65536 + 65535, 449, %c0\n"
        :: "i" (ODT_DIVIDER));
}

#endif
