// Products of int8 matrices by panels (panel_i8.h): the inner loops of each core, then the loops
// around them. The stack holds a panel and a block of sums, 1 KB together; nothing else is needed.

#include "panel_i8.h"

#include <string.h>

#include "../fixed.h"
#include "inner_i8.h"
#include "window.h"

enum {
    ROWS = 4,   // of a panel
    DEPTH = 64, // products a panel has, even
    BLOCK = 32, // columns that are summed at a time
};

// The sums of a block of columns, four rows each, in the core's own form.
typedef int32_t sums_t[ROWS];

// What a panel is run over: `count` columns of `depth` elements, `stride` bytes apart. The columns
// start `step` bytes apart; their sums are `out_step` columns apart.
typedef struct {
    int32_t depth, stride, count, step, out_step;
} columns_t;

#if defined(__ARM_ARCH_6M__)

// Cortex-M0+: one MULS makes two products. A word of the panel is two rows, high * 65536 + low, and
// times an int8 it is two products in two lanes; as |low| <= 2 * 127 * 128 < 2^15, two such words add
// up without the lanes meeting. Of a pair's word P the high lane is P / 65536 rounded to nearest, which
// ASRS leaves in a register and the carry; the low lane needs no splitting: the sum of all P, less the
// sum of the high lanes * 65536, is that of the low lanes modulo 2^32.
//
// Layout: depth k and k + 1 of rows 0 and 2, then of rows 1 and 3. Sums of a column: of rows 2, 3, 0, 1,
// as STM writes the registers.

typedef uint32_t panel_t;
enum { UNITS = 2, WORDS = -128 }; // UNITS of a depth

static inline void put(panel_t *panel, int32_t k, const int32_t *r) {
    panel_t *group = panel + (k >> 1) * 4 + (k & 1);
    group[0] = ((uint32_t)r[2] << 16) + (uint32_t)r[0];
    group[2] = ((uint32_t)r[3] << 16) + (uint32_t)r[1];
}

// Where a row's sum is in a column.
static inline int32_t place(int32_t row) {
    return row ^ 2;
}

// Rows `low` and `high` of depths k .., `step` bytes apart, to the panel. Returns the words' sum.
static uint32_t pack_lanes(panel_t *panel, int32_t k, const int8_t *low, const int8_t *high,
    int32_t step, int32_t count) {
    uint32_t word, sum = 0;
    int32_t at = 0;
    panel_t *group = panel + (k >> 1) * 4, *end;
    if (k & 1) {
        sum = group[1] = ((uint32_t)*high << 16) + (uint32_t)*low;
        group += 4;
        at = step;
        count--;
    }
    for (end = group + (count >> 1) * 4; group != end; group += 4) {
        word = ((uint32_t)high[at] << 16) + (uint32_t)low[at];
        group[0] = word;
        sum += word;
        at += step;
        word = ((uint32_t)high[at] << 16) + (uint32_t)low[at];
        group[1] = word;
        sum += word;
        at += step;
    }
    if (count & 1) {
        word = ((uint32_t)high[at] << 16) + (uint32_t)low[at];
        group[0] = word;
        sum += word;
    }
    return sum;
}

// Four rows, which begin at w[rows[0]], .., to depths k .. of the panel; adds each row to its total.
static void pack(panel_t *panel, int32_t k, const int8_t *w, const int32_t *rows, int32_t step,
    int32_t count, int32_t *totals) {
    for (int32_t i = 0; i < 2; i++) {
        uint32_t sum = pack_lanes(panel + 2 * i, k, w + rows[i], w + rows[i + 2], step, count);
        totals[i] += (int16_t)sum; // of at most DEPTH rows: 16 bits suffice
        totals[i + 2] += (int32_t)(sum + 0x8000) >> 16;
    }
}

#if defined(PICO_ON_DEVICE) && PICO_ON_DEVICE
// In SRAM, away from the flash's cache.
#define HOT __attribute__((section(".time_critical.odt_panel"), long_call))
#else
#define HOT
#endif

// Pairs of depths: sums += panel * columns. Per pair 7 cycles to load two elements of the column and
// two times 9 for the products: 25 for 8 products; 0.75 a pair for the loop; 43 a column. Stride
// WORDS means columns of whole aligned words: 22.5 a pair.
HOT __attribute__((naked, noinline)) static void run_pairs(sums_t *sums, const sums_t *end,
    const panel_t *panel, const int8_t *b, int32_t stride, int32_t pairs, int32_t back,
    int32_t out_step) {
    (void)sums, (void)end, (void)panel, (void)b, (void)stride, (void)pairs, (void)back, (void)out_step;
    __asm volatile (
        ".syntax unified\n"
        ".macro odt_lane_pair high, low\n" // 9 cycles
        "ldmia r0!, {r4, r5}\n"
        "muls r4, r6\n"
        "muls r5, r7\n"
        "adds r4, r4, r5\n"
        "add \\low, r4\n"
        "asrs r4, r4, #16\n"
        "adcs \\high, r4\n"
        ".endm\n"
        ".macro odt_depth_pair\n" // 25 cycles, 38 bytes
        "ldrb r6, [r1]\n"
        "sxtb r6, r6\n"
        "mov r7, r10\n"
        "ldrsb r7, [r1, r7]\n"
        "add r1, r11\n"
        "odt_lane_pair r2, r8\n"
        "odt_lane_pair r3, r9\n"
        ".endm\n"
        ".macro odt_depth_word\n" // 45 cycles, 74 bytes: two pairs from an aligned word
        "ldmia r1!, {r7}\n"
        "mov r10, r7\n"
        "sxtb r6, r7\n"
        "lsls r7, r7, #16\n"
        "asrs r7, r7, #24\n"
        "odt_lane_pair r2, r8\n"
        "odt_lane_pair r3, r9\n"
        "mov r7, r10\n"
        "lsls r6, r7, #8\n"
        "asrs r6, r6, #24\n"
        "asrs r7, r7, #24\n"
        "odt_lane_pair r2, r8\n"
        "odt_lane_pair r3, r9\n"
        ".endm\n"
        "push {r4-r7, lr}\n"
        "mov r4, r8\n"
        "mov r5, r9\n"
        "mov r6, r10\n"
        "mov r7, r11\n"
        "push {r4-r7}\n"
        "push {r0-r3}\n" // 0: sums, 4: end, 8: panel; 52: stride, 56: pairs, 60: back, 64: out_step
        "ldr r4, [sp, #52]\n"
        "mov r10, r4\n"
        "adds r4, r4, r4\n"
        "mov r11, r4\n"
        "ldr r4, [sp, #64]\n"
        "subs r4, r4, #1\n"
        "lsls r4, r4, #4\n"
        "str r4, [sp, #64]\n"
        "ldr r5, [sp, #56]\n"
        "lsls r4, r5, #4\n"
        "adds r4, r4, r2\n"
        "mov r12, r4\n" // the panel's end
        "mov r1, r3\n"
        "rsbs r5, r5, #0\n" // to enter the loop so that pairs modulo 4 are done first
        "movs r4, #3\n"
        "ands r5, r4\n"
        "movs r4, #38\n"
        "muls r5, r4\n"
        "adr r4, 2f\n"
        "ldr r6, [sp, #52]\n"
        "adds r6, r6, #128\n"
        "bne 4f\n"
        "adr r4, 3f\n" // columns of words: pairs are even, so r5 is 0 or 76 and becomes 0 or 74
        "lsrs r6, r5, #5\n"
        "subs r5, r5, r6\n"
        "4:\n"
        "adds r4, r4, r5\n"
        "mov lr, r4\n"
        "1:\n"
        "ldr r7, [sp]\n"
        "ldmia r7!, {r2, r3, r4, r5}\n"
        "lsls r0, r2, #16\n"
        "adds r4, r4, r0\n"
        "mov r8, r4\n"
        "lsls r0, r3, #16\n"
        "adds r5, r5, r0\n"
        "mov r9, r5\n"
        "ldr r0, [sp, #8]\n"
        "mov pc, lr\n"
        ".balign 4\n"
        "2:\n"
        "odt_depth_pair\n"
        "odt_depth_pair\n"
        "odt_depth_pair\n"
        "odt_depth_pair\n"
        "cmp r0, r12\n"
        "bne 2b\n"
        "5:\n"
        "ldr r7, [sp]\n"
        "mov r4, r8\n"
        "lsls r0, r2, #16\n"
        "subs r4, r4, r0\n"
        "mov r5, r9\n"
        "lsls r0, r3, #16\n"
        "subs r5, r5, r0\n"
        "stmia r7!, {r2, r3, r4, r5}\n"
        "ldr r6, [sp, #64]\n" // columns of sums to leave out, in bytes
        "adds r7, r7, r6\n"
        "str r7, [sp]\n"
        "ldr r6, [sp, #60]\n"
        "adds r1, r1, r6\n"
        "ldr r6, [sp, #4]\n"
        "cmp r7, r6\n"
        "bne 1b\n"
        "b 6f\n"
        ".balign 4\n"
        "3:\n"
        "odt_depth_word\n"
        "odt_depth_word\n"
        "cmp r0, r12\n"
        "bne 3b\n"
        "b 5b\n"
        "6:\n"
        "add sp, #16\n"
        "pop {r4-r7}\n"
        "mov r8, r4\n"
        "mov r9, r5\n"
        "mov r10, r6\n"
        "mov r11, r7\n"
        "pop {r4-r7, pc}\n"
        ".purgem odt_lane_pair\n"
        ".purgem odt_depth_pair\n"
        ".purgem odt_depth_word\n"
        );
}

static void run_single(sums_t *sums, const panel_t *panel, int32_t k, const int8_t *b,
    const columns_t *c) {
    const panel_t *group = panel + (k >> 1) * 4 + (k & 1);
    uint32_t low = group[0], high = group[2];
    for (int32_t i = c->count; i; i--, b += c->step, sums += c->out_step) {
        int32_t *s = *sums;
        uint32_t p = low * (uint32_t)*b, q = high * (uint32_t)*b;
        s[0] += (int32_t)(p + 0x8000) >> 16;
        s[1] += (int32_t)(q + 0x8000) >> 16;
        s[2] += (int16_t)p;
        s[3] += (int16_t)q;
    }
}

// The way of one row from sums to outputs. A result above `top` or below `bottom` is out of range or
// a new peak, or both.
typedef struct {
    int32_t offset;             // 0
    const sums_t *end;          // 4
    int8_t *y;                  // 8
    int32_t step, zy;           // 12, 16
    int32_t high, low;          // 20, 24: of the result before zy is added
    int32_t max, min;           // 28, 32: what there was
    int32_t top, bottom;        // 36, 40
    int32_t m_low, m_high;      // 44, 48: 12 bits each
    int32_t shift;              // 52: q.s - 20
    int32_t m;                  // 56: q.m
} output_t;

// A sum of less than 2^18 takes 27 cycles: two products, as m is of 24 bits. A larger one takes 31 more,
// a result that leaves its range 10.
HOT __attribute__((naked, noinline)) static void finish_row(const int32_t *sums, output_t *o) {
    (void)sums, (void)o;
    __asm volatile (
        ".syntax unified\n"
        "push {r4-r7, lr}\n"
        "mov r4, r8\n"
        "mov r5, r9\n"
        "mov r6, r10\n"
        "mov r7, r11\n"
        "push {r4-r7}\n"
        "push {r1}\n"
        "ldr r3, [r1]\n"
        "mov r8, r3\n"
        "ldr r3, [r1, #4]\n"
        "mov r9, r3\n"
        "ldr r3, [r1, #36]\n"
        "mov r10, r3\n"
        "ldr r3, [r1, #40]\n"
        "mov r11, r3\n"
        "ldr r3, [r1, #12]\n"
        "mov r12, r3\n"
        "ldr r3, [r1, #16]\n"
        "mov lr, r3\n"
        "ldr r5, [r1, #44]\n"
        "ldr r6, [r1, #48]\n"
        "ldr r7, [r1, #52]\n"
        "ldr r1, [r1, #8]\n"
        "1:\n"
        "ldr r2, [r0]\n"
        "add r2, r8\n"
        "lsls r3, r2, #13\n"
        "asrs r3, r3, #13\n"
        "cmp r3, r2\n"
        "bne 5f\n"
        "muls r3, r5\n" // (v * m_high + (v * m_low >> 12)) >> shift, rounded
        "asrs r3, r3, #12\n"
        "muls r2, r6\n"
        "adds r2, r2, r3\n"
        "asrs r2, r7\n"
        "2:\n"
        "adds r2, r2, #1\n"
        "asrs r2, r2, #1\n"
        "cmp r2, r10\n"
        "bgt 6f\n"
        "cmp r2, r11\n"
        "blt 8f\n"
        "3:\n"
        "add r2, lr\n"
        "strb r2, [r1]\n"
        "add r1, r12\n"
        "adds r0, #16\n"
        "cmp r0, r9\n"
        "bne 1b\n"
        "b 9f\n"
        "5:\n" // v * m >> 32 by halves
        "ldr r7, [sp]\n"
        "ldr r7, [r7, #56]\n"
        "uxth r6, r7\n" // m low
        "lsrs r7, r7, #16\n"
        "uxth r3, r2\n" // v low
        "asrs r2, r2, #16\n"
        "movs r4, r3\n"
        "muls r4, r6\n"
        "lsrs r4, r4, #16\n"
        "muls r3, r7\n"
        "adds r3, r3, r4\n"
        "muls r6, r2\n"
        "muls r2, r7\n"
        "uxth r4, r6\n"
        "adds r3, r3, r4\n"
        "lsrs r3, r3, #16\n"
        "asrs r6, r6, #16\n"
        "adds r2, r2, r6\n"
        "adds r2, r2, r3\n"
        "ldr r4, [sp]\n"
        "ldr r6, [r4, #48]\n"
        "ldr r7, [r4, #52]\n"
        "movs r3, r7\n"
        "subs r3, #13\n"
        "asrs r2, r3\n"
        "b 2b\n"
        "6:\n" // out of range, if no new peak
        "ldr r4, [sp]\n"
        "ldr r3, [r4, #28]\n"
        "cmp r2, r3\n"
        "bgt 7f\n"
        "mov r2, r10\n"
        "b 3b\n"
        "7:\n"
        "str r2, [r4, #28]\n"
        "ldr r3, [r4, #20]\n"
        "mov r10, r2\n"
        "cmp r2, r3\n"
        "ble 3b\n"
        "mov r10, r3\n"
        "movs r2, r3\n"
        "b 3b\n"
        "8:\n"
        "ldr r4, [sp]\n"
        "ldr r3, [r4, #32]\n"
        "cmp r2, r3\n"
        "blt 7f\n"
        "mov r2, r11\n"
        "b 3b\n"
        "7:\n"
        "str r2, [r4, #32]\n"
        "ldr r3, [r4, #24]\n"
        "mov r11, r2\n"
        "cmp r2, r3\n"
        "bge 3b\n"
        "mov r11, r3\n"
        "movs r2, r3\n"
        "b 3b\n"
        "9:\n"
        "add sp, #4\n"
        "pop {r4-r7}\n"
        "mov r8, r4\n"
        "mov r9, r5\n"
        "mov r10, r6\n"
        "mov r11, r7\n"
        "pop {r4-r7, pc}\n"
        );
}

static void finish_columns(const sums_t *sums, int32_t at, int32_t offset, odt_multiplier_t q,
    int32_t zy, int32_t lo, int32_t count, int8_t *y, int32_t step, int32_t *max, int32_t *min) {
    int32_t m = q.m >> 7;
    output_t o = {.offset = offset, .y = y, .step = step, .zy = zy, .high = 127 - zy, .low = lo - zy,
        .max = *max, .min = *min, .m_low = m & 4095, .m_high = m >> 12, .shift = q.s - 20, .m = q.m};
    o.end = (const sums_t *)(const void *)(*(sums + count) + at);
    o.top = odt_min(o.max, o.high);
    o.bottom = odt_max(o.min, o.low);
    finish_row(*sums + at, &o);
    *max = o.max;
    *min = o.min;
}

#else

// A panel is int16, depths k and k + 1 of row 0, of row 1, ..: what SMLAD multiplies.
// Sums are those of the rows.

typedef int16_t panel_t;
enum { UNITS = 4 }; // of a depth

static inline int32_t place(int32_t row) {
    return row;
}

static void pack(panel_t *panel, int32_t k, const int8_t *w, const int32_t *rows, int32_t step,
    int32_t count, int32_t *totals) {
    panel += (k >> 1) * 8;
    for (int32_t row = 0; row < ROWS; row++, panel += 2) {
        const int8_t *from = w + rows[row];
        panel_t *to = panel;
        int32_t left = count, sum = 0;
        if (k & 1) {
            sum = to[1] = *from;
            from += step;
            to += 8;
            left--;
        }
        for (; left > 1; left -= 2, to += 8) {
            int32_t first = *from, second;
            from += step;
            second = *from;
            from += step;
            sum += first + second;
            to[0] = (panel_t)first;
            to[1] = (panel_t)second;
        }
        if (left) {
            sum += to[0] = *from;
        }
        totals[row] += sum;
    }
}

static void run_single(sums_t *sums, const panel_t *panel, int32_t k, const int8_t *b,
    const columns_t *c) {
    const panel_t *group = panel + (k >> 1) * 8 + (k & 1);
    int32_t p0 = group[0], p1 = group[2], p2 = group[4], p3 = group[6];
    for (int32_t i = c->count; i; i--, b += c->step, sums += c->out_step) {
        int32_t *s = *sums;
        s[0] += p0 * *b;
        s[1] += p1 * *b;
        s[2] += p2 * *b;
        s[3] += p3 * *b;
    }
}

#if defined(__ARM_FEATURE_DSP) && __ARM_FEATURE_DSP

// Cortex-M4 and later: a pair of elements, four words of the panel, four SMLAD. 5 instructions for 8
// products, 3 more to load the elements where they are apart, 2.5 where they are not.
#define ADD_PAIR(b) \
    __asm volatile ( \
        "ldmia %0!, {r4, r5, r6, r8}\n" \
        "smlad %1, r4, %5, %1\n" \
        "smlad %2, r5, %5, %2\n" \
        "smlad %3, r6, %5, %3\n" \
        "smlad %4, r8, %5, %4\n" \
        : "+r" (p), "+r" (s0), "+r" (s1), "+r" (s2), "+r" (s3) : "r" (b) \
        : "r4", "r5", "r6", "r8", "memory")

static void run_pairs(sums_t *sums, const sums_t *end, const panel_t *panel, const int8_t *b,
    int32_t stride, int32_t pairs, int32_t back, int32_t out_step) {
    for (; sums != end; sums += out_step, b += back) {
        const panel_t *p = panel;
        int32_t *s = *sums, s0 = s[0], s1 = s[1], s2 = s[2], s3 = s[3], pair, second;
        int32_t left = pairs;
        if (stride == 1) {
            for (const int8_t *last = b + (pairs >> 1) * 4; b != last;) {
                int32_t word, odd;
                memcpy(&word, b, 4); // which may lie anywhere
                b += 4;
                __asm ("sxtb16 %0, %1, ror #8" : "=r" (odd) : "r" (word));
                __asm ("sxtb16 %0, %1" : "=r" (word) : "r" (word));
                __asm ("pkhbt %0, %1, %2, lsl #16" : "=r" (pair) : "r" (word), "r" (odd));
                __asm ("pkhtb %0, %1, %2, asr #16" : "=r" (second) : "r" (odd), "r" (word));
                ADD_PAIR(pair);
                ADD_PAIR(second);
            }
            left &= 1;
        }
        for (; left; left--) {
            pair = *b;
            b += stride;
            second = *b;
            b += stride;
            __asm ("pkhbt %0, %1, %2, lsl #16" : "=r" (pair) : "r" (pair), "r" (second));
            ADD_PAIR(pair);
        }
        s[0] = s0;
        s[1] = s1;
        s[2] = s2;
        s[3] = s3;
    }
}

#else

static void run_pairs(sums_t *sums, const sums_t *end, const panel_t *panel, const int8_t *b,
    int32_t stride, int32_t pairs, int32_t back, int32_t out_step) {
    for (; sums != end; sums += out_step, b += back) {
        const panel_t *p = panel;
        int32_t *s = *sums, s0 = s[0], s1 = s[1], s2 = s[2], s3 = s[3];
        for (int32_t i = pairs; i; i--, p += 8, b += 2 * stride) {
            int32_t b0 = *b, b1 = b[stride];
            s0 += p[0] * b0 + p[1] * b1;
            s1 += p[2] * b0 + p[3] * b1;
            s2 += p[4] * b0 + p[5] * b1;
            s3 += p[6] * b0 + p[7] * b1;
        }
        s[0] = s0;
        s[1] = s1;
        s[2] = s2;
        s[3] = s3;
    }
}

#endif

#endif

// Adds the products of depths k .. of the panel with columns that begin at b.
static void run(sums_t *sums, const panel_t *panel, int32_t k, const int8_t *b, const columns_t *c) {
    int32_t depth = c->depth, pairs;
    if (depth <= 0 || c->count <= 0) {
        return;
    }
    if (k & 1) {
        run_single(sums, panel, k++, b, c);
        b += c->stride;
        depth--;
    }
    pairs = depth >> 1;
    if (pairs) {
        int32_t length = pairs * 2 * c->stride, stride = c->stride;
        #if defined(__ARM_ARCH_6M__)
        if (stride == 1 && pairs % 2 == 0 && (((uintptr_t)b | (uintptr_t)c->step) & 3) == 0) {
            stride = WORDS;
        }
        #endif
        run_pairs(sums, (const sums_t *)sums + c->count * c->out_step, panel + k * UNITS, b, stride,
            pairs, c->step - length, c->out_step);
        b += length;
        k += pairs * 2;
    }
    if (depth & 1) {
        run_single(sums, panel, k, b, c);
    }
}

#if !defined(__ARM_ARCH_6M__)

// y = clamp(zy + q * (sum + offset)) of one row; shifts above 32, so that no result overflows.
static void finish_columns(const sums_t *sums, int32_t at, int32_t offset, odt_multiplier_t q,
    int32_t zy, int32_t lo, int32_t count, int8_t *y, int32_t step, int32_t *max, int32_t *min) {
    int32_t shift = q.s - 32, half = 1 << (shift - 1), top = *max, bottom = *min;
    for (; count; count--, sums++, y += step) {
        int64_t product = (int64_t)((*sums)[at] + offset) * q.m;
        int32_t v = ((int32_t)(product >> 32) + half) >> shift;
        top = odt_max(top, v);
        bottom = odt_min(bottom, v);
        *y = (int8_t)odt_limit(v + zy, lo, 127);
    }
    *max = top;
    *min = bottom;
}

#endif

void odt_finish_i8(const int32_t (*sums)[4], int32_t at, int32_t offset, const odt_multiplier_t *scale,
    int32_t zy, int32_t lo, int32_t count, int8_t *y, int32_t step, int32_t *peak) {
    odt_multiplier_t q = odt_checked(scale);
    // As it is, unless a scale has run away or a program is wrong.
    if (q.s >= 33 && q.m >= 0 && q.m % 128 == 0 && zy == (int8_t)zy && lo == (int8_t)lo) {
        int32_t max = *peak, min = lo == zy ? INT32_MIN : 0;
        finish_columns(sums, at, offset, q, zy, lo, count, y, step, &max, &min);
        *peak = lo == zy ? max : odt_max(max, -min);
        return;
    }
    for (; count; count--, sums++, y += step) {
        *y = odt_clamp(odt_rescaled((*sums)[at] + offset, q), zy, lo, peak);
    }
}

// As memset, which takes longer on an RP2040.
static void clear_words(int32_t *words, int32_t count) {
    int32_t *end = words + (count & ~3);
    for (; words != end; words += 4) {
        words[0] = 0;
        words[1] = 0;
        words[2] = 0;
        words[3] = 0;
    }
    for (count &= 3; count; count--) {
        *words++ = 0;
    }
}

// --- forward, and the gradient of the input ----------------------------------------------------

typedef struct {
    panel_t panel[DEPTH * UNITS];
    sums_t sums[BLOCK];
} scratch_t;

// Part `from` .. `to` of row kh of the filters n .. n + 3, whose depths are kw and c, to depth `k` of
// the panel. Adds each filter's weights to `totals`. Rows that there are not are copies of the last.
static void pack_filters(const odt_correlation_t *a, int32_t n, int32_t kh, int32_t from, int32_t to,
    panel_t *panel, int32_t k, int32_t *totals) {
    int32_t rows[ROWS], last = a->N - 1 - n;
    for (int32_t i = 0; i < ROWS; i++) {
        rows[i] = odt_min(i, last) * a->w_n;
    }
    // As long as depths are equally far apart: to the end of a tap, or of the row.
    int32_t run = a->w_kw == a->C * a->w_c ? a->KW * a->C : a->C;
    const int8_t *w = a->w + n * a->w_n + kh * a->w_kh;
    while (from < to) {
        int32_t kw = from / a->C, c = from - kw * a->C;
        int32_t count = odt_min(to - from, run - from % run);
        pack(panel, k, w + kw * a->w_kw + c * a->w_c, rows, a->w_c, count, totals);
        from += count;
        k += count;
    }
}

// One row of outputs, ow = first .. first + count - 1: the products of part `from` .. `to` of the
// filters' row kh, which lies at depth k of the panel.
static void correlate_row(const odt_correlation_t *a, int32_t row, int32_t first, int32_t count,
    int32_t kh, int32_t from, int32_t to, const panel_t *panel, int32_t k, sums_t *sums) {
    int8_t outside = (int8_t)a->zx;
    int32_t b = row / a->OH, ih = (row - b * a->OH) * a->SH - a->top + kh;
    if (ih < 0 || ih >= a->H) {
        if (outside) {
            columns_t c = {to - from, 0, count, 0, 1};
            run(sums, panel, k, &outside, &c);
        }
        return;
    }
    const int8_t *x = a->x + (b * a->H + ih) * a->W * a->C;
    int32_t C = a->C, SW = a->SW, end = first + count, ow = first;
    while (ow < end) {
        int32_t iw = ow * SW - a->left;
        if (iw >= 0 && iw + a->KW <= a->W) { // all that lie inside as a whole
            int32_t whole = odt_min((a->W - a->KW - iw) / SW + 1, end - ow);
            columns_t c = {to - from, 1, whole, SW * C, 1};
            run(sums, panel, k, x + iw * C + from, &c);
            sums += whole;
            ow += whole;
            continue;
        }
        odt_taps_t taps = odt_taps(iw, a->KW, a->W);
        int32_t inside = odt_limit(taps.from * C, from, to), beyond = odt_limit(taps.to * C, from, to);
        columns_t c = {beyond - inside, 1, 1, 0, 1};
        run(sums, panel, k + inside - from, x + iw * C + inside, &c);
        if (outside) {
            c.stride = 0;
            c.depth = inside - from;
            run(sums, panel, k, &outside, &c);
            c.depth = to - beyond;
            run(sums, panel, k + beyond - from, &outside, &c);
        }
        sums++;
        ow++;
    }
}

void odt_correlate_i8(const odt_correlation_t *a) {
    scratch_t s;
    int32_t length = a->KW * a->C, padded = (length + 1) & ~1, depth = a->KH * padded;
    int32_t rows = a->B * a->OH, columns = odt_min(a->OW, BLOCK);
    int32_t block = a->OW < BLOCK ? BLOCK / a->OW : 1; // rows of outputs at a time
    int32_t totals[ROWS];
    int is_dense = a->y_oh == a->OW * a->y_ow && (a->B == 1 || a->y_b == a->OH * a->y_oh);
    for (int32_t n = 0; n < a->N; n += ROWS) {
        int32_t packed = -1; // the depth that the panel begins with
        for (int32_t row = 0; row < rows; row += block) {
            odt_poll();
            int32_t stop = odt_min(row + block, rows);
            for (int32_t ow = 0; ow < a->OW; ow += columns) {
                int32_t count = odt_min(columns, a->OW - ow);
                clear_words(*s.sums, (stop - row) * count * ROWS);
                if (depth == 0 || packed < 0 || depth > DEPTH) {
                    memset(totals, 0, sizeof(totals));
                }
                for (int32_t k = 0; k < depth; k += DEPTH) {
                    int32_t end = odt_min(k + DEPTH, depth), is_packed = packed == k;
                    packed = k;
                    for (int32_t kh = k / padded, at = k; at < end; kh++) {
                        int32_t from = at - kh * padded;
                        int32_t to = odt_min(length, end - kh * padded);
                        if (!is_packed) {
                            pack_filters(a, n, kh, from, to, s.panel, at - k, totals);
                        }
                        sums_t *sums = s.sums;
                        for (int32_t r = row; r < stop; r++, sums += count) {
                            correlate_row(a, r, ow, count, kh, from, to, s.panel, at - k, sums);
                        }
                        at = odt_min((kh + 1) * padded, end);
                    }
                }
                // Rows that follow one another in y are finished as one.
                int32_t at_once = is_dense && count == a->OW ? stop - row : 1;
                sums_t *sums = s.sums;
                for (int32_t r = row; r < stop; r += at_once, sums += count) {
                    int32_t b = r / a->OH;
                    int8_t *y = a->y + b * a->y_b + (r - b * a->OH) * a->y_oh + ow * a->y_ow + n;
                    for (int32_t i = 0; i < odt_min(ROWS, a->N - n); i++) {
                        int32_t offset = (a->bias ? a->bias[n + i] : 0) - a->zx * totals[i];
                        odt_finish_i8((const int32_t (*)[4])sums, place(i), offset,
                            &a->q[(n + i) * a->q_step], a->zy, a->lo, count * at_once, y + i, a->y_ow,
                            a->peak);
                    }
                }
            }
        }
    }
}

// --- the gradient of the filters ----------------------------------------------------------------

#if defined(__ARM_ARCH_6M__)

// No error is -128 (numerics.md). Were it, lanes would meet where x is -128 too: so it is taken as -127
// and one more.

static int is_extreme(const int8_t *e, int32_t count) {
    uint32_t word, found = 0;
    for (; count > 0 && ((uintptr_t)e & 3); count--) {
        found |= *e++ == -128;
    }
    for (; count >= 4; count -= 4, e += 4) {
        memcpy(&word, __builtin_assume_aligned(e, 4), 4);
        word ^= 0x80808080;
        found |= (word - 0x01010101) & ~word & 0x80808080;
    }
    for (; count > 0; count--) {
        found |= *e++ == -128;
    }
    return found != 0;
}

// dw -= x - zx for channel n of output `ow` of a row.
static void add_error(const odt_filter_gradient_t *a, int32_t n, int32_t row, int32_t ow) {
    int32_t b = row / a->OH, ih = (row - b * a->OH) * a->SH - a->top, iw = ow * a->SW - a->left;
    odt_taps_t th = odt_taps(ih, a->KH, a->H), tw = odt_taps(iw, a->KW, a->W);
    for (int32_t kh = th.from; kh < th.to; kh++) {
        for (int32_t kw = tw.from; kw < tw.to; kw++) {
            int32_t *dw = a->dw + ((n * a->KH + kh) * a->KW + kw) * a->C;
            const int8_t *x = a->x + ((b * a->H + ih + kh) * a->W + iw + kw) * a->C;
            for (int32_t c = 0; c < a->C; c++) {
                dw[c] -= x[c] - a->zx;
            }
        }
    }
}

static void tame_errors(const odt_filter_gradient_t *a, int32_t n, int32_t row, int32_t first,
    int32_t count, panel_t *panel, int32_t k) {
    const int8_t *e = a->e + (row * a->OW + first) * a->e_step + n;
    for (int32_t ow = first; ow < first + count; ow++, k++, e += a->e_step) {
        int32_t r[ROWS] = {0};
        for (int32_t i = 0; i < odt_min(ROWS, a->N - n); i++) {
            r[i] = e[i];
            if (r[i] == -128) {
                r[i] = -127;
                add_error(a, n + i, row, ow);
            }
        }
        put(panel, k, r);
    }
}

#endif

void odt_filter_gradient_i8(const odt_filter_gradient_t *a) {
    scratch_t s;
    static const int8_t one = 1;
    int32_t C = a->C, SW = a->SW, rows = a->B * a->OH, filter = a->KH * a->KW * C;
    int32_t columns = odt_min(a->OW, DEPTH), padded = (columns + 1) & ~1;
    int32_t block = a->OW < DEPTH ? DEPTH / padded : 1; // rows of errors at a time
    #if defined(__ARM_ARCH_6M__)
    int extreme = is_extreme(a->e, (rows * a->OW - 1) * a->e_step + a->N);
    #endif
    int is_whole = rows <= block && a->OW <= columns; // one panel holds all errors of a channel
    #if defined(__ARM_ARCH_6M__)
    is_whole = is_whole && !extreme;
    #endif
    if (!is_whole) {
        clear_words(a->dw, a->N * filter);
    }
    for (int32_t n = 0; n < a->N; n += ROWS) {
        int32_t channels = odt_min(ROWS, a->N - n), errors[ROWS], unused[ROWS] = {0};
        for (int32_t i = 0; i < ROWS; i++) {
            errors[i] = odt_min(i, channels - 1);
        }
        for (int32_t row = 0; row < rows; row += block) {
            odt_poll();
            int32_t stop = odt_min(row + block, rows);
            for (int32_t first = 0; first < a->OW; first += columns) {
                int32_t end = odt_min(first + columns, a->OW);
                for (int32_t r = row; r < stop; r++) {
                    const int8_t *e = a->e + (r * a->OW + first) * a->e_step + n;
                    pack(s.panel, (r - row) * padded, e, errors, a->e_step, end - first, unused);
                    #if defined(__ARM_ARCH_6M__)
                    if (extreme) {
                        tame_errors(a, n, r, first, end - first, s.panel, (r - row) * padded);
                    }
                    #endif
                }
                for (int32_t kh = 0, tap = 0; kh < a->KH; kh++) {
                    for (int32_t kw = 0; kw < a->KW; kw++, tap++) {
                        odt_taps_t o = odt_outputs(kw, a->left, SW, a->W, a->OW);
                        int32_t from = odt_max(o.from, first), depth = odt_min(o.to, end) - from;
                        if (depth <= 0 && !is_whole) {
                            continue;
                        }
                        for (int32_t c = 0; c < C; c += BLOCK) {
                            int32_t count = odt_min(BLOCK, C - c);
                            const columns_t inputs = {depth, SW * C, count, 1, 1};
                            const columns_t ones = {depth, 0, 1, 0, 1};
                            sums_t total = {0};
                            clear_words(*s.sums, count * ROWS);
                            for (int32_t r = row; r < stop; r++) {
                                int32_t b = r / a->OH, ih = (r - b * a->OH) * a->SH - a->top + kh;
                                if (ih < 0 || ih >= a->H) {
                                    continue;
                                }
                                int32_t k = (r - row) * padded + from - first;
                                int32_t iw = from * SW - a->left + kw;
                                run(s.sums, s.panel, k,
                                    a->x + ((b * a->H + ih) * a->W + iw) * C + c, &inputs);
                                if (a->zx) {
                                    run(&total, s.panel, k, &one, &ones);
                                }
                            }
                            for (int32_t i = 0; i < channels; i++) {
                                int32_t *dw = a->dw + (n + i) * filter + tap * C + c;
                                int32_t *to = dw + count, offset = a->zx * total[place(i)];
                                const int32_t *sum = &s.sums[0][place(i)];
                                if (is_whole) {
                                    for (; dw != to; sum += ROWS) {
                                        *dw++ = *sum - offset;
                                    }
                                }
                                for (; dw != to; sum += ROWS) {
                                    *dw++ += *sum - offset;
                                }
                            }
                        }
                    }
                }
            }
        }
    }
}
