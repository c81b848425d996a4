// Adds multiples of rows of bytes to rows of sums, on a Cortex-M0+: 39 cycles for four elements, 17 per row.

#ifndef ODT_AXPY_I8_M0_H
#define ODT_AXPY_I8_M0_H

#include <stdint.h>

// sums += e * (x + plus) for `rows` > 0 rows; sums wrap.
typedef struct {
    int32_t *sums;               // 0
    const int8_t *x;             // 4
    int32_t e, plus;             // 8, 12
    int32_t fours, rest;         // 16, 20: bytes of a row's sums in groups of four; remaining elements
    int32_t x_skip, sums_skip;   // 24, 28: bytes from the end of a row to the next
    int32_t rows;                // 32
} odt_axpy_rows_t;

void odt_axpy_rows(const odt_axpy_rows_t *a);

#endif
