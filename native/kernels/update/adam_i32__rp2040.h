// Steps of adam_i32 in assembly of an RP2040, of numbers that are common. The chip's divider is used directly, with the waiting
// filled: an interrupt that divides saves what is in it.

#ifndef ODT_ADAM_I32_RP2040_H
#define ODT_ADAM_I32_RP2040_H

#include <stddef.h>

#include "../common/registers__m0.h"

// From d on, which is then where it ended: at `end`, or before an element that C is to compute.
typedef struct {
    factors_t factors; // 0
    uint32_t divider;  // 40
    const int32_t *end; // 44
    int32_t *d;        // 48
    float *m, *v;      // 52, 56
} elements_t;

_Static_assert(sizeof(factors_t) == 40 && offsetof(factors_t, m_factor) == 8 && offsetof(factors_t, q_factor) == 16
    && offsetof(factors_t, v_factor) == 24 && offsetof(factors_t, eps) == 32, "as the loop loads them");

// Whether no shift of the loop is by more than 255 bits.
static int are_usual(const factors_t *f) {
    return f->d_field >= 0 && f->d_field <= 200 && f->q_field >= 0 && f->q_field <= 190;
}

// A moment after its decay: mantissa in r0, field in r1; on to `zero` if it is 0. Its bits are in r6, which is lost, as r2 is.
#define DECAYED(zero) \
    "lsls r1, r6, #1\n" \
    "lsrs r1, r1, #24\n" \
    "beq " zero "\n" \
    "lsls r0, r6, #9\n" \
    "lsrs r0, r0, #9\n" \
    "add r0, r12\n" \
    "ldmia r7!, {r2}\n" \
    "lsrs r6, r0, #8\n" \
    "muls r6, r2\n" \
    "ldmia r7!, {r2}\n" \
    "lsrs r6, r2\n" \
    "subs r0, r0, r6\n"

#define NOTHING_DECAYED(back) \
    "adds r7, r7, #8\n" \
    "movs r0, #0\n" \
    "movs r1, r4\n" \
    "b " back "\n"

// That, and what is added to it, r3 in units of r4, both in units of r1; on to `none` if that is 0. r2 is lost.
#define ALIGN(none) \
    "cmp r3, #0\n" \
    "beq " none "\n" \
    "subs r2, r1, r4\n" \
    "bmi 2f\n" \
    "lsrs r3, r2\n" \
    "b 3f\n" \
    "2:\n" \
    "negs r2, r2\n" \
    "lsrs r0, r2\n" \
    "movs r1, r4\n" \
    "3:\n"

// r0 in units of r1 to float bits in r2, r0 then being their mantissa and r1 their field less 1; on to `wide` or `narrow` and `back`
// where it has not 24 bits, to 9 if there is no such float.
#define PACK(wide, narrow, back) \
    "lsrs r2, r0, #24\n" \
    "bne " wide "\n" \
    "lsrs r2, r0, #23\n" \
    "beq " narrow "\n" \
    back ":\n" \
    "subs r1, r1, #1\n" \
    "cmp r1, #253\n" \
    "bls 2f\n" \
    "b 9f\n" \
    "2:\n" \
    "lsls r2, r1, #23\n" \
    "adds r2, r2, r0\n"

#define PACK_OTHERS(wide, narrow, back, zero) \
    wide ":\n" \
    "lsrs r0, r0, #1\n" \
    "adds r1, r1, #1\n" \
    "lsrs r2, r0, #24\n" \
    "bne " wide "b\n" \
    "b " back "\n" \
    narrow ":\n" \
    "lsls r2, r0, #1\n" /* 0 of 0 */ \
    "beq 2f\n" \
    "subs r1, r1, #1\n" \
    "movs r0, r2\n" \
    "lsrs r2, r0, #23\n" \
    "beq " narrow "b\n" \
    "b " back "\n" \
    "2:\n" \
    "b " zero "\n"

// lr to m and r11 to v, 10 cycles; r1 and r2 are lost.
#define STORE_MOMENTS \
    "mov r1, r9\n" \
    "mov r2, lr\n" \
    "stmia r1!, {r2}\n" \
    "mov r9, r1\n" \
    "mov r1, r10\n" \
    "mov r2, r11\n" \
    "stmia r1!, {r2}\n" \
    "mov r10, r1\n"

// r7: the factors, r8-r10: d, m and v, r11: d's square, then the new v, r12: 2^23, lr: m, then the new one. The stack: twice the
// bits by which d was cut, elements.
__attribute__((naked, noinline)) static void step_usual(elements_t *elements) {
    (void)elements;
    __asm volatile (
        ".syntax unified\n"
        ODT_SAVE_REGISTERS
        "movs r1, r0\n"
        "movs r7, r0\n"
        "push {r0, r1}\n"
        "adds r0, #48\n"
        "ldmia r0!, {r1-r3}\n"
        "mov r8, r1\n"
        "mov r9, r2\n"
        "mov r10, r3\n"
        "movs r0, #1\n"
        "lsls r0, r0, #23\n"
        "mov r12, r0\n"
        "b 1f\n"
        "10:\n" // d has more than 16 bits
        "lsrs r0, r0, #1\n"
        "adds r2, r2, #1\n"
        "lsrs r3, r0, #16\n"
        "bne 10b\n"
        "b 11f\n"
        "12:\n" // m was 0
        NOTHING_DECAYED("13f")
        "15:\n" // what is added is the larger
        "negs r0, r0\n"
        "mov r2, lr\n"
        "mvns r2, r2\n"
        "mov lr, r2\n"
        "b 14f\n"
        PACK_OTHERS("16", "17", "18f", "19f")
        "1:\n"
        "mov r0, r8\n"
        "ldr r0, [r0]\n"
        "asrs r1, r0, #31\n"
        "eors r0, r1\n"
        "subs r0, r0, r1\n"
        "movs r2, #0\n"
        "lsrs r3, r0, #16\n"
        "bne 10b\n"
        "11:\n"
        "ldmia r7!, {r3, r4}\n"
        "muls r3, r0\n"
        "adds r4, r4, r2\n"
        "lsls r2, r2, #1\n"
        "str r2, [sp]\n"
        "muls r0, r0\n"
        "mov r11, r0\n"
        "mov r6, r9\n"
        "ldr r6, [r6]\n"
        "mov lr, r6\n"
        "movs r5, r1\n"
        "eors r5, r6\n"
        "asrs r5, r5, #31\n" // whether they differ in sign
        DECAYED("12b")
        "13:\n"
        ALIGN("14f")
        "eors r3, r5\n"
        "subs r3, r3, r5\n"
        "adds r0, r0, r3\n"
        "bmi 15b\n"
        "14:\n"
        PACK("16b", "17b", "18")
        "19:\n"
        "mov r3, lr\n"
        "lsrs r3, r3, #31\n"
        "lsls r3, r3, #31\n"
        "orrs r2, r3\n"
        "mov lr, r2\n"
        "ldmia r7!, {r3, r4}\n"
        "ldr r2, [sp]\n"
        "adds r4, r4, r2\n"
        "mov r5, r11\n"
        "lsrs r6, r5, #16\n"
        "beq 21f\n"
        "muls r6, r3\n"
        "uxth r5, r5\n"
        "muls r3, r5\n"
        "lsrs r3, r3, #16\n"
        "adds r3, r3, r6\n"
        "adds r4, r4, #16\n"
        "22:\n"
        "mov r6, r10\n"
        "ldr r6, [r6]\n"
        DECAYED("23f")
        "24:\n"
        ALIGN("25f")
        "adds r0, r0, r3\n"
        "25:\n"
        PACK("26f", "27f", "28")
        "b 29f\n"
        "21:\n" // a square of 16 bits at most
        "muls r3, r5\n"
        "b 22b\n"
        "23:\n" // v was 0
        NOTHING_DECAYED("24b")
        PACK_OTHERS("26", "27", "28b", "29f")
        "29:\n"
        "mov r11, r2\n"
        "ldmia r7!, {r4-r6}\n" // eps, its unit, the divider
        "mov r3, lr\n"
        "lsls r3, r3, #1\n"
        "beq 31f\n"
        "cmp r2, #0\n"
        "beq 9f\n"
        "movs r2, #1\n"
        "ands r2, r1\n"
        "adds r2, r2, #7\n"
        "lsls r0, r2\n"
        "subs r1, #156\n"
        "asrs r1, r1, #1\n" // the root's unit
        "lsrs r2, r0, #17\n"
        "lsrs r3, r0, #19\n"
        "adds r2, r2, r3\n"
        "lsrs r3, r0, #20\n"
        "adds r2, r2, r3\n"
        "movs r3, #176\n"
        "lsls r3, r3, #7\n"
        "adds r2, r2, r3\n"
        "str r0, [r6]\n"
        "str r2, [r6, #4]\n" // 8 cycles until the quotient is there
        "subs r5, r1, r5\n"
        "bmi 9f\n"
        "lsrs r4, r5\n"
        "mov r5, lr\n"
        "lsls r5, r5, #1\n"
        "lsrs r5, r5, #24\n"
        "subs r5, r5, r1\n"
        "subs r5, #138\n" // what m's quotient is shifted by
        "ldr r3, [r6, #16]\n"
        "adds r2, r2, r3\n"
        "lsrs r2, r2, #1\n"
        "str r0, [r6]\n"
        "str r2, [r6, #4]\n" // again 8
        "mov r3, lr\n"
        "lsls r3, r3, #8\n"
        "mov r1, r12\n"
        "lsls r1, r1, #8\n"
        "orrs r3, r1\n" // m's mantissa
        "b 2f\n"
        "2:\n"
        "nop\n"
        "ldr r1, [r6, #16]\n"
        "adds r2, r2, r1\n"
        "lsrs r2, r2, #1\n"
        "adds r2, r2, r4\n"
        "str r3, [r6]\n"
        "str r2, [r6, #4]\n"
        STORE_MOMENTS
        "ldr r0, [r6, #16]\n"
        "cmp r5, #0\n"
        "bge 32f\n"
        "negs r5, r5\n"
        "lsrs r0, r5\n"
        "33:\n"
        "mov r1, lr\n"
        "asrs r1, r1, #31\n"
        "eors r0, r1\n"
        "subs r0, r0, r1\n"
        "34:\n"
        "mov r1, r8\n"
        "stmia r1!, {r0}\n"
        "mov r8, r1\n"
        "ldr r2, [r7]\n"
        "subs r7, #44\n"
        "cmp r1, r2\n"
        "beq 9f\n"
        "b 1b\n"
        "9:\n"
        "pop {r0, r1}\n"
        "adds r1, #48\n"
        "mov r2, r8\n"
        "mov r3, r9\n"
        "mov r4, r10\n"
        "stmia r1!, {r2-r4}\n"
        ODT_RESTORE_REGISTERS
        "31:\n" // m is 0
        STORE_MOMENTS
        "movs r0, #0\n"
        "b 34b\n"
        "32:\n"
        "movs r1, #1\n"
        "lsls r1, r1, #22\n"
        "cmp r5, #7\n"
        "bhi 2f\n"
        "lsls r0, r5\n"
        "cmp r0, r1\n"
        "bls 33b\n"
        "2:\n"
        "movs r0, r1\n"
        "b 33b\n"
        );
}

#undef DECAYED
#undef NOTHING_DECAYED
#undef ALIGN
#undef PACK
#undef PACK_OTHERS
#undef STORE_MOMENTS

#endif
