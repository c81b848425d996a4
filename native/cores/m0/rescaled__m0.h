// odt_rescaled() and odt_rescaled_random() (fixed.h) on a Cortex-M0+ in small modules, without the 64-bit products and
// shifts of the compiler's library.

#ifndef ODT_RESCALED_M0_H
#define ODT_RESCALED_M0_H

#include "../../core.h"
#include "../../fixed.h"

#if ODT_SMALL

// 2^(s - 1) / 2^s is odt_rescaled_random()'s fraction with u = 2^31, so this continues there. r0: v, r1: m, r2: s, r3:
// u. The product is r4:r5. A shift by 32 .. 255 bits gives 0, ASRS the sign. Declared without parameters: gcc would
// store q's words in a stack frame, which a naked function does not have.
void odt_rescaled_m0(void) __asm ("odt_rescaled");
__attribute__((naked)) void odt_rescaled_m0(void) {
    __asm volatile (
        ".syntax unified\n"
        "movs r3, #1\n"
        "lsls r3, r3, #31\n"
        ".global odt_rescaled_random\n"
        ".thumb_func\n"
        "odt_rescaled_random:\n"
        "push {r4-r6, lr}\n"
        "asrs r6, r0, #16\n" // in halves
        "uxth r0, r0\n"
        "asrs r4, r1, #16\n"
        "uxth r1, r1\n"
        "movs r5, r0\n"
        "muls r5, r1\n"
        "muls r0, r4\n"
        "muls r4, r6\n"
        "muls r1, r6\n"
        "lsls r6, r0, #16\n"
        "asrs r0, r0, #16\n"
        "adds r5, r5, r6\n"
        "adcs r4, r0\n"
        "lsls r6, r1, #16\n"
        "asrs r1, r1, #16\n"
        "adds r5, r5, r6\n"
        "adcs r4, r1\n"
        "movs r1, r2\n"
        "subs r1, #32\n" // s - 32
        "movs r6, r3\n"
        "lsls r6, r1\n"
        "rsbs r1, r1, #0\n" // 32 - s
        "movs r0, r3\n"
        "lsrs r0, r1\n"
        "orrs r0, r6\n"
        "adds r1, #32\n" // 64 - s
        "lsrs r3, r1\n"
        "adds r5, r5, r0\n"
        "adcs r4, r3\n"
        "movs r0, r4\n"
        "subs r1, #32\n"
        "bgt 1f\n"
        "rsbs r1, r1, #0\n"
        "asrs r0, r1\n"
        "pop {r4-r6, pc}\n"
        "1:\n"
        "lsls r0, r1\n"
        "lsrs r5, r2\n"
        "orrs r0, r5\n"
        "asrs r4, r2\n"
        "asrs r1, r0, #31\n"
        "cmp r1, r4\n"
        "bne 2f\n"
        "lsls r1, r0, #1\n"
        "bne 3f\n"
        "cmp r0, #0\n"
        "beq 3f\n"
        "2:\n" // beyond 31 bits
        "asrs r4, r4, #31\n"
        "movs r0, #0\n"
        "mvns r0, r0\n"
        "lsrs r0, r0, #1\n"
        "eors r0, r4\n"
        "subs r0, r0, r4\n"
        "3:\n"
        "pop {r4-r6, pc}\n"
        );
}

#endif

#endif
