// Outputs of bytes on a Cortex-M0+: elements__m0.h.

#include "../../core.h"
#include "elements__m0.h"

#if ODT_M0 && !ODT_SMALL

ODT_BESIDE_ASSEMBLY

// 24 cycles each. r0, r1: the ends of x and y, r2: an element, r3: a product, r4-r6: low, high and shift, r7: the index, below 0;
// r8: plus, r9: factor, lr: twice; on the stack the limits and, at 20, bytes.
__attribute__((naked, noinline)) static void rescale(odt_bytes_t *bytes) {
    (void)bytes;
    __asm volatile (
        ".syntax unified\n"
        ODT_SAVE_REGISTERS
        "push {r0}\n"
        "sub sp, #20\n"
        "ldmia r0!, {r1-r7}\n"
        "mov r8, r3\n"
        "mov r9, r4\n"
        "mov r10, r1\n"
        "mov r11, r2\n"
        "ldmia r0!, {r3}\n"
        "mov lr, r3\n"
        "mov r2, sp\n"
        "ldmia r0!, {r1, r3, r4}\n"
        "stmia r2!, {r1, r3, r4}\n"
        "ldmia r0!, {r1, r3}\n"
        "stmia r2!, {r1, r3}\n"
        "ldmia r0!, {r2, r3}\n"
        "mov r4, r5\n"
        "mov r5, r6\n"
        "mov r6, r7\n"
        "subs r7, r3, r2\n"
        "mov r0, r10\n"
        "adds r0, r0, r2\n"
        "mov r1, r11\n"
        "adds r1, r1, r2\n"
        "1:\n"
        "ldrsb r2, [r0, r7]\n"
        "add r2, r8\n"
        "mov r3, r9\n"
        "muls r2, r3\n"
        "movs r3, r2\n"
        "muls r3, r4\n"
        "asrs r3, r3, #12\n"
        "muls r2, r5\n"
        "adds r2, r2, r3\n"
        "asrs r2, r6\n"
        "add r2, lr\n"
        "asrs r2, r2, #1\n"
        ODT_CLAMP("0")
        "strb r2, [r1, r7]\n"
        "adds r7, r7, #1\n"
        "bne 1b\n"
        "b 6f\n"
        ODT_CLAMP_RARE("0")
        "6:\n"
        "ldr r3, [sp, #20]\n"
        "ldr r1, [r3, #52]\n"
        "adds r1, r1, r7\n"
        "str r1, [r3, #56]\n"
        "str r2, [r3, #60]\n"
        "add sp, #24\n"
        ODT_RESTORE_REGISTERS
        );
}

int odt_begin_bytes(odt_bytes_t *b, int32_t zero, int32_t factor, odt_multiplier_t q, const odt_outputs_t *outputs) {
    b->plus = -zero;
    b->factor = factor;
    b->low = q.m >> 7 & 4095;
    b->high = q.m >> 19;
    b->shift = q.s - 20;
    b->twice = 2 * outputs->z + 1;
    b->limits = odt_limits_of(outputs);
    return odt_is_usual(outputs) && (q.m & 127) == 0 && q.s >= 20 && q.s <= 49 && zero == (int8_t)zero && factor >= 0
        && factor <= 1 << 9;
}

void odt_rescale_bytes(odt_bytes_t *b, int8_t *y, const int8_t *x, int32_t count, odt_outputs_t *outputs) {
    b->x = x;
    b->y = y;
    b->count = count;
    b->done = 0;
    while (b->done < count) {
        rescale(b);
        if (b->done < count) {
            y[b->done++] = odt_output_of_peak(outputs, b->value - outputs->z);
            b->limits = odt_limits_of(outputs);
        }
    }
}

#endif
