// Sums of two tensors in assembly of a Cortex-M0+ (add_i8.c).

#ifndef ODT_ADD_I8_M0_H
#define ODT_ADD_I8_M0_H

#include "../common/elements__m0.h"

// How a byte becomes a summand, in 256ths of a step of the sum: a rescaler's factors, shift less 1.
typedef struct {
    int32_t low, high, shift;
} summand_t;

// What add_bytes loads; elements from `done` on, which is then where it ended, as in odt_bytes_t.
typedef struct {
    const int8_t *a, *b;          // 0, 4
    int32_t plus_a, plus_b;       // 8, 12: less their zero points
    int32_t half;                 // 16: 128, and 256 times the sum's zero point
    const summand_t *summands;    // 20: two
    int32_t count, done;          // 24, 28
    int8_t *y;                    // 32: where it ends
    odt_limits_t limits;          // 36
    int32_t value;                // 56
} add_t;

// 54 cycles each. r0, r1: the ends of a and b, r2: a summand, r3: a product, r3-r5: factors, r6: summands, r7: the index, below
// 0; r8, r9: plus, lr: half, r12: the first summand; on the stack the end of y, the limits and, at 24, what is loaded.
__attribute__((naked, noinline)) static void add_bytes(add_t *add) {
    (void)add;
    __asm volatile (
        ".syntax unified\n"
        ".macro odt_summand from, plus\n"
        "ldmia r6!, {r3-r5}\n"
        "ldrsb r2, [\\from, r7]\n"
        "add r2, \\plus\n"
        "lsls r2, r2, #8\n"
        "muls r3, r2\n"
        "asrs r3, r3, #12\n"
        "muls r2, r4\n"
        "adds r2, r2, r3\n"
        "asrs r2, r5\n"
        "adds r2, r2, #1\n"
        "asrs r2, r2, #1\n"
        ".endm\n"
        ODT_SAVE_REGISTERS
        "push {r0}\n"
        "sub sp, #24\n"
        "ldmia r0!, {r1-r6}\n"
        "mov r8, r3\n"
        "mov r9, r4\n"
        "mov lr, r5\n"
        "mov r10, r1\n"
        "mov r11, r2\n"
        "ldmia r0!, {r4, r5}\n" // count, done
        "mov r7, sp\n"
        "ldmia r0!, {r1-r3}\n"
        "stmia r7!, {r1-r3}\n"
        "ldmia r0!, {r1-r3}\n"
        "stmia r7!, {r1-r3}\n"
        "subs r7, r5, r4\n"
        "mov r0, r10\n"
        "adds r0, r0, r4\n"
        "mov r1, r11\n"
        "adds r1, r1, r4\n"
        "1:\n"
        "odt_summand r0, r8\n"
        "mov r12, r2\n"
        "odt_summand r1, r9\n"
        "subs r6, #24\n"
        "add r2, r12\n"
        "add r2, lr\n"
        "asrs r2, r2, #8\n"
        ODT_CLAMP("4")
        "ldr r3, [sp]\n"
        "strb r2, [r3, r7]\n"
        "adds r7, r7, #1\n"
        "bne 1b\n"
        "b 6f\n"
        ODT_CLAMP_RARE("4")
        "6:\n"
        "ldr r3, [sp, #24]\n"
        "ldr r1, [r3, #24]\n"
        "adds r1, r1, r7\n"
        "str r1, [r3, #28]\n"
        "str r2, [r3, #56]\n"
        "add sp, #28\n"
        ODT_RESTORE_REGISTERS
        ".purgem odt_summand\n"
        );
}

// A summand's factors; returns whether none of a byte is too large.
static int load_summand(summand_t *to, odt_multiplier_t q) {
    to->low = q.m >> 7 & 4095;
    to->high = q.m >> 19;
    to->shift = q.s - 20;
    return (q.m & 127) == 0 && q.s >= 21 && q.s <= 49; // results of 28 bits
}

static int add_all(const odt_add_i8_t *a, odt_multiplier_t qa, odt_multiplier_t qb, odt_outputs_t *outputs) {
    summand_t summands[2];
    add_t add = {a->a, a->b, -a->za, -a->zb, 128 + 256 * outputs->z, summands, a->N, 0, a->y + a->N, odt_limits_of(outputs), 0};
    if (!load_summand(&summands[0], qa) || !load_summand(&summands[1], qb) || !odt_is_usual(outputs) || a->za != (int8_t)a->za
        || a->zb != (int8_t)a->zb) {
        return 0;
    }
    while (add.done < a->N) {
        add_bytes(&add);
        if (add.done < a->N) {
            a->y[add.done++] = odt_output_of_peak(outputs, add.value - outputs->z);
            add.limits = odt_limits_of(outputs);
        }
    }
    return 1;
}

#endif
