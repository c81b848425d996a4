// Steps of Adam in integers in assembly of an RP2040 (adam__soft.c), of numbers that are common and not 0.

#ifndef ODT_ADAM_RP2040_H
#define ODT_ADAM_RP2040_H

#include "../../core.h"
#include "registers__m0.h"
#include "../soft/adam__soft.h"

#if ODT_SOFT_FLOAT

// A factor's bytes, its exponent field less 126, its mantissa.
typedef struct {
    uint32_t low, middle, high;
    int32_t field;
    uint32_t man;
} factor_t;

// From d on, which is then where it ended: at `end`, or before an element that C is to compute.
typedef struct {
    factor_t b1, c1, b2, c2;  // 0, 20, 40, 60
    odt_soft_t eps;           // 80
    uint32_t *d, *m, *v;      // 88, 92, 96
    const uint32_t *end;      // 100
} elements_t;

// Of bits in r0: mantissa and, in r1, field, on to 9 unless that is in `least` .. `least` + `range`. r2 is lost.
#define UNPACK(least, range) \
    "lsls r1, r0, #1\n" \
    "lsrs r1, r1, #24\n" \
    "movs r2, r1\n" \
    "subs r2, r2, #" least "\n" \
    "cmp r2, #" range "\n" \
    "bls 2f\n" \
    "b 9f\n" \
    "2:\n" \
    "lsls r0, r0, #9\n" \
    "lsrs r0, r0, #9\n" \
    "movs r2, #1\n" \
    "lsls r2, r2, #23\n" \
    "adds r0, r0, r2\n"

// r4, flags set by it, of 31 or 32 bits, rounded into r5, field in r1. At 3, where what is kept in r4 is half an unit, `below` leaves
// no zero flag if there is more.
#define ROUND(below) \
    "bmi 2f\n" \
    "lsls r4, r4, #1\n" \
    "subs r1, r1, #1\n" \
    "2:\n" \
    "lsrs r5, r4, #8\n" \
    "bcc 5f\n" \
    "lsls r4, r4, #25\n" \
    "bne 4f\n" \
    below \
    "bne 4f\n" \
    "lsrs r4, r5, #1\n" \
    "bcc 5f\n" \
    "4:\n" \
    "adds r5, r5, #1\n" \
    "lsrs r4, r5, #24\n" \
    "beq 5f\n" \
    "lsrs r5, r5, #1\n" \
    "adds r1, r1, #1\n" \
    "5:\n"

#define NOTHING_BELOW "movs r4, #0\n"

// r0, r1 by the factor at r7, which moves on. r4-r6 are lost.
#define MULTIPLY \
    "ldmia r7!, {r4-r6}\n" \
    "muls r4, r0\n" \
    "lsrs r4, r4, #8\n" \
    "muls r5, r0\n" \
    "adds r4, r4, r5\n" \
    "lsrs r4, r4, #8\n" \
    "muls r6, r0\n" \
    "ldmia r7!, {r5}\n" \
    "adds r1, r1, r5\n" \
    "adds r4, r4, r6\n" \
    ROUND("ldr r6, [r7]\nmuls r6, r0\nlsls r6, r6, #16\n") \
    "adds r7, r7, #4\n" \
    "movs r0, r5\n"

// r2 << 7, r0 << 7 and in r1 the latter shifted right by r6, its last bit set if any is lost. r4 is lost.
#define ALIGN \
    "lsls r2, r2, #7\n" \
    "lsls r0, r0, #7\n" \
    "movs r1, r0\n" \
    "lsrs r1, r6\n" \
    "movs r4, r1\n" \
    "lsls r4, r6\n" \
    "cmp r4, r0\n" \
    "beq 2f\n" \
    "movs r4, #1\n" \
    "orrs r1, r4\n" \
    "2:\n"

// r2 becomes r0 and r1 packed. r3 is lost.
#define PACK \
    "lsls r2, r1, #23\n" \
    "adds r2, r2, r0\n" \
    "movs r3, #1\n" \
    "lsls r3, r3, #23\n" \
    "subs r2, r2, r3\n"

// r1 / r2 by the divider at r6, which takes 8 cycles.
#define DIVIDE(meanwhile) \
    "str r1, [r6]\n" \
    "str r2, [r6, #4]\n" \
    meanwhile \
    "ldr r2, [r6, #16]\n"
#define WAIT_2 "b 2f\n2:\n"
#define WAIT_4 WAIT_2 WAIT_2
#define WAIT_8 WAIT_4 WAIT_4

// About 480 cycles each. r7: the factors, r8-r10: d, m and v, r11, r12: the new m; on the stack d's mantissa and field, the new m's
// bits, b2 * v or the new v's bits, field of b2 * v, elements.
__attribute__((naked, noinline)) static void step_usual(elements_t *elements) {
    (void)elements;
    __asm volatile (
        ".syntax unified\n"
        ODT_SAVE_REGISTERS
        "push {r0}\n"
        "sub sp, #20\n"
        "adds r0, #88\n"
        "ldmia r0!, {r1-r3}\n"
        "mov r8, r1\n"
        "mov r9, r2\n"
        "mov r10, r3\n"
        "1:\n"
        "ldr r7, [sp, #20]\n"
        "mov r0, r9\n"
        "ldr r0, [r0]\n"
        UNPACK("76", "84")
        MULTIPLY // by b1
        "mov r11, r0\n"
        "mov r12, r1\n"
        "mov r0, r8\n"
        "ldr r0, [r0]\n"
        UNPACK("76", "84")
        "str r0, [sp]\n"
        "str r1, [sp, #4]\n"
        MULTIPLY // by c1
        "mov r2, r11\n"
        "mov r3, r12\n"
        "mov r5, r9\n"
        "ldr r5, [r5]\n"
        "mov r4, r8\n"
        "ldr r4, [r4]\n"
        "mov lr, r5\n"
        "eors r5, r4\n" // whether they differ in sign
        "subs r6, r3, r1\n"
        "bgt 4f\n"
        "blt 3f\n"
        "cmp r2, r0\n"
        "bhs 4f\n"
        "3:\n"
        "mov lr, r4\n"
        "movs r3, r1\n"
        "movs r4, r0\n"
        "movs r0, r2\n"
        "movs r2, r4\n"
        "negs r6, r6\n"
        "4:\n" // r2, r3 is the larger, its sign lr's
        ALIGN
        "cmp r5, #0\n"
        "bmi 3f\n"
        "adds r4, r2, r1\n"
        "b 6f\n"
        "3:\n"
        "subs r4, r2, r1\n"
        "bne 4f\n"
        "b 9f\n"
        "3:\n"
        "lsls r4, r4, #1\n"
        "subs r3, r3, #1\n"
        "4:\n"
        "lsrs r1, r4, #30\n"
        "beq 3b\n"
        "6:\n"
        "adds r1, r3, #1\n"
        "cmp r4, #0\n"
        ROUND(NOTHING_BELOW)
        "cmp r1, #76\n"
        "bge 2f\n"
        "b 9f\n"
        "2:\n"
        "movs r0, r5\n"
        "mov r11, r0\n"
        "mov r12, r1\n"
        PACK
        "mov r4, lr\n"
        "lsrs r4, r4, #31\n"
        "lsls r4, r4, #31\n"
        "orrs r2, r4\n"
        "str r2, [sp, #8]\n"
        "mov r0, r10\n"
        "ldr r0, [r0]\n"
        "cmp r0, #0\n"
        "bge 2f\n"
        "b 9f\n"
        "2:\n"
        UNPACK("25", "165")
        MULTIPLY // by b2
        "str r0, [sp, #12]\n"
        "str r1, [sp, #16]\n"
        "ldr r0, [sp]\n"
        "ldr r1, [sp, #4]\n"
        "lsls r1, r1, #1\n"
        "subs r1, r1, #126\n"
        "lsrs r4, r0, #12\n" // the square, by halves of 12 bits
        "lsls r5, r0, #20\n"
        "lsrs r5, r5, #20\n"
        "movs r6, r4\n"
        "muls r6, r5\n"
        "muls r5, r5\n"
        "lsrs r5, r5, #12\n"
        "lsls r6, r6, #1\n"
        "adds r6, r6, r5\n"
        "lsrs r6, r6, #4\n"
        "muls r4, r4\n"
        "lsls r4, r4, #8\n"
        "adds r4, r4, r6\n"
        ROUND("movs r6, r0\nmuls r6, r6\nlsls r6, r6, #16\n")
        "movs r0, r5\n"
        MULTIPLY // by c2
        "ldr r2, [sp, #12]\n"
        "ldr r3, [sp, #16]\n"
        "subs r6, r3, r1\n"
        "bpl 4f\n"
        "movs r3, r1\n"
        "movs r4, r0\n"
        "movs r0, r2\n"
        "movs r2, r4\n"
        "negs r6, r6\n"
        "4:\n"
        ALIGN
        "adds r4, r2, r1\n"
        "adds r1, r3, #1\n"
        "cmp r4, #0\n"
        ROUND(NOTHING_BELOW)
        "cmp r1, #25\n"
        "bge 2f\n"
        "b 9f\n"
        "2:\n"
        "movs r0, r5\n"
        PACK
        "str r2, [sp, #12]\n"
        // Its root: root() in C.
        "subs r1, r1, #127\n"
        "movs r2, #1\n"
        "ands r2, r1\n"
        "adds r2, r2, #7\n"
        "lsls r0, r2\n"
        "asrs r1, r1, #1\n"
        "adds r1, r1, #127\n"
        "mov lr, r1\n"
        "lsrs r3, r0, #17\n"
        "lsrs r2, r0, #19\n"
        "adds r3, r3, r2\n"
        "lsrs r2, r0, #20\n"
        "adds r3, r3, r2\n"
        "movs r2, #176\n"
        "lsls r2, r2, #7\n"
        "adds r2, r3, r2\n"
        "movs r3, r2\n"
        "ldr r6, 8f\n"
        "movs r1, r0\n"
        DIVIDE(WAIT_8)
        "adds r2, r2, r3\n"
        "lsrs r2, r2, #1\n"
        "movs r3, r2\n"
        DIVIDE(WAIT_8)
        "adds r2, r2, r3\n"
        "lsrs r2, r2, #1\n"
        "subs r2, r2, #1\n"
        "movs r3, r2\n"
        "muls r3, r3\n"
        "subs r0, r0, r3\n"
        "lsls r1, r0, #8\n"
        "lsls r4, r2, #9\n"
        "lsls r5, r2, #10\n"
        DIVIDE("lsls r0, r0, #18\n" "nop\n" WAIT_4 WAIT_2)
        "adds r4, r4, r2\n"
        "adds r5, r5, r2\n"
        "muls r5, r2\n"
        "subs r0, r0, r5\n"
        "bpl 2f\n"
        "subs r4, r4, #1\n"
        "2:\n"
        "adds r4, r4, #1\n"
        "lsrs r2, r4, #1\n"
        "mov r3, lr\n"
        "lsrs r4, r2, #24\n"
        "lsrs r2, r4\n"
        "adds r3, r3, r4\n"
        "ldmia r7!, {r0, r1}\n" // and eps, unless it is larger
        "subs r6, r3, r1\n"
        "bpl 2f\n"
        "b 9f\n"
        "2:\n"
        ALIGN
        "adds r4, r2, r1\n"
        "adds r1, r3, #1\n"
        "cmp r4, #0\n"
        ROUND(NOTHING_BELOW)
        // Of it m: divide() in C.
        "mov r3, r12\n"
        "subs r3, r3, r1\n"
        "adds r3, r3, #127\n"
        "mov r0, r11\n"
        "cmp r0, r5\n"
        "bhs 2f\n"
        "lsls r0, r0, #1\n"
        "subs r3, r3, #1\n"
        "2:\n"
        "mov lr, r3\n"
        "ldr r6, 8f\n"
        "lsrs r2, r5, #8\n"
        "adds r2, r2, #1\n"
        "movs r3, r2\n"
        "lsls r1, r0, #7\n"
        DIVIDE("lsls r0, r0, #15\n" "nop\n" WAIT_4 WAIT_2)
        "lsls r4, r2, #9\n"
        "muls r2, r5\n"
        "subs r0, r0, r2\n"
        "lsls r1, r0, #1\n"
        "movs r2, r3\n"
        DIVIDE("lsls r0, r0, #9\n" "nop\n" WAIT_4 WAIT_2)
        "adds r4, r4, r2\n"
        "muls r2, r5\n"
        "subs r0, r0, r2\n"
        "b 3f\n"
        "2:\n"
        "subs r0, r0, r5\n"
        "adds r4, r4, #1\n"
        "3:\n"
        "cmp r0, r5\n"
        "bhs 2b\n"
        "adds r4, r4, #1\n"
        "lsrs r0, r4, #1\n"
        "mov r1, lr\n"
        PACK
        "ldr r5, [sp, #8]\n"
        "lsrs r1, r2, #23\n"
        "cmp r1, #76\n"
        "bge 2f\n"
        "movs r2, #0\n"
        "b 3f\n"
        "2:\n"
        "lsrs r1, r5, #31\n"
        "lsls r1, r1, #31\n"
        "orrs r2, r1\n"
        "3:\n"
        "mov r1, r9\n"
        "stmia r1!, {r5}\n"
        "mov r9, r1\n"
        "ldr r5, [sp, #12]\n"
        "mov r1, r10\n"
        "stmia r1!, {r5}\n"
        "mov r10, r1\n"
        "mov r1, r8\n"
        "stmia r1!, {r2}\n"
        "mov r8, r1\n"
        "ldr r2, [r7, #12]\n"
        "cmp r1, r2\n"
        "beq 9f\n"
        "b 1b\n"
        ".balign 4\n"
        "8: .word %c0\n"
        "9:\n"
        "add sp, #20\n"
        "pop {r0}\n"
        "adds r0, #88\n"
        "mov r1, r8\n"
        "mov r2, r9\n"
        "mov r3, r10\n"
        "stmia r0!, {r1-r3}\n"
        ODT_RESTORE_REGISTERS
        :: "i" (ODT_DIVIDER));
}

#undef UNPACK
#undef ROUND
#undef NOTHING_BELOW
#undef MULTIPLY
#undef ALIGN
#undef PACK
#undef DIVIDE
#undef WAIT_2
#undef WAIT_4
#undef WAIT_8

#endif

#endif
