// Gradients of filters (correlate.h) on cores with SMLAD, a Cortex-M4 and later. Both factors are packed on the stack
// as int16, two positions per word: the errors of some channels, and four adjacent bytes of x, minus zx, which belong
// to four adjacent elements of dw. The stack holds 2.9 KB.

#include "../../core.h"
#include "../correlate.h"

#if ODT_M4

#include "../../fixed.h"
#include "../../common/window.h"
#include "tiles_i8__m4.h"
#include "words__m4.h"
#include "conv2d_i8__m4.h"

enum {
    CHANNELS = 32, // of e at a time
    DEPTH = 32,    // positions at a time, a multiple of 4
    MOST = ODT_MPY ? DEPTH : 64, // the same of half as many channels
};

typedef struct {
    uint32_t panel[MOST * 2];            // for each pair of positions the words of four columns
    uint32_t errors[CHANNELS * DEPTH / 2]; // for each channel the words of all pairs
    int32_t sums[CHANNELS][4];
} dw_scratch_t;

// The packed positions: rows `row` .. `stop` - 1 of e, columns first .. first + count - 1; `padded` positions per row.
typedef struct {
    int32_t row, stop, first, count, padded, depth;
} block_t;

#define FOUR /* 11 instructions, 44 bytes */ \
    "ldm r2!, {r12, lr}\n" \
    "ldm r1!, {r8-r11}\n" \
    "smlad r4, r8, r12, r4\n" \
    "smlad r5, r9, r12, r5\n" \
    "smlad r6, r10, r12, r6\n" \
    "smlad r7, r11, r12, r7\n" \
    SECOND
#define SECOND \
    "ldm r1!, {r8-r11}\n" \
    "smlad r4, r8, lr, r4\n" \
    "smlad r5, r9, lr, r5\n" \
    "smlad r6, r10, lr, r6\n" \
    "smlad r7, r11, lr, r7\n"

#define ZERO /* the first four */ \
    "ldm r2!, {r12, lr}\n" \
    "ldm r1!, {r8-r11}\n" \
    "smuad r4, r8, r12\n" \
    "smuad r5, r9, r12\n" \
    "smuad r6, r10, r12\n" \
    "smuad r7, r11, r12\n" \
    SECOND
#define SUMS \
    "ldm r0, {r4-r7}\n"

// For each channel four words of `sums`, `step` bytes apart: = or += errors * panel, over 1 to 16 times four
// positions. 44 instructions for 64 products, 7 per channel, or 8. r0: sums, r1: panel, r2: errors, r3: the end of all
// errors, r4-r7: a channel's sums, r8-r11: a pair of positions of four columns, r12, lr: two pairs of errors.
#define RUN(name, start, entry) \
    ODT_ASSEMBLY static void name(int32_t *sums, const uint32_t *panel, \
        const uint32_t *errors, int32_t step, const uint32_t *end, int32_t fours) { \
        (void)sums, (void)panel, (void)errors, (void)step, (void)end, (void)fours; \
        __asm volatile ( \
            ".syntax unified\n" \
            "push {r1, r3, r4-r12, lr}\n" /* 0: panel, 4: step, 40: entry; 48: end, 52: fours */ \
            "ldrd r3, r4, [sp, #48]\n" \
            "rsb r4, r4, #" entry "\n" \
            "mov r5, #44\n" \
            "adr.w r6, 2f\n" \
            "mla r4, r4, r5, r6\n" \
            "add r4, r4, #1\n" \
            "str r4, [sp, #40]\n" \
            "1:\n" \
            "ldr r1, [sp]\n" \
            start \
            "ldr pc, [sp, #40]\n" \
            "2:\n" \
            FOURS \
            "stm r0, {r4-r7}\n" \
            "ldr r8, [sp, #4]\n" \
            "add r0, r0, r8\n" \
            "cmp r2, r3\n" \
            "bne 1b\n" \
            "pop {r1, r3, r4-r12, pc}\n" \
            ); \
    }

#define EIGHT FOUR FOUR FOUR FOUR FOUR FOUR FOUR FOUR
#if ODT_MPY
#define FOURS EIGHT
RUN(start_sums, ZERO, "9")
RUN(add_sums, SUMS, "8")
#else
#define FOURS EIGHT EIGHT
RUN(start_sums, ZERO, "17")
RUN(add_sums, SUMS, "16")
#endif

// Packs pairs of words of errors, `step` bytes apart, into four rows, `row` bytes apart: 25 instructions for two pairs.
static inline void pack_error_pairs(uint32_t *to, int32_t row, const int8_t *e, int32_t step, int32_t pairs) {
    uint32_t *second = to + row / 4, *third = second + row / 4, *fourth = third + row / 4;
    __asm volatile (
        "tst %5, #1\n"
        "beq 1f\n"
        "ldr r8, [%4]\n"
        "ldr r9, [%4, %6]\n"
        "add %4, %4, %6, lsl #1\n"
        "pkhtb r10, r9, r8, asr #16\n"
        "pkhbt r8, r8, r9, lsl #16\n"
        "sxtb16 r9, r8\n"
        "str r9, [%0], #4\n"
        "sxtb16 r9, r8, ror #8\n"
        "str r9, [%1], #4\n"
        "sxtb16 r9, r10\n"
        "str r9, [%2], #4\n"
        "sxtb16 r9, r10, ror #8\n"
        "str r9, [%3], #4\n"
        "subs %5, %5, #1\n"
        "beq 2f\n"
        "1:\n"
        "ldr r8, [%4]\n"
        "ldr r9, [%4, %6]\n"
        "ldr r10, [%4, %6, lsl #1]\n"
        "add %4, %4, %6\n"
        "ldr r11, [%4, %6, lsl #1]\n"
        "add %4, %4, %6\n"
        "add %4, %4, %6, lsl #1\n"
        "pkhtb r12, r9, r8, asr #16\n"
        "pkhbt r8, r8, r9, lsl #16\n"
        "pkhbt r9, r10, r11, lsl #16\n"
        "pkhtb r11, r11, r10, asr #16\n"
        "sxtb16 r10, r8\n"
        "sxtb16 lr, r9\n"
        "stm %0!, {r10, lr}\n"
        "sxtb16 r8, r8, ror #8\n"
        "sxtb16 r9, r9, ror #8\n"
        "stm %1!, {r8, r9}\n"
        "sxtb16 r10, r12\n"
        "sxtb16 lr, r11\n"
        "stm %2!, {r10, lr}\n"
        "sxtb16 r10, r12, ror #8\n"
        "sxtb16 lr, r11, ror #8\n"
        "stm %3!, {r10, lr}\n"
        "subs %5, %5, #2\n"
        "bne 1b\n"
        "2:\n"
        : "+r" (to), "+r" (second), "+r" (third), "+r" (fourth), "+r" (e), "+r" (pairs) : "r" (step)
        : "r8", "r9", "r10", "r11", "r12", "lr", "cc", "memory");
}

// Packs the errors of `count` channels, which begin at `row`, as `fours` words of two pairs. Its arguments are
// values, so that those of its callers stay in registers.
static void pack_errors(const int8_t *row, int32_t e_step, int32_t OW, block_t p, int32_t count, uint32_t *errors) {
    int32_t words = p.depth / 2, here = p.count, rows = p.stop - p.row, padded = p.padded;
    if (rows * padded != p.depth) { // by one pair
        uint32_t *last = errors + words - 1;
        for (int32_t i = count; i; i--, last += words) {
            *last = 0;
        }
    }
    if (here == OW && here == padded) { // rows are contiguous
        here = padded = here * rows;
        rows = 1;
    }
    row += (p.row * OW + p.first) * e_step;
    for (; rows > 0; rows--, errors += padded / 2, row += OW * e_step) {
        for (int32_t i = 0; i < count; i += 4) {
            int32_t at = odt_max(odt_min(i, count - 4), 0), left = here;
            const int8_t *e = row + at;
            uint32_t *to = errors + at * words;
            if (left > 1 && count >= 4) {
                pack_error_pairs(to, 4 * words, e, e_step, left >> 1);
                to += left >> 1;
                e += (left & ~1) * e_step;
                left &= 1;
            }
            if (left == 1 && count >= 4) {
                odt_pairs(to, words, odt_word(e), 0, 0);
                continue;
            }
            for (; left > 0; left -= 2, e += 2 * e_step, to++) {
                for (int32_t j = 0; j < odt_min(count, 4); j++) {
                    to[j * words] = odt_lower((uint32_t)e[j], left > 1 ? (uint32_t)e[j + e_step] : 0);
                }
            }
        }
    }
}

// Packs pairs of words of x, `step` bytes apart, like odt_pairs(): 21 instructions for two pairs.
static inline void pack_pairs(uint32_t **to, const int8_t **x, int32_t step, int32_t pairs, uint32_t minus) {
    __asm volatile (
        ".macro odt_pack_pair\n"
        "pkhtb r11, r9, r8, asr #16\n"
        "pkhbt r9, r8, r9, lsl #16\n"
        "sxtab16 r8, %4, r9\n"
        "sxtab16 r9, %4, r9, ror #8\n"
        "sxtab16 r10, %4, r11\n"
        "sxtab16 r11, %4, r11, ror #8\n"
        "stm %0!, {r8-r11}\n"
        ".endm\n"
        "tst %2, #1\n"
        "beq 1f\n"
        "ldr r8, [%1]\n"
        "ldr r9, [%1, %3]\n"
        "add %1, %1, %3, lsl #1\n"
        "odt_pack_pair\n"
        "subs %2, %2, #1\n"
        "beq 2f\n"
        "1:\n"
        "ldr r8, [%1]\n"
        "ldr r9, [%1, %3]\n"
        "odt_pack_pair\n"
        "ldr r8, [%1, %3, lsl #1]\n"
        "add %1, %1, %3\n"
        "ldr r9, [%1, %3, lsl #1]\n"
        "odt_pack_pair\n"
        "add %1, %1, %3\n"
        "add %1, %1, %3, lsl #1\n"
        "subs %2, %2, #2\n"
        "bne 1b\n"
        "2:\n"
        ".purgem odt_pack_pair\n"
        : "+r" (*to), "+r" (*x), "+r" (pairs) : "r" (step), "r" (minus) : "r8", "r9", "r10", "r11", "cc", "memory");
}

// A word for position i of a row.
static inline void set_position(uint32_t *to, int32_t i, uint32_t word, uint32_t minus) {
    int16_t *half = (int16_t *)(void *)to + i / 2 * 8 + i % 2;
    uint32_t even = odt_even(word, minus), odd = odt_odd(word, minus);
    half[0] = (int16_t)even;
    half[2] = (int16_t)odd;
    half[4] = (int16_t)(even >> 16);
    half[6] = (int16_t)(odd >> 16);
}

// Packs bytes at .. at + 3 of rows of x; `at` advances by `step` per position. Only `columns` of the four bytes matter.
static void pack_columns(const odt_correlation_dw_t *a, const block_t *p, int32_t kh, int32_t kw, int32_t column,
    int32_t columns, uint32_t *to) {
    int32_t pixel = odt_pixel(a->C, a->x_skip), line = a->W * pixel, size = line - a->x_skip, step = a->SW * pixel;
    int32_t start = (p->first * a->SW - a->left + kw) * pixel + column, padded = p->padded, count = p->count;
    int32_t last = a->B * a->H * line - a->x_skip - 4 - (padded - 1) * step; // the last place where a row may begin
    uint32_t minus = odt_twice(-a->zx), none = (uint8_t)a->zx * 0x01010101u;
    int32_t room = size - odt_min(columns, 4) - start;
    int are_whole = ((start | step | size) & 3) == 0; // words lie inside the row or outside it
    int32_t first = 0, end = count; // positions whose used bytes lie inside
    if (start < 0 || room < (count - 1) * step) {
        first = start < 0 ? odt_min((-start + step - 1) / step, count) : 0;
        end = room < 0 ? first : odt_limit(room / step + 1, first, count);
    }
    int32_t b = p->row / a->OH, oh = p->row - b * a->OH;
    for (int32_t row = p->row; row < p->stop; row++) {
        int32_t ih = oh * a->SH - a->top + kh, at = (b * a->H + ih) * line + start;
        if (ih < 0 || ih >= a->H) {
            for (int32_t i = 0; i < padded; i += 2, to += 4) {
                to[0] = to[1] = to[2] = to[3] = 0;
            }
        } else if (at >= 0 && at <= last) { // bytes outside the row are read, then replaced
            const int8_t *x = a->x + at - start, *from = x + start;
            uint32_t *begin = to;
            pack_pairs(&to, &from, step, padded / 2, minus);
            for (int32_t i = first > 0 ? 0 : end; i < count; i = i + 1 == first ? end : i + 1) {
                set_position(begin, i, are_whole ? none : odt_word_within(x, start + i * step, size, a->zx), minus);
            }
        } else {
            const int8_t *x = a->x + at - start;
            for (int32_t i = 0; i < padded; i += 2, to += 4) {
                uint32_t word = odt_word_within(x, start + i * step, size, a->zx);
                odt_pairs(to, 1, word, odt_word_within(x, start + (i + 1) * step, size, a->zx), minus);
            }
        }
        if (++oh == a->OH) {
            oh = 0;
            b++;
        }
    }
}

// The products of a block of positions for channels n .. n + count - 1.
static void add_block(const odt_correlation_dw_t *a, const block_t *p, int32_t n, int32_t count,
    int is_first, dw_scratch_t *s) {
    int32_t taps = odt_line_taps(a->KW, a->x_skip), length = taps * a->C, filter = a->KH * a->KW * a->C;
    int32_t words = p->depth / 2, fours = p->depth / 4, *dw = a->dw + n * filter;
    const uint32_t *end = s->errors + count * words;
    pack_errors(a->e + n, a->e_step, a->OW, *p, count, s->errors);
    for (int32_t kh = 0, kw = 0; kh < a->KH; dw += length) {
        for (int32_t column = 0; column < length; column += 4) {
            int32_t columns = length - column;
            pack_columns(a, p, kh, kw, column, columns, s->panel);
            if (columns < 4) {
                start_sums(s->sums[0], s->panel, s->errors, sizeof(s->sums[0]), end, fours);
                for (int32_t i = 0; i < count; i++) {
                    for (int32_t j = 0; j < columns; j++) {
                        int32_t *to = dw + i * filter + column + j;
                        *to = s->sums[i][j] + (is_first ? 0 : *to);
                    }
                }
            } else if (is_first) {
                start_sums(dw + column, s->panel, s->errors, 4 * filter, end, fours);
            } else {
                add_sums(dw + column, s->panel, s->errors, 4 * filter, end, fours);
            }
        }
        kw += taps;
        if (kw >= a->KW) {
            kw = 0;
            kh++;
        }
    }
}

#if !ODT_MPY
#include "conv2d_dw_tile_i8__m4.inc"
#endif

// Whatever the size, `channels` at a time. The arguments are copied: what is not pointed at stays in registers.
static void correlate_dw_rows(const odt_correlation_dw_t *given, int32_t channels) {
    const odt_correlation_dw_t copy = *given, *a = &copy;
    dw_scratch_t s;
    int32_t most = channels <= CHANNELS / 2 ? MOST : DEPTH, rows = a->B * a->OH;
    int32_t parts = (a->OW + most - 1) / most; // of a row of positions
    int32_t columns = ((a->OW + parts - 1) / parts + 1) & ~1, block = most / columns;
    for (int32_t n = 0; n < a->N; n += channels) {
        int32_t count = odt_min(channels, a->N - n);
        for (int32_t row = 0; row < rows; row += block) {
            for (int32_t first = 0; first < a->OW; first += columns) {
                odt_poll();
                block_t p = {.row = row, .stop = odt_min(row + block, rows), .first = first};
                p.count = odt_min(columns, a->OW - first);
                p.padded = (p.count + 1) & ~1;
                int32_t depth = (p.stop - row) * p.padded;
                p.depth = (depth + 3) & ~3;
                if (p.depth != depth) {
                    memset(s.panel + depth * 2, 0, 4 * sizeof(*s.panel));
                }
                add_block(a, &p, n, count, row == 0 && first == 0, &s);
            }
        }
    }
}

void odt_correlate_dw_part_i8(const odt_correlation_dw_t *a) {
    odt_correlation_dw_t flat;
    int32_t groups = odt_max((a->N + CHANNELS - 1) / CHANNELS, 1), channels = (a->N + groups - 1) / groups;
    // all positions of pixels form one row
    if (a->B * a->OH > 1 && a->KH == 1 && a->KW == 1 && a->SH == 1 && a->SW == 1 && a->top == 0 && a->left == 0
        && a->OH == a->H && a->OW == a->W) {
        flat = *a;
        flat.W = flat.OW = a->B * a->OH * a->OW;
        flat.B = flat.H = flat.OH = 1;
        a = &flat;
    }
    #if !ODT_MPY
    if (is_dw_turned(a)) {
        correlate_dw_turned(a);
        return;
    }
    if (correlate_dw_tiles(a, channels)) {
        return;
    }
    #endif
    correlate_dw_rows(a, channels);
}

#endif
