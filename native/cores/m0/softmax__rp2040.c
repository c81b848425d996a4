// Rows of a softmax on an RP2040: softmax__rp2040.h.

#include <stddef.h>

#include "../../core.h"
#include "softmax__rp2040.h"

#if ODT_RP2040

#include "registers__m0.h"

ODT_BESIDE_ASSEMBLY

enum { MOST = 256 }; // elements of a row, whose powers are on the stack

int odt_begin_softmax(odt_softmax_t *s, int32_t N, const odt_multiplier_t *q, uint32_t factor, int32_t plus) {
    uint32_t shift = (uint32_t)q->s - 24;
    s->N = N;
    s->half = 1u << (shift & 31);
    s->shift = shift + 1;
    s->multiplier = (uint32_t)q->m >> 7;
    s->plus = plus;
    s->factor = factor;
    s->labels = NULL;
    s->label = N;
    // 255 * multiplier + half has 32 bits.
    return shift - 1 <= 23 && ((uint32_t)q->m & 0x8000007F) == 0 && N >= 1 && N <= MOST;
}

// One step of a polynomial: r = constant - (r * f >> 16), computed from r2 = -f and constant * 65536 + 65535.
#define STEP(r, add) \
    "muls " r ", r2\n" \
    add "\n" \
    "lsrs " r ", " r ", #16\n"

// 7 cycles per element to find the largest, 33 per power, 13 per quotient (8 of them in the divider); 65 per row, and
// 75 for its loss. r8: N, then sum, r9: s, r10-r12, lr: constants of exp2n.
__attribute__((naked, noinline)) static void make_rows(odt_softmax_t *s) {
    (void)s;
    __asm volatile(
        ".syntax unified\n" ODT_SAVE_REGISTERS "mov r9, r0\n"
        "adr r4, 9f\n"
        "ldmia r4!, {r2, r3, r5, r6}\n"
        "mov r10, r2\n"
        "mov r11, r3\n"
        "mov r12, r5\n"
        "mov lr, r6\n"
        // r0: index, r1: x, r2: x[i], r3: where the largest is, r7: the largest; r4-r6: half, shift, multiplier
        "1:\n"
        "mov r3, r9\n"
        "ldmia r3!, {r0, r1, r4-r6}\n"
        "mov r8, r0\n"
        "movs r7, #127\n"
        "mvns r7, r7\n"
        "2:\n"
        "subs r0, r0, #1\n"
        "bmi 3f\n"
        "ldrsb r2, [r1, r0]\n"
        "cmp r2, r7\n"
        "blt 2b\n"
        "movs r7, r2\n"
        "movs r3, r0\n"
        "b 2b\n"
        "8:\n" // a power below 2^-16
        "movs r4, #0\n"
        "b 5f\n"
        "3:\n"
        "push {r3}\n"
        "muls r7, r6\n"
        "adds r7, r7, r4\n"
        "mov r0, r8\n"
        "subs r0, r0, #1\n"
        "movs r2, #0\n"
        "mov r8, r2\n"
        // r0: index, r1: x, r2: t, then its lower half negated, r3: its upper half, r4: the power, r5: shift, r6:
        // multiplier, r7: top * multiplier + half
        "4:\n"
        "ldrsb r2, [r1, r0]\n"
        "muls r2, r6\n"
        "subs r2, r7, r2\n"
        "lsrs r2, r5\n"
        "lsrs r3, r2, #16\n"
        "cmp r3, #16\n"
        "bhi 8b\n"
        "uxth r2, r2\n"
        "negs r2, r2\n"
        "mov r4, lr\n" STEP("r4", "add r4, r10") STEP("r4", "add r4, r11") STEP("r4",
            "add r4, r12") "muls r4, r2\n" // also for 65536, which has one bit more
                           "subs r4, r4, #1\n"
                           "lsrs r4, r4, #16\n"
                           "adds r4, r4, #1\n" // no carry: a shift by 0 keeps the carry
                           "movs r2, #0\n"
                           "lsrs r4, r3\n"
                           "adcs r4, r2\n"
                           "5:\n"
                           "push {r4}\n"
                           "add r8, r4\n"
                           "subs r0, r0, #1\n"
                           "bpl 4b\n"
                           "mov r3, r9\n"
                           "ldr r2, [r3, #36]\n"
                           "cmp r2, #0\n"
                           "beq 7f\n"
                           "ldrb r0, [r2]\n"
                           "adds r2, r2, #1\n"
                           "str r2, [r3, #36]\n"
                           "str r0, [r3, #40]\n"
                           "ldr r4, [r3]\n"
                           "cmp r0, r4\n"
                           "bhs 7f\n"
                           // r7: -log2 of the label's probability: the sum of t for its x, at most 2^24, and log2q(sum)
                           // - 16 * 65536; r0: 2^24, 2^16
                           "ldrsb r2, [r1, r0]\n"
                           "muls r2, r6\n"
                           "subs r7, r7, r2\n"
                           "lsrs r7, r5\n"
                           "movs r0, #1\n"
                           "lsls r0, r0, #24\n"
                           "cmp r7, r0\n"
                           "bls 6f\n"
                           "movs r7, r0\n"
                           "6:\n"
                           "lsrs r0, r0, #8\n"
                           "mov r2, r8\n" // 2^16 to 2^24
                           "b 11f\n"
                           "10:\n"
                           "lsrs r2, r2, #1\n"
                           "adds r7, r7, r0\n"
                           "11:\n"
                           "lsrs r4, r2, #17\n"
                           "bne 10b\n"
                           // r2: f, then -f, r0: the polynomial, r1, r4, r5: its constants, r6: their address
                           "uxth r2, r2\n"
                           "adds r7, r7, r2\n"
                           "negs r2, r2\n"
                           "adr r6, 9f + 16\n"
                           "ldmia r6!, {r0, r1, r4, r5}\n" STEP("r0", "adds r0, r0, r1") STEP(
                               "r0", "adds r0, r0, r4") STEP("r0",
                               "adds r0, r0, r5") "ldmia r6!, {r1, r4}\n"
                                                  "muls r0, r2\n" // minus 65536, with a sign
                                                  "adds r0, r0, r1\n"
                                                  "asrs r0, r0, #16\n"
                                                  "muls r0, r2\n"
                                                  "negs r0, r0\n"
                                                  "asrs r0, r0, #16\n"
                                                  "adds r7, r7, r0\n"
                                                  // times ln 2, in halves
                                                  "lsrs r0, r7, #16\n"
                                                  "muls r0, r4\n"
                                                  "uxth r7, r7\n"
                                                  "muls r7, r4\n"
                                                  "lsrs r7, r7, #16\n"
                                                  "adcs r0, r7\n" // rounded
                                                  "ldr r4, [r3, #44]\n"
                                                  "adds r4, r4, r0\n"
                                                  "str r4, [r3, #44]\n"
                                                  // r0: index, below 0, r1: the end of y - 1, r2: the divider, r3:
                                                  // plus, r4: twice the sum, r5: factor, r6: a dividend, r7: the
                                                  // previous quotient
                                                  "7:\n"
                                                  "mov r7, r9\n"
                                                  "ldr r0, [r7]\n"
                                                  "ldr r1, [r7, #20]\n"
                                                  "ldr r3, [r7, #24]\n"
                                                  "ldr r5, [r7, #28]\n"
                                                  "ldr r2, 9f + 40\n"
                                                  "mov r4, r8\n"
                                                  "lsls r4, r4, #1\n"
                                                  "pop {r6}\n"
                                                  "muls r6, r5\n"
                                                  "add r6, r8\n"
                                                  "str r6, [r2]\n"
                                                  "str r4, [r2, #4]\n"
                                                  "adds r1, r1, r0\n"
                                                  "subs r1, r1, #1\n"
                                                  "negs r0, r0\n"
                                                  "adds r0, r0, #1\n"
                                                  "beq 13f\n"
                                                  "12:\n" // at least 8 cycles from one quotient to the next
                                                  "pop {r6}\n"
                                                  "muls r6, r5\n"
                                                  "add r6, r8\n"
                                                  "ldr r7, [r2, #16]\n"
                                                  "str r6, [r2]\n"
                                                  "str r4, [r2, #4]\n"
                                                  "adds r7, r7, r3\n"
                                                  "strb r7, [r1, r0]\n"
                                                  "adds r0, r0, #1\n"
                                                  "bne 12b\n"
                                                  // r0: N, r1: where y ends, r3: y, r4: s, r5: label, r6: where the
                                                  // largest is
                                                  "13:\n"
                                                  "mov r4, r9\n"
                                                  "ldr r0, [r4]\n"
                                                  "ldr r5, [r4, #40]\n"
                                                  "ldr r7, [r2, #16]\n"
                                                  "adds r7, r7, r3\n"
                                                  "strb r7, [r1]\n"
                                                  "adds r1, r1, #1\n"
                                                  "subs r3, r1, r0\n"
                                                  "pop {r6}\n"
                                                  "cmp r5, r0\n"
                                                  "bhs 15f\n"
                                                  "ldrb r7, [r3, r5]\n"
                                                  "subs r7, r7, #127\n"
                                                  "strb r7, [r3, r5]\n"
                                                  "cmp r5, r6\n"
                                                  "bne 14f\n"
                                                  "ldr r7, [r4, #48]\n"
                                                  "adds r7, r7, #1\n"
                                                  "str r7, [r4, #48]\n"
                                                  "14:\n"
                                                  "ldr r2, [r4, #4]\n"
                                                  "adds r2, r2, r0\n"
                                                  "str r2, [r4, #4]\n"
                                                  "str r1, [r4, #20]\n"
                                                  "ldr r2, [r4, #32]\n"
                                                  "cmp r1, r2\n"
                                                  "beq 16f\n"
                                                  "b 1b\n"
                                                  "15:\n" // only the largest can give 128, and it is never -128
                                                  "ldrsb r7, [r3, r6]\n"
                                                  "adds r7, #128\n"
                                                  "bne 14b\n"
                                                  "movs r7, #127\n"
                                                  "strb r7, [r3, r6]\n"
                                                  "b 14b\n"
                                                  "16:\n" ODT_RESTORE_REGISTERS ".balign 4\n"
                                                  "9: .word 3491 * 65536 + 65535, 15696 * 65536 + 65535, 45421 * 65536 "
                                                  "+ 65535, 449\n"
                                                  ".word 2959, 12687 * 65536 + 65535, 27238 * 65536 + 65535, 46471 * "
                                                  "65536 + 65535, 28961 * 65536 + 65535, 45426, %c0\n" ::"i"(
                                                      ODT_DIVIDER));
}

void odt_softmax_rows(odt_softmax_t *s, const int8_t *x, int8_t *y, int32_t rows) {
    s->x = x;
    s->y = y;
    s->end = y + rows * s->N;
    s->loss = 0;
    s->correct = 0;
    make_rows(s);
}

#endif
