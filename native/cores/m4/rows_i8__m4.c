// Inner loops over rows (rows_i8__m4.h).

#include "../../core.h"
#include "../correlate.h"

#if ODT_M4

#include "../../fixed.h"
#include "words__m4.h"
#include "rows_i8__m4.h"

// r4-r7: the initial sums.
#define NONE \
    "ldr r4, [r0, #28]\n" \
    "mov r5, r4\n" \
    "mov r6, r4\n" \
    "mov r7, r4\n"
#define SUMS \
    "ldm r0, {r4-r7}\n"

// The words of a row, at most 32: unrolled, or in small code a loop over four at a time. r3: the end of rows; in the
// loop the end of the row's w.
#if ODT_MPY
#define FIRST_WORD \
    "rsb r4, r3, #0\n" /* those modulo 4 are done first */ \
    "and r4, r4, #3\n" \
    "lsl r3, r3, #2\n" \
    "str r3, [sp, #48]\n"
#define ROW_END \
    "ldr r3, [sp, #48]\n" \
    "add r3, r3, r2\n"
#define WORDS \
    ODT_WORD ODT_WORD ODT_WORD ODT_WORD \
    "cmp r2, r3\n" \
    "bne 2b\n" \
    "ldr r3, [sp]\n"
#else
#define FIRST_WORD \
    "rsb r4, r3, #32\n" \
    "ldr r3, [sp]\n"
#define ROW_END
#define WORDS ODT_EIGHT_WORDS ODT_EIGHT_WORDS ODT_EIGHT_WORDS ODT_EIGHT_WORDS
#endif

// 13 instructions for 16 products, 12 per row; 10 or 9 with other starts. r0: rows, r1: panel, r2: w, r4-r7: a row's
// sums, r8-r11: pairs of the panel, r12, lr: two pairs of w.
#define RUN_WORDS(name, start) \
    ODT_ASSEMBLY void name( \
        odt_row_t *rows, const odt_row_t *end, const int16_t *panel, const int8_t *w, int32_t words, int32_t back) { \
        (void)rows, (void)end, (void)panel, (void)w, (void)words, (void)back; \
        __asm volatile(".syntax unified\n" \
                       "push {r1-r2, r4-r12, lr}\n" /* 0: end, 4: panel, 40: entry; 48: words, 52: back */ \
                       "mov r2, r3\n" \
                       "ldr r3, [sp, #48]\n" FIRST_WORD "mov r5, #52\n" \
                       "adr.w r6, 2f\n" \
                       "mla r4, r4, r5, r6\n" \
                       "add r4, r4, #1\n" \
                       "str r4, [sp, #40]\n" \
                       "1:\n" start ROW_END "ldr r1, [sp, #4]\n" \
                       "ldr pc, [sp, #40]\n" \
                       "2:\n" WORDS "ldr r8, [sp, #52]\n" \
                       "stm r0, {r4-r7}\n" \
                       "add r2, r2, r8\n" \
                       "add r0, r0, #32\n" \
                       "cmp r0, r3\n" \
                       "bne 1b\n" \
                       "pop {r1-r2, r4-r12, pc}\n"); \
    }

RUN_WORDS(odt_start_rows, NONE)
RUN_WORDS(odt_add_rows, SUMS)

ODT_ASSEMBLY void odt_copy_line_i8(int8_t *to, const int8_t *from, int32_t count) {
    (void)to, (void)from, (void)count;
    __asm volatile (
        ".syntax unified\n"
        "subs r2, r2, #8\n"
        "blt 2f\n"
        "1:\n"
        "ldr r3, [r1], #4\n"
        "ldr r12, [r1], #4\n"
        "subs r2, r2, #8\n"
        "str r3, [r0], #4\n"
        "str r12, [r0], #4\n"
        "bge 1b\n"
        "2:\n"
        "lsls r2, r2, #30\n" // the carry: four more bytes; negative: two
        "itt cs\n"
        "ldrcs r3, [r1], #4\n"
        "strcs r3, [r0], #4\n"
        "itt mi\n"
        "ldrhmi r3, [r1], #2\n"
        "strhmi r3, [r0], #2\n"
        "lsls r2, r2, #1\n"
        "itt mi\n"
        "ldrbmi r3, [r1]\n"
        "strbmi r3, [r0]\n"
        "bx lr\n"
        );
}

// Packs `words` > 0 times four bytes at each of four addresses: 29 instructions for 32 bytes. r0: panel, r1-r3, r12: x,
// r4-r11: pairs, lr: the number added to each, or the mask.
#define WIDEN(even, odd) \
    "ldr r4, [r1], #4\n" \
    "ldr r6, [r2], #4\n" \
    "ldr r8, [r3], #4\n" \
    "ldr r10, [r12], #4\n" \
    odd("r5", "r4") \
    even("r4", "r4") \
    odd("r7", "r6") \
    even("r6", "r6") \
    odd("r9", "r8") \
    even("r8", "r8") \
    odd("r11", "r10") \
    even("r10", "r10") \
    "stm r0!, {r4-r11}\n"
#define WIDEN_WORDS(name, even, odd) \
    ODT_ASSEMBLY static void name(int16_t *panel, const int8_t *const *x, int32_t words, uint32_t with) { \
        (void)panel, (void)x, (void)words, (void)with; \
        __asm volatile ( \
            ".syntax unified\n" \
            "push {r2, r4-r11, lr}\n" \
            "mov lr, r3\n" \
            "add r4, r0, r2, lsl #5\n" \
            "str r4, [sp]\n" /* where the panel ends */ \
            "tst r2, #1\n" \
            "ldm r1, {r1-r3, r12}\n" \
            "bne 2f\n" \
            "1:\n" \
            WIDEN(even, odd) \
            "2:\n" /* an odd number begins here */ \
            WIDEN(even, odd) \
            "ldr r4, [sp]\n" \
            "cmp r0, r4\n" \
            "bne 1b\n" \
            "pop {r2, r4-r11, pc}\n" \
            ); \
    }

#define EVEN(to, from) "sxtab16 " to ", lr, " from "\n"
#define ODD(to, from) "sxtab16 " to ", lr, " from ", ror #8\n"
WIDEN_WORDS(widen_words, EVEN, ODD)

void odt_widen_four(int16_t *panel, const int8_t *const *x, int32_t count, int32_t zx) {
    uint32_t minus = odt_twice(-zx), *to = (uint32_t *)(void *)panel;
    if (count >= 4) {
        widen_words(panel, x, count >> 2, minus);
    }
    if (count & 3) {
        int32_t bits = 8 * (count & 3);
        uint32_t beside = (uint8_t)zx * 0x01010101u << bits;
        to += 8 * (count >> 2);
        for (int32_t i = 0; i < 4; i++, to += 2) {
            uint32_t word =
                count >= 4 ? odt_word(x[i] + count - 4) >> (32 - bits) | beside : odt_word_within(x[i], 0, count, zx);
            to[0] = odt_even(word, minus);
            to[1] = odt_odd(word, minus);
        }
    }
}

#if !ODT_MPY

#define EVEN_HIGH(to, from) "and " to ", lr, " from ", lsl #8\n"
#define ODD_HIGH(to, from) "and " to ", lr, " from "\n"
WIDEN_WORDS(widen_high_words, EVEN_HIGH, ODD_HIGH)

void odt_widen_high(int16_t *panel, const int8_t *const *x, int32_t count) {
    uint32_t mask = 0xFF00FF00, *to = (uint32_t *)(void *)panel;
    if (count >= 4) {
        widen_high_words(panel, x, count >> 2, mask);
    }
    to += 8 * (count >> 2);
    for (int32_t i = 0; i < 4 && count & 3; i++, to += 2) {
        uint32_t word = odt_word_within(x[i], count & ~3, count, 0);
        to[0] = word << 8 & mask;
        to[1] = word & mask;
    }
}

#endif

// Writes outputs from `index` to 0 before ends[0 .. 3], ends[4] apart; all values have 16 bits. 30 instructions per
// row; 26 if the smallest does not matter, 34 if results may have more than 16 bits. r0: rows, r1: index, r2: ends, r3:
// largest, lr: smallest, r4-r7: results, r8-r10: m, half and shift, then r7-r10: the ends, r11: their step.
#define FINISH(name, saturate, smallest) \
    ODT_ASSEMBLY static void name(const odt_row_t *rows, int32_t index, \
        int8_t *const *ends, uint32_t *found) { \
        (void)rows, (void)index, (void)ends, (void)found; \
        __asm volatile ( \
            ".syntax unified\n" \
            "push {r3-r11, lr}\n" \
            "ldrd r3, lr, [r3]\n" \
            "1:\n" \
            "ldm r0!, {r4-r11}\n" \
            "smmla r4, r4, r8, r9\n" \
            "smmla r5, r5, r8, r9\n" \
            "smmla r6, r6, r8, r9\n" \
            "smmla r7, r7, r8, r9\n" \
            "asr r4, r4, r10\n" \
            "asr r5, r5, r10\n" \
            "asr r6, r6, r10\n" \
            "asr r7, r7, r10\n" \
            saturate \
            "pkhbt r4, r4, r5, lsl #16\n" \
            "pkhbt r6, r6, r7, lsl #16\n" \
            "ssub16 r12, r4, r3\n" \
            "sel r3, r4, r3\n" \
            "ssub16 r12, r6, r3\n" \
            "sel r3, r6, r3\n" \
            smallest \
            "ssat16 r4, #8, r4\n" \
            "ssat16 r6, #8, r6\n" \
            "ldm r2, {r7-r11}\n" /* r11: step */ \
            "lsr r5, r4, #16\n" \
            "lsr r12, r6, #16\n" \
            "strb r4, [r7, r1]\n" \
            "strb r5, [r8, r1]\n" \
            "strb r6, [r9, r1]\n" \
            "strb r12, [r10, r1]\n" \
            "adds r1, r1, r11\n" \
            "bne 1b\n" \
            "pop {r4}\n" \
            "strd r3, lr, [r4]\n" \
            "pop {r4-r11, pc}\n" \
            ); \
    }

FINISH(finish_rows, "", ODT_SMALLEST("r4", "r6"))
FINISH(finish_positive_rows, "", "")
FINISH(finish_wide_rows, ODT_SATURATE, ODT_SMALLEST("r4", "r6"))

int odt_finish_rows(const odt_row_t *rows, int32_t count, int8_t *const *y, int32_t step, int kind, int32_t zy,
    int32_t lo, int32_t *bounds) {
    int8_t *ends[5];
    for (int32_t i = 0; i < 4; i++) {
        ends[i] = y[i] + count * step;
    }
    ends[4] = (int8_t *)(intptr_t)step;
    uint32_t found[2] = {odt_twice(INT16_MIN), odt_twice(INT16_MAX)};
    if (kind == ODT_UNSCALED) {
        return 0;
    }
    if (kind == ODT_WIDE) {
        finish_wide_rows(rows, -count * step, ends, found);
    } else if (zy == -128) {
        finish_positive_rows(rows, -count * step, ends, found);
    } else {
        finish_rows(rows, -count * step, ends, found);
    }
    if (odt_is_below(found, lo, 0)) {
        for (int32_t i = 0; i < 4; i++) {
            for (int8_t *at = y[i]; at != ends[i]; at += step) {
                *at = (int8_t)odt_max(*at, lo);
            }
        }
    }
    return odt_add_bounds(bounds, found, kind, 0);
}

int odt_add_bounds(int32_t *bounds, const uint32_t *found, int kind, int32_t plus) {
    int32_t high = odt_max((int16_t)found[0], (int32_t)found[0] >> 16);
    int32_t low = odt_min((int16_t)found[1], (int32_t)found[1] >> 16);
    if (kind == ODT_WIDE && (high == INT16_MAX || low == INT16_MIN)) {
        return 0;
    }
    bounds[0] = odt_max(bounds[0], high - plus);
    bounds[1] = odt_min(bounds[1], low - plus);
    return 1;
}

int32_t odt_peak_of(const int32_t *bounds, int32_t zy, int32_t lo, int32_t peak) {
    if (bounds[0] == INT16_MIN) {
        return peak;
    }
    peak = odt_max(peak, bounds[0] - zy);
    return lo == zy ? peak : odt_max(peak, zy - bounds[1]);
}

#endif
