// Reads inputs of float32 and int16, in assembly for a Cortex-M0+ (gather_i8.c).

#ifndef ODT_GATHER_I8_M0_H
#define ODT_GATHER_I8_M0_H

#include "../../core.h"
#include "../../common/elements.h"
#include "quantize__m0.h"
#include "registers__m0.h"

#if ODT_M0 && !ODT_SMALL

// Reads whole words from x on and advances x to `end`, or to a value that is far out of range or a new peak.
typedef struct {
    const uint8_t *x, *end;      // 0, 4: `end` above x
    int8_t *y;                   // 8
    int32_t z;                   // 12
    odt_quantizer_bytes_t bytes; // 16
    odt_outputs_t outputs;       // 32: top, bottom, z, lo, least, most
} floats_t;

// 46 cycles per element. r0: x, r2: an output; r10: end, r11: y, r12, lr: top and bottom. On the stack: z, least, most.
__attribute__((naked, noinline)) static void quantize_floats(floats_t *f) {
    (void)f;
    __asm volatile (
        ".syntax unified\n"
        ODT_SAVE_REGISTERS
        "push {r0}\n"
        "sub sp, #12\n"
        "ldr r1, [r0, #48]\n" // least, most
        "ldr r2, [r0, #52]\n"
        "str r1, [sp, #4]\n"
        "str r2, [sp, #8]\n"
        "ldr r1, [r0, #32]\n"
        "ldr r2, [r0, #36]\n"
        "mov r12, r1\n"
        "mov lr, r2\n"
        "ldmia r0!, {r1-r7}\n"
        "mov r10, r2\n"
        "mov r11, r3\n"
        "str r4, [sp]\n"
        "ldr r2, [r0]\n"
        "mov r8, r2\n"
        "movs r2, #1\n"
        "lsls r2, r2, #23\n"
        "mov r9, r2\n"
        "movs r0, r1\n"
        "1:\n"
        "ldr r2, [r0]\n"
        ODT_QUANTIZE_MAGNITUDE
        "ldr r1, [r0]\n"
        "asrs r1, r1, #31\n" // its sign
        "eors r2, r1\n"
        "subs r2, r2, r1\n"
        "cmp r2, r12\n"
        "bgt 4f\n"
        "cmp r2, lr\n"
        "blt 5f\n"
        "ldr r3, [sp]\n"
        "adds r2, r2, r3\n"
        "3:\n"
        "mov r3, r11\n"
        "strb r2, [r3]\n"
        "adds r3, r3, #1\n"
        "mov r11, r3\n"
        "adds r0, r0, #4\n"
        "cmp r0, r10\n"
        "bne 1b\n"
        "b 6f\n"
        "4:\n"
        "ldr r3, [sp, #8]\n"
        "cmp r2, r3\n"
        "bgt 6f\n"
        "movs r2, #127\n"
        "b 3b\n"
        "5:\n"
        "ldr r3, [sp, #4]\n"
        "cmp r2, r3\n"
        "blt 6f\n"
        "movs r2, #128\n" // -128
        "b 3b\n"
        "6:\n"
        "add sp, #12\n"
        "pop {r1}\n"
        "mov r2, r11\n"
        "str r0, [r1]\n"
        "str r2, [r1, #8]\n"
        ODT_RESTORE_REGISTERS
        );
}

// Reads whole halfwords from x on and advances x to `end`, or to a new peak.
typedef struct {
    const uint8_t *x, *end;    // 0, 4: `end` above x
    int8_t *y;                 // 8
    int32_t less;              // 12: -zero, 16 bits
    int32_t low, high, shift;  // 16, 20, 24: of odt_rescaler_t, shift - 1
    odt_outputs_t outputs;     // 28: top, bottom, z, lo, least, most
} halfwords_t;

// 25 cycles per element. r0: x, r1: y, r2: an output, r4-r6: low, high, shift, r7: z; r8: less, r9, r10: top and
// bottom, r11, r12: most and least, lr: end.
__attribute__((naked, noinline)) static void rescale_halfwords(halfwords_t *h) {
    (void)h;
    __asm volatile (
        ".syntax unified\n"
        ODT_SAVE_REGISTERS
        "push {r0}\n"
        "movs r7, r0\n"
        "adds r7, #28\n"
        "ldmia r7!, {r1-r6}\n"
        "mov r9, r1\n"
        "mov r10, r2\n"
        "mov r12, r5\n"
        "mov r11, r6\n"
        "push {r3}\n"
        "ldmia r0!, {r1-r7}\n"
        "mov lr, r2\n"
        "mov r8, r4\n"
        "movs r0, r1\n"
        "movs r1, r3\n"
        "movs r4, r5\n"
        "movs r5, r6\n"
        "movs r6, r7\n"
        "pop {r7}\n"
        "1:\n"
        "movs r3, #0\n"
        "ldrsh r2, [r0, r3]\n"
        "add r2, r8\n"
        "movs r3, r2\n"
        "muls r3, r4\n"
        "asrs r3, r3, #12\n"
        "muls r2, r5\n"
        "adds r2, r2, r3\n"
        "asrs r2, r6\n"
        "adds r2, r2, #1\n"
        "asrs r2, r2, #1\n"
        "cmp r2, r9\n"
        "bgt 4f\n"
        "cmp r2, r10\n"
        "blt 5f\n"
        "adds r2, r2, r7\n"
        "3:\n"
        "strb r2, [r1]\n"
        "adds r1, r1, #1\n"
        "adds r0, r0, #2\n"
        "cmp r0, lr\n"
        "bne 1b\n"
        "b 6f\n"
        "4:\n"
        "cmp r2, r11\n"
        "bgt 6f\n"
        "movs r2, #127\n"
        "b 3b\n"
        "5:\n"
        "cmp r2, r12\n"
        "blt 6f\n"
        "movs r2, #128\n" // -128
        "b 3b\n"
        "6:\n"
        "pop {r3}\n"
        "str r0, [r3]\n"
        "str r1, [r3, #8]\n"
        ODT_RESTORE_REGISTERS
        );
}

#endif

#endif
