// How sums become outputs on a Cortex-M0+: what panel_m0.h and depthwise_m0.c share.

#ifndef ODT_FINISH_M0_H
#define ODT_FINISH_M0_H

#include "../fixed.h"

// The way of one row from sums to outputs, zy included. A result above `top` or below `bottom` is out of
// range or a new peak, or both.
typedef struct {
    int32_t offset;             // 0: this and the next one not in depthwise_m0.c
    const void *end;            // 4
    int8_t *y;                  // 8
    int32_t step, twice;        // 12, 16: 2 * zy + 1
    int32_t high, low;          // 20, 24
    int32_t max, min;           // 28, 32: what there was
    int32_t top, bottom;        // 36, 40
    int32_t m_low, m_high;      // 44, 48: 12 bits each
    int32_t shift;              // 52: q.s - 20
    int32_t m;                  // 56: q.m
} odt_output_t;

// Field by field, as a copy of the whole takes long on an RP2040. max and min are of results less zy.
static inline void odt_output_range(odt_output_t *o, int32_t zy, int32_t lo, int32_t max, int32_t min) {
    const int32_t far = 1 << 30; // beyond all results
    o->twice = 2 * zy + 1;
    o->high = 127;
    o->low = lo;
    o->max = max + zy;
    o->min = odt_max(min, -far) + zy;
    o->top = odt_min(o->max, o->high);
    o->bottom = odt_max(o->min, o->low);
}

// Of a multiplier whose shift is 33 or more and whose m has 24 bits.
static inline void odt_output_scale(odt_output_t *o, odt_multiplier_t q) {
    o->m_low = q.m >> 7 & 4095;
    o->m_high = q.m >> 19;
    o->shift = q.s - 20;
    o->m = q.m;
}

// The end of a macro with the argument n, a digit: r2 is twice the result, and goes to r1. r10, r11: top and bottom,
// r12: step, lr: twice, r4: min; on the stack, the odt_output_t.
#define ODT_CLAMP \
    "2\\n:\n" \
    "add r2, lr\n" /* 2 * zy + 1 */ \
    "asrs r2, r2, #1\n" \
    "cmp r2, r10\n" \
    "bgt 6\\n\\()f\n" \
    "cmp r2, r11\n" \
    "blt 8\\n\\()f\n" \
    "3\\n:\n" \
    "strb r2, [r1]\n" \
    "add r1, r12\n"

// The end of another macro, for the same n: what ODT_CLAMP seldom needs.
#define ODT_CLAMP_RARE \
    "6\\n:\n" /* out of range, if no new peak */ \
    "ldr r3, [sp]\n" \
    "ldr r3, [r3, #28]\n" \
    "cmp r2, r3\n" \
    "bgt 7\\n\\()f\n" \
    "mov r2, r10\n" \
    "b 3\\n\\()b\n" \
    "7\\n:\n" \
    "ldr r3, [sp]\n" \
    "str r2, [r3, #28]\n" \
    "ldr r3, [r3, #20]\n" \
    "mov r10, r2\n" \
    "cmp r2, r3\n" \
    "ble 3\\n\\()b\n" \
    "mov r10, r3\n" \
    "movs r2, r3\n" \
    "b 3\\n\\()b\n" \
    "8\\n:\n" \
    "cmp r2, r4\n" \
    "blt 9\\n\\()f\n" \
    "mov r2, r11\n" \
    "b 3\\n\\()b\n" \
    "9\\n:\n" \
    "movs r4, r2\n" \
    "ldr r3, [sp]\n" \
    "ldr r3, [r3, #24]\n" \
    "mov r11, r2\n" \
    "cmp r2, r3\n" \
    "bge 3\\n\\()b\n" \
    "mov r11, r3\n" \
    "movs r2, r3\n" \
    "b 3\\n\\()b\n"

#endif
