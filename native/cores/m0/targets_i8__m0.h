// Differences from float32 and uint8 targets, in Cortex-M0+ assembly (targets_i8.c).

#ifndef ODT_TARGETS_I8_M0_H
#define ODT_TARGETS_I8_M0_H

#include "../../core.h"
#include "quantize__m0.h"
#include "registers__m0.h"

#if ODT_M0 && !ODT_SMALL

// Reads whole words from `from` on and advances it to `end`, or to a target of 2^23 or more.
typedef struct {
    const uint8_t *from, *end;          // 0, 4
    int32_t x;                          // 8: from a quarter of the address after a target to its x
    int32_t beyond;                     // 12: from the address after a target to its difference
    int32_t plus;                       // 16: -256 times the zero point of x
    const odt_quantizer_bytes_t *bytes; // 20
} differences_t;

// 44 cycles per element. r0: from, r2: a target; r10: end, r11: x, r12: plus, lr: beyond.
__attribute__((naked, noinline)) static void subtract_floats(differences_t *d) {
    (void)d;
    __asm volatile (
        ".syntax unified\n"
        ODT_SAVE_REGISTERS
        "push {r0}\n"
        "ldmia r0!, {r1-r6}\n"
        "mov r10, r2\n"
        "mov r11, r3\n"
        "mov lr, r4\n"
        "mov r12, r5\n"
        "ldmia r6, {r4-r7}\n"
        "mov r8, r7\n"
        "movs r7, r6\n"
        "movs r6, r5\n"
        "movs r5, r4\n"
        "movs r2, #1\n"
        "lsls r2, r2, #23\n"
        "mov r9, r2\n"
        "movs r0, r1\n"
        "1:\n"
        "ldr r2, [r0]\n"
        ODT_QUANTIZE_MAGNITUDE
        "ldmia r0!, {r1}\n"
        "asrs r1, r1, #31\n" // its sign
        "eors r2, r1\n"
        "subs r2, r2, r1\n"
        "lsrs r3, r0, #2\n"
        "mov r1, r11\n"
        "ldrsb r1, [r1, r3]\n"
        "lsls r1, r1, #8\n"
        "subs r1, r1, r2\n"
        "add r1, r12\n"
        "mov r3, lr\n"
        "str r1, [r0, r3]\n"
        "cmp r0, r10\n"
        "bne 1b\n"
        "6:\n"
        "pop {r1}\n"
        "str r0, [r1]\n"
        ODT_RESTORE_REGISTERS
        );
}

// `count` > 0 uint8 targets minus their 8-bit zero point.
typedef struct {
    const uint8_t *targets;    // 0: their end
    const int8_t *x;           // 4: likewise
    int32_t count, less;       // 8, 12: less is -zero
    int32_t low, high, shift;  // 16, 20, 24: of odt_rescaler_t, shift - 1
    int32_t plus;              // 28: -256 times the zero point of x
    int32_t *to;               // 32
} byte_differences_t;

// 23 cycles per element. r0, r1: the ends of targets and x, r2: a target, r4-r6: low, high, shift, r7: the index, below
// 0; r8: less, r12: plus, lr: to.
__attribute__((naked, noinline)) static void subtract_bytes(const byte_differences_t *d) {
    (void)d;
    __asm volatile (
        ".syntax unified\n"
        "push {r4-r7, lr}\n"
        "mov r7, r8\n"
        "push {r7}\n"
        "ldr r1, [r0, #28]\n"
        "mov r12, r1\n"
        "ldr r1, [r0, #32]\n"
        "mov lr, r1\n"
        "ldmia r0!, {r1-r7}\n"
        "mov r8, r4\n"
        "movs r0, r1\n"
        "movs r1, r2\n"
        "mov r4, r5\n"
        "mov r5, r6\n"
        "mov r6, r7\n"
        "negs r7, r3\n"
        "1:\n"
        "ldrb r2, [r0, r7]\n"
        "add r2, r8\n"
        "movs r3, r2\n"
        "muls r3, r4\n"
        "asrs r3, r3, #12\n"
        "muls r2, r5\n"
        "adds r2, r2, r3\n"
        "asrs r2, r6\n"
        "adds r2, r2, #1\n"
        "asrs r2, r2, #1\n"
        "ldrsb r3, [r1, r7]\n"
        "lsls r3, r3, #8\n"
        "subs r3, r3, r2\n"
        "add r3, r12\n"
        "mov r2, lr\n"
        "stmia r2!, {r3}\n"
        "mov lr, r2\n"
        "adds r7, r7, #1\n"
        "bne 1b\n"
        "pop {r7}\n"
        "mov r8, r7\n"
        "pop {r4-r7, pc}\n"
        );
}

#endif

#endif
