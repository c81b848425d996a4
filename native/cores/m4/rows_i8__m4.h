// Rows of bytes times a panel of four rows, on cores with SMLAD, a Cortex-M4 and later: the inner loops of
// conv2d_i8__m4.c and conv2d_dx_i8__m4.c. A panel is int16. For each four depths it has, row after row, the pairs that
// SXTB16 makes: depths 0 and 2, then 1 and 3.

#ifndef ODT_ROWS_I8_M4_H
#define ODT_ROWS_I8_M4_H

#include <stdint.h>

#include "../../fixed.h"
#include "words__m4.h"

// v = ((sum * m >> 32) + half) >> shift
typedef struct {
    int32_t m, half, shift;
} odt_scale_t;

// The largest sum of `depth` products; negative if outputs cannot be clamped to lo .. 127.
static inline int32_t odt_most(int32_t depth, int32_t zy, int32_t lo) {
    if (zy != (int8_t)zy || lo != (int8_t)lo || lo > zy) {
        return -1;
    }
    return depth > INT32_MAX / (128 * 255) ? INT32_MAX : depth * (128 * 255);
}

// Finds the scale for zy + q * sum; zy is part of half. `most` bounds the sum of the products; they are added to the
// start values. Returns whether there is a scale, and whether results are known to have 16 bits.
enum { ODT_UNSCALED, ODT_WIDE, ODT_SHORT };
static inline int odt_find_scale(
    const odt_multiplier_t *q, int32_t start, int32_t most, int32_t zy, odt_scale_t *scale) {
    int32_t m = q->m, below = odt_wrap_sub(q->s, 33); // shift - 1
    if ((m | most) < 0 || (uint32_t)below > 21) {
        return ODT_UNSCALED; // a scale has diverged or a program is wrong
    }
    scale->m = m;
    scale->half = (2 * zy + 1) * (1 << below);
    scale->shift = below + 1;
    uint32_t largest = (uint32_t)most + odt_magnitude(start);
    return largest <= INT32_MAX && odt_smmul((int32_t)largest, m) >> below < 64000 ? ODT_SHORT : ODT_WIDE;
}

// The sums of a row times the four rows of the panel, and how they become outputs.
typedef struct {
    int32_t sums[4];
    odt_scale_t scale;
    int32_t start;
} odt_row_t;

// sums = start + panel * w, or sums += panel * w. Rows have `words` > 0 times four bytes, at most 128; each row ends
// `back` bytes before the next.
void odt_start_rows(odt_row_t *rows, const odt_row_t *end, const int16_t *panel, const int8_t *w,
    int32_t words, int32_t back);
void odt_add_rows(odt_row_t *rows, const odt_row_t *end, const int16_t *panel, const int8_t *w,
    int32_t words, int32_t back);

// Packs `count` > 0 bytes minus zx at each of four addresses into the four rows of a panel, padded with zeros to a
// multiple of four.
void odt_widen_four(int16_t *panel, const int8_t *const *x, int32_t count, int32_t zx);

// The same, times 256.
void odt_widen_high(int16_t *panel, const int8_t *const *x, int32_t count);

// y[i][row * step] = min(max(v, lo), 127) for sum i; all scales are of that kind or better. `bounds`: the largest and
// the smallest v so far; not the smallest if zy = lo = -128, as after a ReLU. Returns whether this was possible: not
// without a scale, or if a v has more than 16 bits.
int odt_finish_rows(const odt_row_t *rows, int32_t count, int8_t *const *y, int32_t step, int kind, int32_t zy,
    int32_t lo, int32_t *bounds);

// Adds `found`, the largest and the smallest v + plus of each half, to the bounds. Returns 0 and does nothing if a v
// may have had more than 16 bits.
int odt_add_bounds(int32_t *bounds, const uint32_t *found, int kind, int32_t plus);

// Whether some v may be below lo, so that outputs must be clamped again.
static inline int odt_is_below(const uint32_t *found, int32_t lo, int32_t plus) {
    return lo > -128 && ((int16_t)found[1] < lo + plus || (int32_t)found[1] >> 16 < lo + plus);
}

// Adds a word of bytes at r2 times a word of the panel at r1 to r4-r7; r8-r11: pairs of the panel, r12, lr: two pairs
// of the word.
#define ODT_WORD /* 13 instructions, 52 bytes */ \
    "ldr lr, [r2], #4\n" \
    "sxtb16 r12, lr\n" \
    "sxtb16 lr, lr, ror #8\n" \
    ODT_WORD_PRODUCTS
#define ODT_WORD_PRODUCTS \
    "ldm r1!, {r8-r11}\n" \
    "smlad r4, r8, r12, r4\n" \
    "smlad r4, r9, lr, r4\n" \
    "smlad r5, r10, r12, r5\n" \
    "smlad r5, r11, lr, r5\n" \
    "ldm r1!, {r8-r11}\n" \
    "smlad r6, r8, r12, r6\n" \
    "smlad r6, r9, lr, r6\n" \
    "smlad r7, r10, r12, r7\n" \
    "smlad r7, r11, lr, r7\n"
#define ODT_EIGHT_WORDS ODT_WORD ODT_WORD ODT_WORD ODT_WORD ODT_WORD ODT_WORD ODT_WORD ODT_WORD

// Saturates four sums to 16 bits.
#define ODT_SATURATE \
    "ssat r4, #16, r4\n" \
    "ssat r5, #16, r5\n" \
    "ssat r6, #16, r6\n" \
    "ssat r7, #16, r7\n"

// Sets lr to the smallest of the pairs `first`, `second` and lr.
#define ODT_SMALLEST(first, second) \
    "ssub16 r12, lr, " first "\n" \
    "sel lr, " first ", lr\n" \
    "ssub16 r12, lr, " second "\n" \
    "sel lr, " second ", lr\n"

// The peak from the bounds; unchanged if they are empty: INT16_MIN and INT16_MAX.
int32_t odt_peak_of(const int32_t *bounds, int32_t zy, int32_t lo, int32_t peak);

#endif
