// Loops over elements of normalised tensors on a Cortex-M0+ (norm_i8.c): what they rescale has 18 bits and a sign at most.

#ifndef ODT_NORM_I8_M0_H
#define ODT_NORM_I8_M0_H

#include "../common/elements__m0.h"

// Sums of elements, of which there is one, and of their squares: 12 cycles each. r0: x, r1: step, r2: end, r3: an element, r4, r5:
// sums, r6: its square.
__attribute__((naked, noinline)) static void sum_squares(const int8_t *x, int32_t step, const int8_t *end, int32_t *sums) {
    (void)x, (void)step, (void)end, (void)sums;
    __asm volatile (
        ".syntax unified\n"
        "push {r4-r6, lr}\n"
        "mov r12, r3\n"
        "movs r4, #0\n"
        "movs r5, #0\n"
        "subs r0, r0, r1\n"
        "subs r2, r2, r1\n"
        "1:\n"
        "ldrsb r3, [r0, r1]\n"
        "adds r0, r0, r1\n"
        "adds r4, r4, r3\n"
        "movs r6, r3\n"
        "muls r6, r3\n"
        "adds r5, r5, r6\n"
        "cmp r0, r2\n"
        "bne 1b\n"
        "mov r0, r12\n"
        "stmia r0!, {r4, r5}\n"
        "pop {r4-r6, pc}\n"
        );
}

// Elements of a group, `step` bytes apart, and the way to their normalised values h: (x * factor + offset) >> shift, of a factor of
// 24 bits: a sum of 33. `left` groups of `length` elements that are 1 byte apart may follow.
typedef struct {
    const int8_t *x;   // 0
    int32_t step;      // 4
    const int8_t *end; // 8: of x
    int32_t factor;    // 12
    int32_t offset;    // 16
    int32_t shift;     // 20
    int32_t left;      // 24
    const int32_t *st; // 28: the next group's statistics
    int32_t length;    // 32
    int32_t zero;      // 36: -1024 times the zero point of x
    int32_t one;       // 40: the shift of a deviation of 1, plus its exponent
} hats_t;

// Begins: r0: x, less step, r4-r6: factor, offset and shift, r7: step, r9: end, less step.
#define ODT_BEGIN_HATS \
    ".syntax unified\n" \
    ODT_SAVE_REGISTERS \
    "ldmia r0!, {r1, r2, r7}\n" \
    "ldmia r0!, {r4-r6}\n" \
    "subs r7, r7, r2\n" \
    "mov r9, r7\n" \
    "movs r7, r2\n" \
    "subs r0, r1, r7\n"

// The next h to r2, 7 cycles; r3 may be lost. A sum of more than 32 bits, which is far from the mean, is of ODT_FAR_HAT.
#define ODT_HAT \
    "ldrsb r2, [r0, r7]\n" \
    "add r0, r7\n" \
    "muls r2, r4\n" \
    "adds r2, r2, r5\n" \
    "bvs 8f\n" \
    "asrs r2, r6\n" \
    "9:\n"

// Its sign is what the sum's is not.
#define ODT_FAR_HAT \
    "8:\n" \
    "asrs r2, r2, #1\n" \
    "movs r3, #1\n" \
    "lsls r3, r3, #31\n" \
    "eors r2, r3\n" \
    "subs r3, r6, #1\n" \
    "asrs r2, r3\n" \
    "b 9b\n"

// A group's factor, offset and shift of h to r4-r6, of r2, r4: its statistics, r5, r6: zero and one of hats_t; or on to 7 if h may
// have more than 18 bits, of which the last is of a sum of 33, or if its mean is none of bytes. 34 cycles; r2, r7 are lost.
#define ODT_FACTORS \
    "subs r2, r5, r2\n" \
    "lsrs r5, r4, #23\n" \
    "subs r6, r6, r5\n" \
    "movs r5, r6\n" \
    "subs r5, #14\n" \
    "cmp r5, #16\n" \
    "bhi 7f\n" \
    "asrs r5, r2, #17\n" /* 0 or -1 */ \
    "adds r5, r5, #1\n" \
    "lsrs r5, r5, #1\n" \
    "bne 7f\n" \
    "lsls r4, r4, #9\n" \
    "lsrs r4, r4, #9\n" \
    "movs r5, #1\n" \
    "lsls r5, r5, #23\n" \
    "orrs r4, r5\n" \
    "lsrs r5, r4, #12\n" \
    "muls r5, r2\n" \
    "lsls r5, r5, #2\n" \
    "lsls r7, r4, #20\n" \
    "lsrs r7, r7, #20\n" \
    "muls r7, r2\n" \
    "asrs r7, r7, #10\n" \
    "adds r5, r5, r7\n" \
    "movs r7, #1\n" \
    "lsls r7, r6\n" \
    "lsrs r7, r7, #1\n" \
    "adds r5, r5, r7\n" \
    "bvs 7f\n"

// Begins the next group where r0 and r9 are, 60 cycles: to r4-r6, r9 and *r3; or on to 7 if none is left or ODT_FACTORS
// does. r1, r2, r3, r7, r8 are lost.
#define ODT_NEXT_HATS \
    "ldr r7, [r3, #24]\n" \
    "subs r7, r7, #1\n" \
    "bmi 7f\n" \
    "mov r8, r7\n" \
    "ldr r1, [r3, #28]\n" \
    "ldmia r1!, {r2, r4}\n" \
    "ldr r5, [r3, #36]\n" \
    "ldr r6, [r3, #40]\n" \
    ODT_FACTORS \
    "ldr r2, [r3, #32]\n" \
    "add r9, r2\n" \
    "ldr r7, [r3, #8]\n" \
    "adds r2, r2, r7\n" \
    "adds r3, #8\n" \
    "mov r7, r8\n" \
    "stmia r3!, {r2, r4-r7}\n" \
    "str r1, [r3]\n"

// All h to words: 12 cycles each.
__attribute__((naked, noinline)) static void list_hats(const hats_t *hats, int32_t *to) {
    (void)hats, (void)to;
    __asm volatile (
        "mov r12, r1\n"
        ODT_BEGIN_HATS
        "mov r1, r12\n"
        "1:\n"
        ODT_HAT
        "stmia r1!, {r2}\n"
        "cmp r0, r9\n"
        "bne 1b\n"
        ODT_RESTORE_REGISTERS
        ODT_FAR_HAT
        );
}

// What add_products loads.
typedef struct {
    int32_t *dw;    // 0
    int32_t delta;  // 4: bytes from an x to its e
    hats_t *hats;   // 8
} products_t;

// dw = dw + e * h of each element, 19 cycles, then of those of the groups that are left, to the same dw. r1: dw, r10: delta, r11:
// products.
__attribute__((naked, noinline)) static void add_products(const products_t *products) {
    (void)products;
    __asm volatile (
        "mov r12, r0\n"
        "ldr r0, [r0, #8]\n"
        ODT_BEGIN_HATS
        "mov r3, r12\n"
        "mov r11, r3\n"
        "ldr r1, [r3, #4]\n"
        "mov r10, r1\n"
        "1:\n"
        "mov r3, r11\n"
        "ldr r1, [r3]\n"
        "2:\n"
        ODT_HAT
        "mov r3, r10\n"
        "ldrsb r3, [r0, r3]\n"
        "muls r2, r3\n"
        "ldr r3, [r1]\n"
        "adds r3, r3, r2\n"
        "stmia r1!, {r3}\n"
        "cmp r0, r9\n"
        "bne 2b\n"
        "mov r3, r11\n"
        "ldr r3, [r3, #8]\n"
        ODT_NEXT_HATS
        "movs r7, #1\n"
        "b 1b\n"
        "7:\n"
        ODT_RESTORE_REGISTERS
        ODT_FAR_HAT
        );
}

// Sums of e and of e * h, modulo 2^32: 17 cycles each. r1: e, r10: sum of e, r11: of e * h, r12: sums.
__attribute__((naked, noinline)) static void sum_products(const hats_t *hats, const int8_t *e, int32_t *sums) {
    (void)hats, (void)e, (void)sums;
    __asm volatile (
        "mov r12, r2\n"
        "push {r1}\n"
        ODT_BEGIN_HATS
        "ldr r1, [sp, #36]\n"
        "subs r1, r1, r7\n"
        "movs r2, #0\n"
        "mov r10, r2\n"
        "mov r11, r2\n"
        "1:\n"
        ODT_HAT
        "ldrsb r3, [r1, r7]\n"
        "add r1, r7\n"
        "add r10, r3\n"
        "muls r2, r3\n"
        "add r11, r2\n"
        "cmp r0, r9\n"
        "bne 1b\n"
        "mov r0, r12\n"
        "mov r1, r10\n"
        "mov r2, r11\n"
        "stmia r0!, {r1, r2}\n"
        "pop {r4-r7}\n"
        "mov r8, r4\n"
        "mov r9, r5\n"
        "mov r10, r6\n"
        "mov r11, r7\n"
        "pop {r4-r7}\n"
        "pop {r0, r1}\n" // lr, e
        "bx r0\n"
        ODT_FAR_HAT
        );
}

// Adds to sums those of h up to `end`, 8 at most: products of 25 bits times 14 are 31 bits by halves. 21 cycles each, 60 in
// all. r3: an error, r5: its product with h, r6: its gain, r4: sum of upper products, r8: of lower ones, r12: end, lr: errors.
__attribute__((naked, noinline)) static void sum_eight(const int8_t *e, const int32_t *h, const int32_t *gains, const int32_t *end,
    sums_t *sums) {
    (void)e, (void)h, (void)gains, (void)end, (void)sums;
    __asm volatile (
        ".syntax unified\n"
        "push {r4-r7, lr}\n"
        "mov r7, r8\n"
        "push {r7}\n"
        "mov r12, r3\n"
        "movs r4, #0\n"
        "mov r8, r4\n"
        "mov lr, r4\n"
        "1:\n"
        "movs r3, #0\n"
        "ldrsb r3, [r0, r3]\n"
        "adds r0, r0, #1\n"
        "ldmia r1!, {r5}\n"
        "muls r5, r3\n"
        "ldmia r2!, {r6}\n"
        "muls r3, r6\n"
        "add lr, r3\n"
        "asrs r7, r5, #12\n"
        "muls r7, r6\n"
        "adds r4, r4, r7\n"
        "lsls r5, r5, #20\n"
        "lsrs r5, r5, #20\n"
        "muls r5, r6\n"
        "add r8, r5\n"
        "cmp r1, r12\n"
        "bne 1b\n"
        "ldr r0, [sp, #24]\n"
        "ldmia r0!, {r1, r2, r5, r6}\n"
        "subs r0, #16\n"
        "mov r3, lr\n"
        "asrs r7, r3, #31\n"
        "adds r1, r1, r3\n"
        "adcs r2, r7\n"
        "mov r3, r8\n"
        "asrs r7, r3, #31\n"
        "adds r5, r5, r3\n"
        "adcs r6, r7\n"
        "asrs r7, r4, #20\n"
        "lsls r4, r4, #12\n"
        "adds r5, r5, r4\n"
        "adcs r6, r7\n"
        "stmia r0!, {r1, r2, r5, r6}\n"
        "pop {r7}\n"
        "mov r8, r7\n"
        "pop {r4-r7, pc}\n"
        );
}

// How an h becomes an output: a rescaler's factors, shift less 1, and what is added before the lower 8 bits are dropped.
typedef struct {
    int32_t low, high, shift, plus;
} gain_t;

// What apply_gains loads, and where it stopped. Outputs from bottom to bottom + range need nothing; most, least and lo are
// odt_limits_t's.
typedef struct {
    const gain_t *gains;      // 0: of the first
    int32_t bottom, range;    // 4, 8
    int32_t delta;            // 12: bytes from an x to its y
    int32_t next;             // 16: bytes from the end of one's gain to the next's
    int32_t most, least, lo;  // 20, 24, 28
    int32_t value;            // 32
    hats_t *hats;             // 36
    const gain_t *first;      // 40: of a group's first element
} apply_t;

// Outputs, 39 cycles each, to the end, which is returned, or to a new peak: then `value`, where its x is is returned, and gains
// are those of the next. Then those of the groups that are left, each with the same gains. r1: gains, r4-r7: factor, offset and shift
// of h and the step, then a gain, then bottom, range, delta and next, r10: factor, r11: offset, r12: shift, lr: step; on the stack what is loaded.
__attribute__((naked, noinline)) static const int8_t *apply_gains(apply_t *apply) {
    (void)apply;
    __asm volatile (
        "mov r12, r0\n"
        "ldr r0, [r0, #36]\n"
        ODT_BEGIN_HATS
        "mov r1, r12\n"
        "push {r1}\n"
        "sub sp, #28\n" // 0: bottom, 4: range, 8: delta, 12: next, 16: most, 20: least, 24: lo, 28: apply
        "mov r10, r4\n"
        "mov r11, r5\n"
        "mov r12, r6\n"
        "mov lr, r7\n"
        "mov r3, sp\n"
        "ldmia r1!, {r2, r4-r7}\n"
        "stmia r3!, {r4-r7}\n"
        "ldmia r1!, {r4-r6}\n"
        "stmia r3!, {r4-r6}\n"
        "movs r1, r2\n"
        "1:\n"
        "mov r7, lr\n"
        "mov r4, r10\n"
        "mov r5, r11\n"
        "mov r6, r12\n"
        ODT_HAT
        "ldmia r1!, {r4-r7}\n"
        "movs r3, r2\n"
        "muls r3, r4\n"
        "asrs r3, r3, #12\n"
        "muls r2, r5\n"
        "adds r2, r2, r3\n"
        "asrs r2, r6\n"
        "adcs r2, r7\n" // and rounds, by the last bit that goes
        "asrs r2, r2, #8\n"
        "mov r3, sp\n"
        "ldmia r3!, {r4-r7}\n"
        "adds r1, r1, r7\n"
        "subs r3, r2, r4\n"
        "cmp r3, r5\n"
        "bhi 4f\n"
        "3:\n"
        "strb r2, [r0, r6]\n"
        "cmp r0, r9\n"
        "bne 1b\n"
        "ldr r3, [sp, #28]\n"
        "ldr r3, [r3, #36]\n"
        ODT_NEXT_HATS
        "mov r10, r4\n"
        "mov r11, r5\n"
        "mov r12, r6\n"
        "ldr r3, [sp, #28]\n"
        "ldr r1, [r3, #40]\n"
        "b 1b\n"
        "7:\n"
        "add r0, lr\n"
        "b 6f\n"
        "4:\n"
        "cmp r2, r4\n"
        "blt 5f\n"
        "ldr r3, [sp, #16]\n"
        "cmp r2, r3\n"
        "bgt 6f\n"
        "movs r2, #127\n"
        "b 3b\n"
        "5:\n"
        "ldr r3, [sp, #20]\n"
        "cmp r2, r3\n"
        "blt 6f\n"
        "ldr r2, [sp, #24]\n"
        "b 3b\n"
        "6:\n"
        "ldr r3, [sp, #28]\n"
        "str r1, [r3]\n"
        "str r2, [r3, #32]\n"
        "add sp, #32\n"
        ODT_RESTORE_REGISTERS
        ODT_FAR_HAT
        );
}

// What list_errors loads: v = e * gain - mean - ((h * slope + 2048) >> 12).
typedef struct {
    int32_t *v;           // 0
    int32_t delta;        // 4: bytes from an x to its e
    int32_t mean;         // 8
    int32_t low, high;    // 12, 16: the slope's 12 bits each
    const int32_t *gains; // 20: of each element, or of all of them
} errors_t;

// Of a gain of each element 35 cycles, of one gain 31. r1, r3: factors, r10: low, r12: high, lr: v; on the stack delta, mean, gains
// or the gain.
#define LIST_ERRORS(first, gain) \
    "mov r12, r1\n" \
    ODT_BEGIN_HATS \
    "sub sp, #12\n" \
    "mov r1, r12\n" \
    "ldmia r1!, {r2, r3}\n" \
    "mov lr, r2\n" \
    "str r3, [sp]\n" \
    "ldmia r1!, {r2, r3}\n" \
    "str r2, [sp, #4]\n" \
    "mov r10, r3\n" \
    "ldmia r1!, {r2, r3}\n" \
    "mov r12, r2\n" \
    first \
    "str r3, [sp, #8]\n" \
    "1:\n" \
    ODT_HAT \
    "mov r1, r12\n" \
    "mov r3, r10\n" \
    "muls r3, r2\n" \
    "muls r2, r1\n" \
    "asrs r3, r3, #12\n" \
    "adcs r2, r3\n" /* and rounds, by the last bit that goes */ \
    gain \
    "ldr r1, [sp]\n" \
    "ldrsb r1, [r0, r1]\n" \
    "muls r1, r3\n" \
    "ldr r3, [sp, #4]\n" \
    "subs r1, r1, r3\n" \
    "subs r1, r1, r2\n" \
    "mov r3, lr\n" \
    "stmia r3!, {r1}\n" \
    "mov lr, r3\n" \
    "cmp r0, r9\n" \
    "bne 1b\n" \
    "add sp, #12\n" \
    ODT_RESTORE_REGISTERS \
    ODT_FAR_HAT

__attribute__((naked, noinline)) static void list_errors(const hats_t *hats, const errors_t *errors) {
    (void)hats, (void)errors;
    __asm volatile (
        LIST_ERRORS("", "ldr r1, [sp, #8]\n" "ldmia r1!, {r3}\n" "str r1, [sp, #8]\n")
        );
}

__attribute__((naked, noinline)) static void list_errors_of_one(const hats_t *hats, const errors_t *errors) {
    (void)hats, (void)errors;
    __asm volatile (
        LIST_ERRORS("ldr r3, [r3]\n", "ldr r3, [sp, #8]\n")
        );
}

// The hash of r8 by the factors r4 and r5 to r2, of which the upper half is as it will be. r3 is lost.
#define ODT_HASH_UPPER \
    "mov r2, r8\n" \
    "lsrs r3, r2, #16\n" \
    "eors r2, r3\n" \
    "muls r2, r4\n" \
    "lsrs r3, r2, #15\n" \
    "eors r2, r3\n" \
    "muls r2, r5\n"

// What rescale_randomly loads.
typedef struct {
    uint32_t u, next;   // 0, 4: of the first element before it is hashed, and from it to the next
    const int32_t *end; // 8: of a row of v
    int8_t *y;          // 12: of the first
    int32_t low, high;  // 16, 20: the multiplier's 16 and 8 bits, less its lowest 7
    uint32_t doubt;     // 24: -256 by 32 - shift
    int32_t shift;      // 28: of parts, q.s - 23
    int32_t step;       // 32: from one y to the next
    int32_t top, peak;  // 36, 40: of odt_outputs_t, -bottom too
    const int32_t *last; // 44: end of all rows
    int32_t length;      // 48: bytes of a row of v
    int32_t y_skip;      // 52: from the end of a row's y to the next one's
    uint32_t u_skip;     // 56: likewise
} random_t;

// rescale_random of words to outputs, 47 cycles each and 17 per row, up to the end, which is returned, or to where there are a new peak,
// a v of more than 23 bits and a sign, or a doubt, for which `u`, `y` and its row's `end` are then. Parts are the upper bits of a product and of u: they may
// lack 256 of the 2^shift that are 1, so that an output is in doubt that these would raise. r0: v, r1: an element, then parts, r2: u,
// r4, r5: the hash's factors, r6: 32 - shift, r7: shift, r8: u before it is hashed, r9: end, r10: low, r11: high, r12: doubt, lr: y.
__attribute__((naked, noinline)) static const int32_t *rescale_randomly(const int32_t *v, random_t *random, uint32_t second,
    uint32_t third) {
    (void)v, (void)random, (void)second, (void)third;
    __asm volatile (
        ".syntax unified\n"
        ODT_SAVE_REGISTERS
        "push {r1}\n"
        "sub sp, #16\n" // 0: next, 4: step, 8: top, 12: peak, 16: random
        "movs r4, r2\n"
        "movs r5, r3\n"
        "ldmia r1!, {r2, r3, r6, r7}\n"
        "mov r8, r2\n"
        "str r3, [sp]\n"
        "mov r9, r6\n"
        "mov lr, r7\n"
        "ldmia r1!, {r2, r3, r6, r7}\n"
        "mov r10, r2\n"
        "mov r11, r3\n"
        "mov r12, r6\n"
        "movs r6, #32\n"
        "subs r6, r6, r7\n"
        "ldmia r1, {r1-r3}\n"
        "str r1, [sp, #4]\n"
        "str r2, [sp, #8]\n"
        "str r3, [sp, #12]\n"
        "1:\n"
        "ldmia r0!, {r1}\n"
        "asrs r2, r1, #8\n"
        "sxth r3, r2\n"
        "cmp r3, r2\n"
        "bne 6f\n"
        "mov r3, r10\n"
        "muls r2, r3\n"
        "asrs r2, r2, #8\n"
        "mov r3, r11\n"
        "muls r1, r3\n"
        "adds r1, r1, r2\n"
        ODT_HASH_UPPER
        "lsrs r3, r2, #16\n"
        "eors r2, r3\n"
        "lsrs r2, r6\n"
        "adds r1, r1, r2\n"
        "bvs 6f\n"
        "movs r2, r1\n"
        "lsls r2, r6\n"
        "cmp r2, r12\n"
        "bhs 6f\n"
        "asrs r1, r7\n"
        "ldr r3, [sp, #8]\n"
        "adds r2, r1, r3\n"
        "lsls r3, r3, #1\n"
        "cmp r2, r3\n"
        "bhi 4f\n"
        "3:\n"
        "mov r3, lr\n"
        "strb r1, [r3]\n"
        "ldr r3, [sp, #4]\n"
        "add lr, r3\n"
        "ldr r3, [sp]\n"
        "add r8, r3\n"
        "cmp r0, r9\n"
        "bne 1b\n"
        "ldr r3, [sp, #16]\n"
        "ldr r2, [r3, #44]\n"
        "cmp r0, r2\n"
        "beq 7f\n"
        "ldr r2, [r3, #48]\n"
        "add r9, r2\n"
        "ldr r2, [r3, #52]\n"
        "add lr, r2\n"
        "ldr r2, [r3, #56]\n"
        "add r8, r2\n"
        "b 1b\n"
        "6:\n"
        "subs r0, r0, #4\n"
        "7:\n"
        "ldr r3, [sp, #16]\n"
        "mov r1, r9\n"
        "str r1, [r3, #8]\n"
        "mov r1, r8\n"
        "str r1, [r3]\n"
        "mov r1, lr\n"
        "str r1, [r3, #12]\n"
        "add sp, #20\n"
        ODT_RESTORE_REGISTERS
        "4:\n" // what is clamped without being a peak
        "asrs r3, r1, #31\n"
        "eors r1, r3\n"
        "subs r1, r1, r3\n"
        "ldr r2, [sp, #12]\n"
        "cmp r1, r2\n"
        "bgt 6b\n"
        "movs r1, #127\n"
        "eors r1, r3\n"
        "subs r1, r1, r3\n"
        "b 3b\n"
        );
}

#endif
