// Rows of bytes times a panel of four, on cores with SMLAD, a Cortex-M4 and later: the inner loops of
// correlate_m4.c and correlate_back_m4.c. A panel is int16: of four depths of one of the four those that
// SXTB16 leaves together, 0 and 2, then 1 and 3; one after another, then the next depths.

#ifndef ODT_ROWS_M4_H
#define ODT_ROWS_M4_H

#include <stdint.h>

// A row's sums with the four, and how they become outputs.
typedef struct {
    int32_t sums[4];
    int32_t m, half, shift; // v = ((sum * m >> 32) + half) >> shift, which is of 16 bits
    int32_t start;
} odt_row_t;

// sums = start + panel * w, or sums += panel * w. Rows of `words` > 0 times four bytes, each of which ends
// `back` bytes before the next.
void odt_start_rows(odt_row_t *rows, const odt_row_t *end, const int16_t *panel, const int8_t *w,
    int32_t words, int32_t back);
void odt_add_rows(odt_row_t *rows, const odt_row_t *end, const int16_t *panel, const int8_t *w,
    int32_t words, int32_t back);

// y[i][row * step] = max(v, lo), at most 127, of sum i. `bounds`: the largest and the smallest v so far.
void odt_finish_rows(const odt_row_t *rows, int32_t count, int8_t *const *y, int32_t step, int32_t lo,
    int32_t *bounds);

#endif
