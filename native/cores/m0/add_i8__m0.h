// Sums of two tensors in Cortex-M0+ assembly (add_i8.c).

#ifndef ODT_ADD_I8_M0_H
#define ODT_ADD_I8_M0_H

#include "../../core.h"
#include "../../opcodes.h"
#include "../../common/summand.h"
#include "elements__m0.h"

#if ODT_M0 && !ODT_SMALL

// The arguments of add_bytes, which processes elements from `done` on; on return `done` is where it stopped, as in
// odt_bytes_t.
typedef struct {
    const int8_t *a, *b;          // 0, 4
    int32_t count, done;          // 8, 12
    odt_summand_t first, second;      // 16, 28
    int32_t half;                 // 40: 128 + 256 times the sum's zero point - the summands' offsets
    int8_t *y;                    // 44: its end
    odt_limits_t limits;          // 48
    int32_t value;                // 68
} add_t;

// 26 cycles per element. r0, r1: the ends of a and b, r2, r3: summands, r4, r5: factors, r6: a shift, r7: the index,
// below 0; r8, r9: plus, r10, r11: shifts, r12, lr: top and bottom. On the stack: half, the end of y, most, least, lo,
// add.
__attribute__((naked, noinline)) static void add_bytes(add_t *add) {
    (void)add;
    __asm volatile (
        ".syntax unified\n"
        ODT_SAVE_REGISTERS
        "push {r0}\n"
        "sub sp, #20\n"
        "mov r7, sp\n"
        "adds r0, #40\n"
        "ldmia r0!, {r1-r6}\n"
        "stmia r7!, {r1, r2}\n"
        "mov r12, r3\n"
        "mov lr, r4\n"
        "stmia r7!, {r5, r6}\n"
        "ldr r1, [r0]\n"
        "str r1, [r7]\n"
        "subs r0, #64\n"
        "ldmia r0!, {r1-r7}\n"
        "mov r8, r6\n"
        "mov r10, r7\n"
        "movs r7, r4\n"
        "movs r4, r5\n"
        "ldmia r0!, {r5, r6}\n"
        "mov r9, r6\n"
        "ldr r6, [r0]\n"
        "mov r11, r6\n"
        "adds r0, r1, r3\n"
        "adds r1, r2, r3\n"
        "subs r7, r7, r3\n"
        "1:\n"
        "ldrsb r2, [r0, r7]\n"
        "muls r2, r4\n"
        "add r2, r8\n"
        "mov r6, r10\n"
        "lsrs r2, r6\n"
        "ldrsb r3, [r1, r7]\n"
        "muls r3, r5\n"
        "add r3, r9\n"
        "mov r6, r11\n"
        "lsrs r3, r6\n"
        "adds r2, r2, r3\n"
        "ldr r3, [sp]\n"
        "adds r2, r2, r3\n"
        "asrs r2, r2, #8\n"
        "cmp r2, r12\n"
        "bgt 4f\n"
        "cmp r2, lr\n"
        "blt 5f\n"
        "3:\n"
        "ldr r3, [sp, #4]\n"
        "strb r2, [r3, r7]\n"
        "adds r7, r7, #1\n"
        "bne 1b\n"
        "b 6f\n"
        ODT_CLAMP_RARE("0") // ODT_CLAMP's most is at 8
        "6:\n"
        "ldr r3, [sp, #20]\n"
        "ldr r1, [r3, #8]\n"
        "adds r1, r1, r7\n"
        "str r1, [r3, #12]\n"
        "str r2, [r3, #68]\n"
        "add sp, #24\n"
        ODT_RESTORE_REGISTERS
        );
}

static int add_all(const odt_add_i8_t *a, odt_multiplier_t qa, odt_multiplier_t qb, odt_outputs_t *outputs) {
    uint32_t first, second;
    add_t add = {.a = a->a, .b = a->b, .count = a->N, .y = a->y + a->N, .limits = odt_limits_of(outputs)};
    if (!odt_make_summand(&add.first, a->za, qa, &first) || !odt_make_summand(&add.second, a->zb, qb, &second)
        || !odt_is_usual(outputs)) {
        return 0;
    }
    add.half = 128 + 256 * outputs->z - (int32_t)(first + second);
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

#endif
