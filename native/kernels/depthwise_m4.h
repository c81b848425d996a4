// Depthwise convolutions (depthwise2d_i8.c) on cores with SMLAxy, a Cortex-M4 and later: four channels,
// whose bytes SXTB16 leaves in the order 0, 2, 1, 3.

#ifndef ODT_DEPTHWISE_M4_H
#define ODT_DEPTHWISE_M4_H

#include <stdint.h>

// Windows of taps > 0 that all begin at w; as the loop reads them.
typedef struct {
    const int16_t *w;
    int32_t taps, next;   // 4: (KH - 1) * 65536 + KW, KW - 65536
    int32_t w_skip, row;  // 12: bytes from the end of a row's weights, from the end of a row of x, to the next
    int32_t step;         // 20: from a window to the next
    int32_t offsets[4];   // 24: what sums begin with
} odt_windows_t;

#define TAP(x) \
    "ldr r10, " x "\n" \
    "ldrd r8, r9, [r2], #8\n" \
    "sxtb16 r11, r10, ror #8\n" \
    "sxtb16 r10, r10\n" \
    "smlabb r4, r10, r8, r4\n" \
    "smlatt r6, r10, r8, r6\n" \
    "smlabb r5, r11, r9, r5\n" \
    "smlatt r7, r11, r9, r7\n"

// sums = offsets + x * w, taps N bytes apart. Windows three taps wide: 30 instructions a row, 11 a window;
// others 12 a tap, 7 a row.
__attribute__((naked, noinline)) static void odt_sum_windows(int32_t (*sums)[4], int32_t (*end)[4],
    const int8_t *x, int32_t N, odt_windows_t a) {
    (void)sums, (void)end, (void)x, (void)N, (void)a;
    __asm volatile (
        ".syntax unified\n"
        "push {r1, r4-r11, lr}\n" // 0: end; 40: a
        "mov r1, r2\n"
        "ldr r12, [sp, #44]\n"
        "uxth r12, r12\n"
        "cmp r12, #3\n"
        "beq 3f\n"
        "1:\n"
        "add lr, sp, #64\n"
        "ldm lr, {r4-r7}\n"
        "ldr r2, [sp, #40]\n"
        "ldr r12, [sp, #44]\n"
        "mov lr, r1\n"
        "2:\n"
        TAP("[lr]")
        "add lr, lr, r3\n"
        "subs r12, r12, #1\n"
        "lsls r10, r12, #16\n"
        "bne 2b\n"
        "ldr r10, [sp, #56]\n"
        "add lr, lr, r10\n"
        "ldr r10, [sp, #52]\n"
        "add r2, r2, r10\n"
        "ldr r10, [sp, #48]\n"
        "adds r12, r12, r10\n"
        "bpl 2b\n"
        "stm r0!, {r4-r7}\n"
        "ldr r10, [sp, #60]\n"
        "add r1, r1, r10\n"
        "ldr r10, [sp]\n"
        "cmp r0, r10\n"
        "bne 1b\n"
        "pop {r1, r4-r11, pc}\n"
        "3:\n"
        "add lr, sp, #64\n"
        "ldm lr, {r4-r7}\n"
        "ldr r2, [sp, #40]\n"
        "ldr r12, [sp, #44]\n"
        "mov lr, r1\n"
        "4:\n"
        TAP("[lr]")
        TAP("[lr, r3]")
        TAP("[lr, r3, lsl #1]")
        "add lr, lr, r3, lsl #1\n"
        "add lr, lr, r3\n"
        "ldr r10, [sp, #56]\n"
        "add lr, lr, r10\n"
        "ldr r10, [sp, #52]\n"
        "add r2, r2, r10\n"
        "subs r12, r12, #65536\n"
        "bpl 4b\n"
        "stm r0!, {r4-r7}\n"
        "ldr r10, [sp, #60]\n"
        "add r1, r1, r10\n"
        "ldr r10, [sp]\n"
        "cmp r0, r10\n"
        "bne 3b\n"
        "pop {r1, r4-r11, pc}\n"
        );
}

// acc += e * (x - zx) over count > 0 positions; zeros is zx twice. 16 instructions for four products.
__attribute__((naked, noinline)) static void odt_add_row(int32_t *acc, const int8_t *e, const int8_t *x,
    int32_t e_step, int32_t x_step, int32_t count, int32_t zeros) {
    (void)acc, (void)e, (void)x, (void)e_step, (void)x_step, (void)count, (void)zeros;
    __asm volatile (
        ".syntax unified\n"
        "push {r0, r4-r11, lr}\n" // 40: x_step, count, zeros
        "ldm r0, {r4-r7}\n"
        "ldr r12, [sp, #40]\n"
        "ldr r0, [sp, #44]\n"
        "ldr lr, [sp, #48]\n"
        "1:\n"
        "ldr r9, [r1]\n"
        "ldr r11, [r2]\n"
        "add r1, r1, r3\n"
        "add r2, r2, r12\n"
        "sxtb16 r8, r9\n"
        "sxtb16 r10, r11\n"
        "sxtb16 r9, r9, ror #8\n"
        "sxtb16 r11, r11, ror #8\n"
        "ssub16 r10, r10, lr\n"
        "ssub16 r11, r11, lr\n"
        "smlabb r4, r8, r10, r4\n"
        "smlatt r6, r8, r10, r6\n"
        "smlabb r5, r9, r11, r5\n"
        "smlatt r7, r9, r11, r7\n"
        "subs r0, r0, #1\n"
        "bne 1b\n"
        "pop {r0}\n"
        "stm r0, {r4-r7}\n"
        "pop {r4-r11, pc}\n"
        );
}

#endif
