// Rows of a softmax on a Cortex-M0+: softmax__m0.h.

#include "../../core.h"
#include "softmax__m0.h"

#if ODT_M0 && !ODT_SMALL

#include "registers__m0.h"

ODT_BESIDE_ASSEMBLY

// 43 cycles each. r0: x, r1: powers, r2: t and its lower half, r3: its upper half, r4: the power, r5: sum, r6: multiplier, r7: shift; r8:
// top, r9: end, r10-r12, lr: constants of exp2n.
__attribute__((naked, noinline)) static void store_powers(odt_softmax_t *s) {
    (void)s;
    __asm volatile (
        ".syntax unified\n"
        ODT_SAVE_REGISTERS
        "push {r0}\n"
        "ldr r1, 7f\n"
        "mov r10, r1\n"
        "ldr r1, 7f + 4\n"
        "mov r11, r1\n"
        "ldr r1, 7f + 8\n"
        "mov r12, r1\n"
        "movs r1, #1\n"
        "lsls r1, r1, #16\n"
        "mov lr, r1\n"
        "ldmia r0!, {r1, r2, r5-r7}\n"
        "mov r9, r2\n"
        "ldr r2, [r0]\n"
        "mov r8, r2\n"
        "adds r0, #20\n"
        "movs r2, r0\n"
        "movs r0, r1\n"
        "movs r1, r2\n"
        "1:\n"
        "movs r3, #0\n"
        "ldrsb r2, [r0, r3]\n"
        "adds r0, r0, #1\n"
        "mov r3, r8\n"
        "subs r2, r3, r2\n"
        "muls r2, r6\n"
        "lsrs r2, r7\n"
        "adds r2, r2, #1\n"
        "lsrs r2, r2, #1\n"
        "movs r4, #0\n"
        "lsrs r3, r2, #16\n"
        "cmp r3, #16\n"
        "bhi 2f\n"
        "uxth r2, r2\n"
        "ldr r4, 7f + 12\n"
        "muls r4, r2\n"
        "lsrs r4, r4, #16\n"
        "negs r4, r4\n"
        "add r4, r10\n"
        "muls r4, r2\n"
        "lsrs r4, r4, #16\n"
        "negs r4, r4\n"
        "add r4, r11\n"
        "muls r4, r2\n"
        "lsrs r4, r4, #16\n"
        "negs r4, r4\n"
        "add r4, r12\n"
        "muls r4, r2\n"
        "lsrs r4, r4, #16\n"
        "negs r4, r4\n"
        "add r4, lr\n"
        "movs r2, #1\n"
        "lsls r2, r3\n"
        "lsrs r2, r2, #1\n"
        "adds r4, r4, r2\n"
        "lsrs r4, r3\n"
        "2:\n"
        "stmia r1!, {r4}\n"
        "adds r5, r5, r4\n"
        "cmp r0, r9\n"
        "bne 1b\n"
        "movs r2, r1\n"
        "pop {r1}\n"
        "str r0, [r1]\n"
        "str r5, [r1, #8]\n"
        "str r2, [r1, #24]\n"
        ODT_RESTORE_REGISTERS
        ".balign 4\n"
        "7: .word 3491, 15696, 45421, 449\n"
        );
}

#if ODT_DIVIDER
// 22 cycles each, of which the divider works for 8. r0: powers, r1: y, r2: the divider, r3: sum, r4: twice it, r5: factor, r6: a
// quotient, r7: the powers' end, r12: plus.
__attribute__((naked, noinline)) static void store_shares(int8_t *y, const odt_softmax_t *s) {
    (void)y;
    (void)s;
    __asm volatile (
        ".syntax unified\n"
        "push {r4-r7, lr}\n"
        "ldr r3, [r1, #8]\n"
        "lsls r4, r3, #1\n"
        "ldr r7, [r1, #24]\n"
        "ldr r5, [r1, #28]\n"
        "ldr r6, [r1, #32]\n"
        "mov r12, r6\n"
        "movs r6, r1\n"
        "adds r6, #40\n"
        "subs r1, r0, #1\n"
        "movs r0, r6\n"
        "ldr r2, 7f\n"
        "1:\n"
        "ldmia r0!, {r6}\n"
        "muls r6, r5\n"
        "adds r6, r6, r3\n"
        "str r6, [r2]\n"
        "str r4, [r2, #4]\n"
        "b 2f\n"
        "2: b 2f\n"
        "2: b 2f\n"
        "2: adds r1, r1, #1\n"
        "nop\n"
        "ldr r6, [r2, #16]\n"
        "add r6, r12\n"
        "cmp r6, #127\n"
        "bgt 4f\n"
        "3:\n"
        "strb r6, [r1]\n"
        "cmp r0, r7\n"
        "bne 1b\n"
        "pop {r4-r7, pc}\n"
        "4:\n"
        "movs r6, #127\n"
        "b 3b\n"
        ".balign 4\n"
        "7: .word %c0\n"
        :: "i" (ODT_DIVIDER));
}
#else
static void store_shares(int8_t *y, const odt_softmax_t *s) {
    for (const uint32_t *power = s->powers; power != s->powers_end; power++) {
        *y++ = (int8_t)odt_min((int32_t)((s->factor * *power + s->sum) / (2 * s->sum)) + s->plus, 127);
    }
}
#endif

int odt_begin_softmax(odt_softmax_t *s, int32_t N, const odt_multiplier_t *q, uint32_t factor, int32_t plus) {
    s->multiplier = (uint32_t)q->m >> 7;
    s->shift = (uint32_t)q->s - 24;
    s->factor = factor;
    s->plus = plus;
    s->N = N;
    return s->shift - 1 <= 30 && ((uint32_t)q->m & 0x8000007F) == 0 && N <= 8192; // so that 512 * E + sum has 32 bits
}

uint32_t odt_sum_softmax(odt_softmax_t *s, const int8_t *x, int32_t top) {
    s->sum = 0;
    s->top = top;
    s->x = x;
    for (int32_t rest = s->N; rest > 0; rest -= ODT_POWERS) {
        s->end = s->x + odt_min(rest, ODT_POWERS);
        store_powers(s);
    }
    return s->sum;
}

void odt_finish_softmax(odt_softmax_t *s, int8_t *y, const int8_t *x) {
    if (s->N <= ODT_POWERS) {
        store_shares(y, s);
        return;
    }
    uint32_t sum = s->sum;
    s->x = x;
    for (int32_t rest = s->N; rest > 0; rest -= ODT_POWERS, y += ODT_POWERS) {
        s->end = s->x + odt_min(rest, ODT_POWERS);
        store_powers(s);
        s->sum = sum;
        store_shares(y, s);
    }
}

#endif
