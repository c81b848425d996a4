// Sums of a group for its mean and variance (norm_i8.c) on a Cortex-M4 and later.

#ifndef ODT_NORM_STATS_I8_M4_H
#define ODT_NORM_STATS_I8_M4_H

#include "words__m4.h"

// Sums the bytes up to `end`, `step` apart, and their squares.
static void sum_squares(const int8_t *x, int32_t step, const int8_t *end, int32_t *sums) {
    int32_t sum = 0, squares = 0;
    if (step == 1) {
        for (; end - x > 3; x += 4) {
            uint32_t word = odt_word(x), evens = odt_evens(word), odds = odt_odds(word);
            sum = odt_smlad(odds, 0x00010001, odt_smlad(evens, 0x00010001, sum));
            squares = odt_smlad(odds, odds, odt_smlad(evens, evens, squares));
        }
    }
    for (; x != end; x += step) {
        sum += *x;
        squares += *x * *x;
    }
    sums[0] = sum;
    sums[1] = squares;
}

#endif
