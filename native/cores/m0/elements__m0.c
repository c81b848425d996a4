// Rescales bytes to outputs on a Cortex-M0+: elements__m0.h.

#include "../../core.h"
#include "elements__m0.h"

#if ODT_M0 && !ODT_SMALL

ODT_BESIDE_ASSEMBLY

// When the index is 0: goes on to the next row at 1, 19 cycles, or to 8 after the last row. bytes is at sp + `at`; r2
// is lost.
#define NEXT_ROW(at) \
    "2:\n" \
    "ldr r2, [sp, #" at "]\n" \
    "ldr r7, [r2, #80]\n" \
    "subs r7, r7, #1\n" \
    "str r7, [r2, #80]\n" \
    "beq 8f\n" \
    "ldr r7, [r2, #84]\n" \
    "adds r1, r1, r7\n" \
    "ldr r7, [r2, #52]\n" \
    "adds r0, r0, r7\n" \
    "negs r7, r7\n" \
    "b 1b\n"

// Saves the place of a new peak, where the loop ends. r3: bytes.
#define KEEP_PLACE \
    "str r2, [r3, #60]\n" \
    "ldr r2, [r3, #52]\n" \
    "subs r0, r0, r2\n" \
    "subs r1, r1, r2\n" \
    "adds r2, r2, r7\n" \
    "str r2, [r3, #56]\n" \
    "stmia r3!, {r0, r1}\n"

// 24 cycles per element. r0, r1: the ends of x and y, r2: an element, r3: a product, r4-r6: low, high and shift, r7:
// the index, below 0; r8: plus, r9: factor, lr: twice. On the stack: the limits and, at 20, bytes.
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
        "cmp r7, #0\n"
        "beq 2f\n"
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
        NEXT_ROW("20")
        ODT_CLAMP_RARE("0")
        "6:\n"
        "ldr r3, [sp, #20]\n"
        KEEP_PLACE
        "8:\n"
        "add sp, #24\n"
        ODT_RESTORE_REGISTERS
        );
}

// 16 cycles per element, 18 if it is clamped at lo: one 32-bit product. r0, r1: the ends of x and y, r2: an element,
// r3: most, r4: multiplier, r5: shift, r7: the index, below 0; r8, r9: offset, more, r10: least, r11: lo, r12, lr: top
// and bottom. On the stack: bytes.
__attribute__((naked, noinline)) static void convert(odt_bytes_t *bytes) {
    (void)bytes;
    __asm volatile (
        ".syntax unified\n"
        ODT_SAVE_REGISTERS
        "push {r0}\n"
        "movs r6, r0\n"
        "adds r6, #32\n"
        "ldmia r6!, {r1-r5}\n"
        "mov r12, r1\n"
        "mov lr, r2\n"
        "mov r10, r4\n"
        "mov r11, r5\n"
        "ldmia r6!, {r2, r3}\n" // count, done
        "subs r7, r3, r2\n"
        "adds r6, #4\n"
        "ldmia r6, {r3-r6}\n"
        "mov r8, r5\n"
        "mov r9, r6\n"
        "movs r5, r4\n"
        "movs r4, r3\n"
        "ldr r3, [r0, #40]\n"
        "ldr r1, [r0, #4]\n"
        "adds r1, r1, r2\n"
        "ldr r0, [r0]\n"
        "adds r0, r0, r2\n"
        "cmp r7, #0\n"
        "beq 2f\n"
        "1:\n"
        "ldrsb r2, [r0, r7]\n"
        "muls r2, r4\n"
        "add r2, r8\n"
        "asrs r2, r5\n"
        "add r2, r9\n"
        "asrs r2, r2, #1\n"
        "cmp r2, lr\n"
        "blt 5f\n"
        "cmp r2, r12\n"
        "bgt 4f\n"
        "3:\n"
        "strb r2, [r1, r7]\n"
        "adds r7, r7, #1\n"
        "bne 1b\n"
        NEXT_ROW("0")
        "4:\n"
        "cmp r2, r3\n"
        "bgt 6f\n"
        "movs r2, #127\n"
        "b 3b\n"
        "5:\n"
        "cmp r2, r10\n"
        "blt 6f\n"
        "mov r2, r11\n"
        "strb r2, [r1, r7]\n"
        "adds r7, r7, #1\n"
        "bne 1b\n"
        "b 2b\n"
        "6:\n"
        "ldr r3, [sp]\n"
        KEEP_PLACE
        "8:\n"
        "add sp, #4\n"
        ODT_RESTORE_REGISTERS
        );
}

// The products of x = -128 .. 127 with `multiplier` may span 32 bits. `offset` moves them into the range of an int32,
// by whole halves of an output, and `more` moves the results back. If they do not fit, or the factor is not a power of
// 2, multiplier is 0.
static void begin_converting(odt_bytes_t *b, int32_t zero, int32_t factor, odt_multiplier_t q, int32_t z) {
    int32_t shift = q.s - 8 - (odt_bit_length((uint32_t)factor) - 1);
    uint32_t m = (uint32_t)q.m >> 7, below = (uint32_t)(128 + zero) * m;
    b->multiplier = 0;
    if ((factor & (factor - 1)) || shift < 3 || shift > 31) {
        return;
    }
    uint32_t half = (uint32_t)1 << shift, up = (0u - below) & (half - 1); // to a multiple of a half
    if (up > UINT32_MAX - 255 * m) {
        return;
    }
    b->multiplier = (int32_t)m;
    b->shift_by = shift;
    b->offset = (int32_t)(128 * m + up - 0x80000000u);
    b->more = 2 * z + 1 - (int32_t)(((below + up) >> shift) - (0x80000000u >> shift));
}

int odt_begin_bytes(odt_bytes_t *b, int32_t zero, int32_t factor, odt_multiplier_t q, const odt_outputs_t *outputs) {
    b->plus = -zero;
    b->factor = factor;
    b->low = q.m >> 7 & 4095;
    b->high = q.m >> 19;
    b->shift = q.s - 20;
    b->twice = 2 * outputs->z + 1;
    b->limits = odt_limits_of(outputs);
    if (!odt_is_usual(outputs) || (q.m & 127) || q.m < 0 || q.s < 20 || q.s > 49 || zero != (int8_t)zero || factor < 1
        || factor > 1 << 9) {
        return 0;
    }
    begin_converting(b, zero, factor, q, outputs->z);
    return 1;
}

void odt_rescale_bytes(odt_bytes_t *b, int8_t *y, const int8_t *x, int32_t count, int32_t rows, int32_t apart,
    odt_outputs_t *outputs) {
    b->x = x;
    b->y = y;
    b->count = count;
    b->done = 0;
    b->rows = rows;
    b->apart = apart;
    while (b->rows > 0) {
        if (b->multiplier) {
            convert(b);
        } else {
            rescale(b);
        }
        if (b->rows) {
            b->y[b->done++] = odt_output_of_peak(outputs, b->value - outputs->z);
            b->limits = odt_limits_of(outputs);
        }
    }
}

#endif
