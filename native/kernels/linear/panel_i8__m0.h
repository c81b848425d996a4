// Panels (panel_i8.c) on a Cortex-M0+: one MULS makes two products.
//
// A word of the panel is two rows, high * 65536 + low, and times an int8 it is two products in two lanes;
// as |low| <= 2 * 127 * 128 < 2^15, two such words add up without the lanes meeting. Of a pair's word P
// the high lane is P / 65536 rounded to nearest, which ASRS leaves in a register and the carry; the low
// lane needs no splitting: the sum of all P, less the sum of the high lanes * 65536, is that of the low
// lanes modulo 2^32.
//
// Layout: depth k and k + 1 of rows 0 and 2, then of rows 1 and 3. Sums of a column: of rows 2, 3, 0, 1,
// as STM writes the registers.

#include "../../core.h"
#include "../common/registers__m0.h"
#include "finish_i8__m0.h"

typedef uint32_t panel_t;
enum { UNITS = 2, ALIGNED = 2, WORDS = -128 };

static inline void put(panel_t *panel, int32_t k, const int32_t *r) {
    panel_t *group = panel + (k >> 1) * 4 + (k & 1);
    group[0] = ((uint32_t)r[2] << 16) + (uint32_t)r[0];
    group[2] = ((uint32_t)r[3] << 16) + (uint32_t)r[1];
}

// Where a row's sum is in a column.
static inline int32_t place(int32_t row) {
    return row ^ 2;
}

// Pairs of depths of two rows, `step` bytes apart, to every other pair of words; 22 cycles per pair. Returns the
// words' sum. r0: panel, r1: low, r2: high, r3: step, r4: the offset in both, r5, r6: words, r8: their sum, r9: the end of
// the panel.
__attribute__((naked, noinline)) static uint32_t pack_pairs(panel_t *panel, const int8_t *low,
    const int8_t *high, int32_t step, int32_t pairs) {
    (void)panel, (void)low, (void)high, (void)step, (void)pairs;
    __asm volatile (
        ".syntax unified\n"
        ODT_SAVE_REGISTERS
        "movs r4, #0\n" // the offset in both rows
        "mov r8, r4\n" // the sum
        "ldr r5, [sp, #36]\n"
        "lsls r5, r5, #4\n"
        "adds r5, r5, r0\n"
        "mov r9, r5\n"
        "1:\n"
        "ldrsb r5, [r1, r4]\n"
        "ldrsb r6, [r2, r4]\n"
        "lsls r6, r6, #16\n"
        "adds r5, r5, r6\n"
        "add r8, r5\n"
        "adds r4, r4, r3\n"
        "ldrsb r6, [r1, r4]\n"
        "ldrsb r7, [r2, r4]\n"
        "lsls r7, r7, #16\n"
        "adds r6, r6, r7\n"
        "add r8, r6\n"
        "adds r4, r4, r3\n"
        "stmia r0!, {r5, r6}\n"
        "adds r0, r0, #8\n"
        "cmp r0, r9\n"
        "bne 1b\n"
        "mov r0, r8\n"
        ODT_RESTORE_REGISTERS
        );
}

// Rows `low` and `high` of depths k .., `step` bytes apart, to the panel. Returns the words' sum.
static uint32_t pack_lanes(panel_t *panel, int32_t k, const int8_t *low, const int8_t *high,
    int32_t step, int32_t count) {
    uint32_t sum = 0;
    panel_t *group = panel + (k >> 1) * 4;
    if (k & 1) {
        sum = group[1] = ((uint32_t)*high << 16) + (uint32_t)*low;
        group += 4;
        low += step;
        high += step;
        count--;
    }
    int32_t pairs = count >> 1;
    if (pairs) {
        sum += pack_pairs(group, low, high, step, pairs);
    }
    if (count & 1) {
        int32_t at = (count - 1) * step;
        sum += group[4 * pairs] = ((uint32_t)high[at] << 16) + (uint32_t)low[at];
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

#if !ODT_SMALL

// What is taken out of a panel: the sums of its words.
typedef uint32_t taken_t[2];

// Depths k .. stop - 1 become 0.
static inline void take(panel_t *panel, int32_t k, int32_t stop, uint32_t *taken) {
    for (; k < stop; k++) {
        panel_t *group = panel + (k >> 1) * 4 + (k & 1);
        taken[0] += group[0];
        taken[1] += group[2];
        group[0] = 0;
        group[2] = 0;
    }
}

// And what they were again: of the rows that begin at e[rows[0]], .., `step` bytes a depth.
static inline void put_back(panel_t *panel, int32_t k, int32_t stop, const int8_t *e, int32_t step, const int32_t *rows) {
    for (; k < stop; k++) {
        const int8_t *from = e + k * step;
        panel_t *group = panel + (k >> 1) * 4 + (k & 1);
        group[0] = ((uint32_t)from[rows[2]] << 16) + (uint32_t)from[rows[0]];
        group[2] = ((uint32_t)from[rows[3]] << 16) + (uint32_t)from[rows[1]];
    }
}

static inline void subtract(int32_t *totals, const uint32_t *taken) {
    for (int32_t i = 0; i < 2; i++) {
        totals[i] -= (int16_t)taken[i];
        totals[i + 2] -= (int32_t)(taken[i] + 0x8000) >> 16;
    }
}

#endif

#if ODT_PICO
// In SRAM, away from the flash's cache.
#define HOT __attribute__((section(".time_critical.odt_panel"), long_call))
#else
#define HOT
#endif

// Pairs of depths: sums += panel * columns. Per pair 7 cycles to load two elements of the column and
// two times 9 for the products: 25 for 8 products; 0.75 per pair for the loop; 42 per column, 39 where each
// starts from the same four words; 20 for one more depth, if `back` is odd: twice the bytes from the pairs' end to the next
// column, and 1. Stride WORDS means columns of whole aligned words: 22.5 per pair. In the loops r0: panel, r1: b, r2, r3: sums
// of upper halves, r8, r9: of all, r4, r5: words of the panel, r6, r7: elements, r10: stride, or a word of b, r11: 2 * stride,
// r12: the panel's end, lr: where the loop is entered.
HOT __attribute__((naked, noinline)) static void run_pairs(sums_t *sums, const sums_t *end,
    const panel_t *panel, const int8_t *b, int32_t stride, int32_t pairs, int32_t back,
    const int32_t *start) {
    (void)sums, (void)end, (void)panel, (void)b, (void)stride, (void)pairs, (void)back, (void)start;
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
        ODT_SAVE_REGISTERS
        "push {r0-r3}\n" // 0: sums, 4: end, 8: panel; 52: stride, 56: pairs, 60: back, 64: start
        "ldr r4, [sp, #52]\n"
        "mov r10, r4\n"
        "adds r4, r4, r4\n"
        "mov r11, r4\n"
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
        "ldr r7, [sp, #64]\n"
        "cmp r7, #0\n"
        "beq 7f\n"
        "ldmia r7!, {r2, r3, r4, r5}\n"
        "8:\n"
        "mov r8, r4\n"
        "mov r9, r5\n"
        "ldr r0, [sp, #8]\n"
        "mov pc, lr\n"
        "7:\n"
        "ldr r7, [sp]\n"
        "ldmia r7!, {r2, r3, r4, r5}\n"
        "lsls r0, r2, #16\n"
        "adds r4, r4, r0\n"
        "lsls r0, r3, #16\n"
        "adds r5, r5, r0\n"
        "b 8b\n"
        ".balign 4\n"
        "2:\n"
        "odt_depth_pair\n"
        "odt_depth_pair\n"
        "odt_depth_pair\n"
        "odt_depth_pair\n"
        "cmp r0, r12\n"
        "bne 2b\n"
        "5:\n"
        "ldr r6, [sp, #60]\n"
        "asrs r6, r6, #1\n"
        "bcs 9f\n"
        "10:\n"
        "ldr r7, [sp]\n"
        "mov r4, r8\n"
        "lsls r0, r2, #16\n"
        "subs r4, r4, r0\n"
        "mov r5, r9\n"
        "lsls r0, r3, #16\n"
        "subs r5, r5, r0\n"
        "stmia r7!, {r2, r3, r4, r5}\n"
        "str r7, [sp]\n"
        "adds r1, r1, r6\n"
        "ldr r6, [sp, #4]\n"
        "cmp r7, r6\n"
        "bne 1b\n"
        "b 6f\n"
        "9:\n"
        "ldrb r7, [r1]\n"
        "sxtb r7, r7\n"
        "ldr r4, [r0]\n"
        "ldr r5, [r0, #8]\n"
        "muls r4, r7\n"
        "muls r5, r7\n"
        "add r8, r4\n"
        "asrs r4, r4, #16\n"
        "adcs r2, r4\n"
        "add r9, r5\n"
        "asrs r5, r5, #16\n"
        "adcs r3, r5\n"
        "b 10b\n"
        ".balign 4\n"
        "3:\n"
        "odt_depth_word\n"
        "odt_depth_word\n"
        "cmp r0, r12\n"
        "bne 3b\n"
        "b 5b\n"
        "6:\n"
        "add sp, #16\n"
        ODT_RESTORE_REGISTERS
        ".purgem odt_lane_pair\n"
        ".purgem odt_depth_pair\n"
        ".purgem odt_depth_word\n"
        );
}

static void run_single(sums_t *sums, const panel_t *panel, int32_t k, const int8_t *b,
    const columns_t *c) {
    const panel_t *group = panel + (k >> 1) * 4 + (k & 1);
    uint32_t low = group[0], high = group[2];
    for (int32_t i = c->count; i; i--, b += c->step, sums++) {
        int32_t *s = *sums;
        uint32_t p = low * (uint32_t)*b, q = high * (uint32_t)*b;
        s[0] += (int32_t)(p + 0x8000) >> 16;
        s[1] += (int32_t)(q + 0x8000) >> 16;
        s[2] += (int16_t)p;
        s[3] += (int16_t)q;
    }
}

// Adds the products of depths k .. of the panel with columns that begin at b: to `start`, four words that are
// the same for all columns, if there is one.
static void run(sums_t *sums, const int32_t *start, const panel_t *panel, int32_t k, const int8_t *b,
    const columns_t *c) {
    int32_t depth = c->depth, pairs;
    if (start && ((k & 1) || depth < 2)) {
        fill_columns(sums, c->count, start);
        start = NULL;
    }
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
        int32_t length = pairs * 2 * c->stride, stride = c->stride, lanes[ROWS];
        if (stride == 1 && pairs % 2 == 0 && (((uintptr_t)b | (uintptr_t)c->step) & 3) == 0) {
            stride = WORDS;
        }
        if (start) {
            lanes[0] = start[0];
            lanes[1] = start[1];
            lanes[2] = (int32_t)((uint32_t)start[2] + ((uint32_t)start[0] << 16));
            lanes[3] = (int32_t)((uint32_t)start[3] + ((uint32_t)start[1] << 16));
            start = lanes;
        }
        run_pairs(sums, (const sums_t *)sums + c->count, panel + k * UNITS, b, stride, pairs,
            2 * (c->step - length) + (depth & 1), start);
    } else if (depth) {
        run_single(sums, panel, k, b, c);
    }
}

ODT_FINISH_AT(output_t, high, lo, max, min);

// A sum of less than 2^18 takes 24 cycles: two products, as m is of 24 bits. A larger one takes 33 more, a
// result that leaves its range 6; a row 80. In the loop r0: sum, r1: y, r4: least there was, r5, r6: m's 12 bits
// each, r7: shift, r8: offset, r9: end, r10, r11: what is neither out of range nor a new peak, r12: step.
HOT __attribute__((naked, noinline)) static void finish_rows(output_t *o) {
    (void)o;
    __asm volatile (
        ".syntax unified\n"
        ".macro odt_finish_one n, from\n"
        "1\\n:\n"
        "ldr r2, [r0, #\\from]\n"
        "add r2, r8\n"
        "lsls r3, r2, #13\n"
        "asrs r3, r3, #13\n"
        "cmp r3, r2\n"
        "bne 5\\n\\()f\n"
        ODT_FINISH
        ".endm\n"
        ".macro odt_finish_rare n\n"
        "5\\n:\n" // v * m >> 32 by halves
        "ldr r7, [sp]\n"
        "ldr r7, [r7, #56]\n"
        "uxth r6, r7\n" // m low
        "lsrs r7, r7, #16\n"
        "uxth r3, r2\n" // v low
        "asrs r2, r2, #16\n"
        "push {r4}\n"
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
        "pop {r4}\n"
        "ldr r7, [sp]\n"
        "ldr r6, [r7, #56]\n"
        "asrs r6, r6, #19\n"
        "ldr r7, [r7, #60]\n"
        "movs r3, r7\n"
        "subs r3, #13\n"
        "asrs r2, r3\n"
        "b 2\\n\\()b\n"
        ODT_FINISH_RARE
        ".endm\n"
        ODT_SAVE_REGISTERS
        "push {r0}\n"
        "ldr r3, [r0, #48]\n"
        "mov r12, r3\n"
        "ldr r3, [r0, #52]\n"
        "lsls r3, r3, #1\n"
        "adds r3, r3, #1\n"
        "mov lr, r3\n"
        "100:\n"
        "ldr r2, [sp]\n"
        "movs r7, r2\n"
        "ldmia r7!, {r0, r1, r3, r4}\n" // offsets, q, q_step, y
        "ldr r5, [r2, #36]\n" // 4 * row, for offsets; 8 more or less for sums
        "ldr r0, [r0, r5]\n"
        "mov r8, r0\n"
        "movs r0, #8\n"
        "eors r5, r0\n"
        "ldr r0, [r2, #16]\n"
        "adds r0, r0, r5\n"
        "ldr r5, [r2, #44]\n"
        "adds r5, r5, r0\n"
        "mov r9, r5\n"
        "ldr r5, [r1]\n"
        "ldr r7, [r1, #4]\n"
        "adds r1, r1, r3\n"
        "str r1, [r2, #4]\n"
        "movs r1, r4\n"
        "adds r4, r4, #1\n"
        "str r4, [r2, #12]\n"
        "subs r7, #20\n"
        "str r5, [r2, #56]\n"
        "str r7, [r2, #60]\n"
        "asrs r6, r5, #19\n"
        "lsls r5, r5, #13\n"
        "lsrs r5, r5, #20\n"
        "ldr r3, [r2, #28]\n"
        "cmp r3, #127\n"
        "ble 101f\n"
        "movs r3, #127\n"
        "101:\n"
        "mov r10, r3\n"
        "ldr r3, [r2, #24]\n"
        "ldr r4, [r2, #32]\n"
        "cmp r3, r4\n"
        "bge 102f\n"
        "movs r3, r4\n"
        "102:\n"
        "mov r11, r3\n"
        "mov r2, r9\n" // an odd one first
        "subs r2, r2, r0\n"
        "lsls r2, r2, #27\n"
        "bpl 10f\n"
        "subs r0, #16\n"
        "b 11f\n"
        "odt_finish_one 0, 0\n"
        "odt_finish_one 1, 16\n"
        "adds r0, #32\n"
        "cmp r0, r9\n"
        "bne 10b\n"
        "b 103f\n"
        "odt_finish_rare 0\n"
        "odt_finish_rare 1\n"
        "103:\n"
        "ldr r2, [sp]\n"
        "str r4, [r2, #32]\n"
        "ldr r3, [r2, #36]\n"
        "adds r3, r3, #4\n"
        "str r3, [r2, #36]\n"
        "ldr r2, [r2, #40]\n"
        "cmp r3, r2\n"
        "beq 104f\n"
        "b 100b\n"
        "104:\n"
        "pop {r0}\n"
        ODT_RESTORE_REGISTERS
        ".purgem odt_finish_one\n"
        ".purgem odt_finish_rare\n"
        );
}
