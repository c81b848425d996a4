// Panels (panel_i8.c) on a Cortex-M0+: one MULS makes two products.
//
// A word of the panel is two rows, high * 65536 + low, and times an int8 it is two products in two lanes;
// as |low| <= 2 * 127 * 128 < 2^15, two such words add up without the lanes meeting. Of a pair's word P
// the high lane is P / 65536 rounded to nearest, which ASRS leaves in a register and the carry; the low
// lane needs no splitting: the sum of all P, less the sum of the high lanes * 65536, is that of the low
// lanes modulo 2^32.
//
// Layout: depth k and k + 1 of rows 2 and 0, low and high, then of rows 3 and 1.

#include "../../core.h"
#include "../common/registers__m0.h"
#include "finish_i8__m0.h"

typedef uint32_t panel_t;
enum { UNITS = 2, ALIGNED = 2 };

static inline void put(panel_t *panel, int32_t k, const int32_t *r) {
    panel_t *group = panel + (k >> 1) * 4 + (k & 1);
    group[0] = ((uint32_t)r[0] << 16) + (uint32_t)r[2];
    group[2] = ((uint32_t)r[1] << 16) + (uint32_t)r[3];
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

// Four rows, which begin at w[rows[0]], .., to depths k .. of the panel, at most AT_ONCE; adds each row to its total.
static void pack(panel_t *panel, int32_t k, const int8_t *w, const int32_t *rows, int32_t step,
    int32_t count, int32_t *totals) {
    for (int32_t i = 0; i < 2; i++) {
        uint32_t sum = pack_lanes(panel + 2 * i, k, w + rows[i + 2], w + rows[i], step, count);
        totals[i] += (int32_t)(sum + 0x8000) >> 16;
        totals[i + 2] += (int16_t)sum;
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
        group[0] = ((uint32_t)from[rows[0]] << 16) + (uint32_t)from[rows[2]];
        group[2] = ((uint32_t)from[rows[1]] << 16) + (uint32_t)from[rows[3]];
    }
}

static inline void subtract(int32_t *totals, const uint32_t *taken) {
    for (int32_t i = 0; i < 2; i++) {
        totals[i] -= (int32_t)(taken[i] + 0x8000) >> 16;
        totals[i + 2] -= (int16_t)taken[i];
    }
}

#endif

#if ODT_PICO
// In SRAM, away from the flash's cache.
#define HOT __attribute__((section(".time_critical.odt_panel"), long_call))
#else
#define HOT
#endif

// Pairs of depths: sums += panel * columns, or where all columns start if that is not NULL. Per pair 7 cycles to load two elements
// of the column and two times 9 for the products: 25 for 8 products; 0.75 per pair for the loop; 39 per column, 27 where each
// starts from 0, 36 from other words; 20 for one more depth. 22.5 per pair where columns are whole aligned words. In the loops r0:
// panel, r1: b, r2, r3: sums of upper halves, r8, r9: of all, r4, r5: words of the panel, r6, r7: elements, r10: stride, or a word
// of b, r11: 2 * stride, r12: the panel's end, lr: where the loop is entered. About 110 around them.
HOT __attribute__((naked, noinline)) static void run_pairs(sums_t *sums, const int32_t *start, const panel_t *panel,
    const int8_t *b, const columns_t *c) {
    (void)sums, (void)start, (void)panel, (void)b, (void)c;
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
        "cmp r1, #0\n"
        "beq 1f\n"
        "ldmia r1!, {r4-r7}\n"
        "lsls r1, r4, #16\n" // the sums of all, from those of lower halves
        "adds r6, r6, r1\n"
        "lsls r1, r5, #16\n"
        "adds r7, r7, r1\n"
        "push {r4-r7}\n"
        "mov r1, sp\n"
        "orrs r4, r5\n"
        "orrs r4, r6\n"
        "orrs r4, r7\n"
        "subs r5, r4, #1\n"
        "sbcs r4, r5\n" // 0, if they are, or 1
        "b 2f\n"
        "1:\n"
        "sub sp, #16\n"
        "movs r4, #1\n"
        "2:\n"
        "mov r9, r1\n"
        "ldr r7, [sp, #52]\n"
        "ldmia r7!, {r5, r6}\n" // depth, stride
        "lsrs r5, r5, #1\n"
        "adcs r4, r4\n" // with an odd depth
        "mov r10, r6\n"
        "adds r6, r6, r6\n"
        "mov r11, r6\n"
        "muls r6, r5\n"
        "ldmia r7!, {r1}\n" // count
        "lsls r1, r1, #4\n"
        "adds r1, r1, r0\n" // the end of sums
        "ldr r7, [r7]\n" // step
        "subs r6, r7, r6\n"
        "lsls r6, r6, #2\n"
        "adds r4, r4, r6\n" // with what is to be added to b after a column
        "lsls r6, r5, #4\n"
        "adds r6, r6, r2\n"
        "mov r12, r6\n" // the panel's end
        "rsbs r5, r5, #0\n" // to enter the loop so that pairs modulo 4 are done first
        "movs r6, #3\n"
        "ands r5, r6\n"
        "orrs r7, r3\n"
        "lsls r7, r7, #30\n"
        "bne 3f\n"
        "mov r7, r10\n"
        "cmp r7, #1\n"
        "bne 3f\n"
        "lsrs r7, r5, #1\n"
        "bcs 3f\n"
        "movs r7, #37\n" // pairs are even: two by two
        "muls r5, r7\n"
        "adr r6, 5f\n"
        "b 4f\n"
        "3:\n"
        "movs r7, #38\n"
        "muls r5, r7\n"
        "adr r6, 6f\n"
        "4:\n"
        "adds r6, r6, r5\n"
        "mov lr, r6\n"
        "mov r5, r9\n"
        "push {r0-r2, r4, r5}\n" // 0: sums, 4: end, 8: panel, 12: back, 16: start
        "mov r1, r3\n"
        "movs r7, r0\n"
        "asrs r6, r4, #2\n"
        "bcc 8f\n"
        "1:\n"
        "ldr r0, [sp, #16]\n"
        "cmp r0, #0\n"
        "beq 7f\n"
        "ldmia r0!, {r2, r3, r4, r5}\n" // from a start
        "mov r8, r4\n"
        "mov r9, r5\n"
        "ldr r0, [sp, #8]\n"
        "mov pc, lr\n"
        "7:\n" // from where they are
        "ldmia r7!, {r2, r3, r4, r5}\n"
        "lsls r0, r2, #16\n"
        "adds r4, r4, r0\n"
        "lsls r0, r3, #16\n"
        "adds r5, r5, r0\n"
        "mov r8, r4\n"
        "mov r9, r5\n"
        "ldr r0, [sp, #8]\n"
        "mov pc, lr\n"
        ".balign 4\n"
        "5:\n"
        "odt_depth_word\n"
        "odt_depth_word\n"
        "cmp r0, r12\n"
        "bne 5b\n"
        "11:\n"
        "ldr r6, [sp, #12]\n"
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
        "ldr r0, [sp, #4]\n"
        "cmp r7, r0\n"
        "beq 12f\n"
        "asrs r6, r6, #1\n"
        "add r1, r6\n" // and leaves the carry
        "bcs 1b\n"
        "8:\n" // from 0
        "movs r2, #0\n"
        "movs r3, #0\n"
        "mov r8, r2\n"
        "mov r9, r3\n"
        "ldr r0, [sp, #8]\n"
        "mov pc, lr\n"
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
        "6:\n"
        "odt_depth_pair\n"
        "odt_depth_pair\n"
        "odt_depth_pair\n"
        "odt_depth_pair\n"
        "cmp r0, r12\n"
        "bne 6b\n"
        "b 11b\n"
        "12:\n"
        "add sp, #36\n"
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

// As run(), for an odd k or a single depth, or none.
static __attribute__((noinline)) void run_odd(sums_t *sums, const int32_t *start, const panel_t *panel, int32_t k, const int8_t *b,
    const columns_t *c) {
    if (start) {
        fill_columns(sums, c->count, start);
    }
    if (c->depth > 0) {
        run_single(sums, panel, k, b, c);
    }
    if (c->depth > 1) {
        columns_t rest = {c->depth - 1, c->stride, c->count, c->step};
        if (rest.depth > 1) {
            run_pairs(sums, NULL, panel + (k + 1) * UNITS, b + c->stride, &rest);
        } else {
            run_single(sums, panel, k + 1, b + c->stride, &rest);
        }
    }
}

// Adds the products of depths k .. of the panel with columns that begin at b, of which there are some: to `start`, four words that
// are the same for all columns, if there is one.
static void run(sums_t *sums, const int32_t *start, const panel_t *panel, int32_t k, const int8_t *b, const columns_t *c) {
    if ((k & 1) || c->depth < 2) {
        run_odd(sums, start, panel, k, b, c);
    } else {
        run_pairs(sums, start, panel + k * UNITS, b, c);
    }
}

ODT_FINISH_AT(output_t, high, lo, max, min);

// Rows are of two kinds, cut off at zy as after a ReLU or not. Of either there is a loop over outputs, two at a time, and one over
// four whose sums are known not to be large. Each begins with where it is entered. A small module has one over single outputs.
#if ODT_SMALL

#define ODT_FINISH_LOOPS(entries, a, is_cut) \
    ".balign 4\n" \
    entries ":\n" \
    "odt_finish_one " a ", 0, 1, " is_cut "\n" \
    "adds r0, #16\n" \
    "cmp r0, r9\n" \
    "bne 1" a "b\n" \
    "b 96f\n" \
    "odt_finish_else " a ", 0, 1, " is_cut "\n"

#else

// Where a loop is entered: with all its outputs, or without the first.
#define ODT_FINISH_ENTRIES(entries, a, b) \
    ".balign 4\n" \
    entries ":\n" \
    "b 1" a "f\n" \
    "nop\n" \
    "subs r0, #16\n" \
    "b 1" b "f\n"

#define ODT_FINISH_TWOS(entries, a, b, is_cut) \
    ODT_FINISH_ENTRIES(entries, a, b) \
    "odt_finish_one " a ", 0, 1, " is_cut "\n" \
    "odt_finish_one " b ", 16, 1, " is_cut "\n" \
    "adds r0, #32\n" \
    "cmp r0, r9\n" \
    "bne 1" a "b\n" \
    "b 96f\n" \
    "odt_finish_else " a ", 0, 1, " is_cut "\n" \
    "odt_finish_else " b ", 16, 1, " is_cut "\n"

#define ODT_FINISH_FOURS(entries, a, b, c, d, is_cut) \
    ODT_FINISH_ENTRIES(entries, a, b) \
    "subs r0, #32\n" \
    "b 1" c "f\n" \
    "subs r0, #48\n" \
    "b 1" d "f\n" \
    "odt_finish_one " a ", 0, 0, " is_cut "\n" \
    "odt_finish_one " b ", 16, 0, " is_cut "\n" \
    "odt_finish_one " c ", 32, 0, " is_cut "\n" \
    "odt_finish_one " d ", 48, 0, " is_cut "\n" \
    "adds r0, #64\n" \
    "cmp r0, r9\n" \
    "bne 1" a "b\n" \
    "b 96f\n" \
    "odt_finish_else " a ", 0, 0, " is_cut "\n" \
    "odt_finish_else " b ", 16, 0, " is_cut "\n" \
    "odt_finish_else " c ", 32, 0, " is_cut "\n" \
    "odt_finish_else " d ", 48, 0, " is_cut "\n"

#endif

// An output takes 17 cycles: two products, as m is of 24 bits. Where a row is cut off at zy it takes 18, and 13 if it is; where sums
// are checked 4 more, 45 for a larger one; a result that is out of range 18; 68 per row. In the loops r0: sum, r1: y, r4: zy less the
// least that is neither out of range nor a new peak, r5: m's lower 12 bits as a signed number, r6: what m has above, r7: shift, r8:
// offset, r9: end, r10: how many results there are from that least on, less 1, r11: that least, r12: step.
//
// Sums of 19 bits and a sign need no check. Nor do those below L * 2^16 whose product wraps to one that is out of range whatever
// the range is, since label 83 then looks at the sum: the product is below L * 2^28 and wraps to (16 - L) * 2^28 or more of the
// other sign, which with L = 12 and a shift of 22 is a result beyond 255, and with L = 15 and a shift of 28 is less than 0, where
// a negative sum would have been cut off.
__attribute__((naked, noinline)) static void finish_rows(output_t *o) {
    (void)o;
    __asm volatile (
        ".syntax unified\n"
        ODT_FINISH_MACROS
        ".macro odt_finish_one n, from, is_checked, is_cut\n"
        "1\\n:\n"
        "ldr r2, [r0, #\\from]\n"
        "add r2, r8\n"
        ".if \\is_checked & \\is_cut\n"
        "asrs r3, r2, #19\n"
        "bmi 7\\n\\()f\n"
        "bne 5\\n\\()f\n"
        "movs r3, r2\n"
        ".elseif \\is_checked\n"
        "lsls r3, r2, #12\n"
        "asrs r3, r3, #12\n"
        "cmp r3, r2\n"
        "bne 5\\n\\()f\n"
        ".else\n"
        "movs r3, r2\n"
        ".if \\is_cut\n"
        "bmi 7\\n\\()f\n"
        ".endif\n"
        ".endif\n"
        "odt_finish \\n\n"
        ".endm\n"
        ".macro odt_finish_else n, from, is_checked, is_cut\n"
        ".if \\is_checked\n"
        "5\\n:\n"
        "bl 82f\n"
        "b 2\\n\\()b\n"
        ".endif\n"
        ".if \\is_cut\n"
        "odt_finish_cut \\n\n"
        ".endif\n"
        ".if \\is_checked\n"
        "odt_finish_rare \\n\n"
        ".else\n"
        "6\\n:\n"
        "ldr r3, [r0, #\\from]\n"
        "bl 83f\n"
        "b 3\\n\\()b\n"
        ".endif\n"
        ".endm\n"
        ODT_SAVE_REGISTERS
        "ldr r2, [r0, #36]\n" // low
        "ldr r4, [r0, #44]\n"
        "cmp r4, r2\n"
        "bge 1f\n"
        "movs r4, r2\n"
        "1:\n"
        "mov r11, r4\n"
        "ldr r7, [r0, #32]\n" // high
        "ldr r3, [r0, #40]\n"
        "cmp r3, r7\n"
        "ble 1f\n"
        "movs r3, r7\n"
        "1:\n"
        "subs r3, r3, r4\n"
        "mov r10, r3\n"
        "ldr r3, [r0, #48]\n"
        "mov r12, r3\n"
        "ldr r3, [r0, #52]\n" // zy
        "subs r4, r3, r4\n"
        "adr r6, 92f\n"
    #if !ODT_SMALL
        "adr r5, 90f\n"
        "movs r7, #12\n" // L
    #endif
        "cmp r2, r3\n"
        "bne 1f\n"
        "adr r6, 93f\n"
    #if !ODT_SMALL
        "adr r5, 91f\n"
        "movs r7, #15\n"
    #endif
        "1:\n"
    #if !ODT_SMALL
        "ldr r1, [r0, #20]\n" // each entry is 4 bytes; what is left over of fours, or of twos, comes first
        "lsls r2, r1, #27\n"
        "lsrs r2, r2, #29\n"
        "adds r6, r6, r2\n"
        "rsbs r1, r1, #0\n"
        "lsls r2, r1, #26\n"
        "lsrs r2, r2, #28\n"
        "adds r5, r5, r2\n"
    #endif
        "push {r0, r5, r6, r7}\n"
        "95:\n"
        "ldr r7, [sp]\n"
        "ldmia r7!, {r0-r3}\n" // offsets, q, y, sums
        "ldmia r0!, {r5}\n"
        "mov r8, r5\n"
    #if !ODT_SMALL
        "asrs r6, r5, #31\n" // how large a sum with its offset may be, in 2^16
        "eors r5, r6\n"
        "ldr r6, [r7, #8]\n"
        "adds r5, r5, r6\n"
        "lsrs r5, r5, #16\n"
        "mov lr, r5\n"
    #endif
        "ldr r5, [r7]\n" // q_step
        "ldr r6, [r1, #4]\n"
        "adds r1, r1, r5\n"
        "subs r5, r1, r5\n"
        "ldr r5, [r5]\n"
        "adds r2, r2, #1\n"
        "adds r3, r3, #4\n"
        "subs r7, #16\n"
        "stmia r7!, {r0-r3}\n"
        "subs r0, r3, #4\n"
        "subs r1, r2, #1\n"
        "ldr r3, [r7, #4]\n" // length
        "adds r3, r3, r0\n"
        "mov r9, r3\n"
        "movs r7, r6\n"
        "subs r7, #19\n"
        "lsrs r6, r5, #7\n"
        "lsls r5, r6, #20\n"
        "asrs r5, r5, #20\n"
        "subs r6, r6, r5\n"
        "lsrs r6, r6, #12\n"
    #if ODT_SMALL
        "ldr r3, [sp, #8]\n"
        "mov pc, r3\n"
        ODT_FINISH_LOOPS("92", "0", "0")
        ODT_FINISH_LOOPS("93", "1", "1")
    #else
        "mov r3, lr\n" // whether sums are to be checked
        "cmp r3, #8\n"
        "blo 2f\n"
        "ldr r2, [sp, #12]\n"
        "cmp r3, r2\n"
        "bhs 1f\n"
        "adds r2, r2, r2\n"
        "subs r2, #2\n" // 22 of 12, 28 of 15
        "cmp r7, r2\n"
        "bhi 1f\n"
        "2:\n"
        "ldr r2, [sp, #4]\n"
        "mov pc, r2\n"
        "1:\n"
        "ldr r2, [sp, #8]\n"
        "mov pc, r2\n"
        ODT_FINISH_FOURS("90", "0", "1", "2", "3", "0")
        ODT_FINISH_FOURS("91", "4", "5", "6", "7", "1")
        ODT_FINISH_TWOS("92", "8", "9", "0")
        ODT_FINISH_TWOS("93", "10", "11", "1")
    #endif
        "96:\n"
        "ldr r2, [sp]\n"
        "ldr r3, [r2, #28]\n"
        "subs r3, r3, #1\n"
        "str r3, [r2, #28]\n"
        "beq 1f\n"
        "b 95b\n"
        "1:\n"
        "add sp, #16\n"
        ODT_RESTORE_REGISTERS
    #if !ODT_SMALL
        "83:\n" // the product may have wrapped: of a sum of more than 19 bits once more
        "add r3, r8\n"
        "push {r3, lr}\n"
        "asrs r3, r3, #19\n"
        "beq 1f\n"
        "adds r3, #1\n"
        "beq 1f\n"
        "ldr r2, [sp]\n"
        "bl 82f\n"
        "adcs r2, r4\n"
        "1:\n"
        "pop {r3}\n"
        "pop {r3}\n"
        "mov lr, r3\n"
        "cmp r2, r10\n"
        "bhi 81f\n"
        "bx lr\n"
    #endif
        "81:\n"
        ODT_FINISH_RARE
        "82:\n" // v * m >> 32 by halves, then the rest of the shift
        "push {r4, r6, r7}\n"
        "lsls r7, r6, #12\n"
        "adds r7, r7, r5\n"
        "lsls r7, r7, #7\n"
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
        "pop {r4, r6, r7}\n"
        "movs r3, r7\n"
        "subs r3, #13\n"
        "asrs r2, r3\n"
        "bx lr\n"
        ODT_FINISH_PURGE
        ".purgem odt_finish_one\n"
        ".purgem odt_finish_else\n"
        );
}
