// Sums of depthwise convolutions over the tiles of depthwise2d_tile_i8__m0.h.

#ifndef ODT_DEPTHWISE2D_SUM_I8_M0_H
#define ODT_DEPTHWISE2D_SUM_I8_M0_H

#include "../../core.h"
#include "depthwise2d_tile_i8__m0.h"

#if ODT_M0_DEPTHWISE

// A filter and its windows of a tile. Assembly loads it.
typedef struct {
    const int32_t *w;    // 0
    const int32_t *x;    // 4: the first window
    int32_t *sums;       // 8
    int32_t offset;      // 12: of all sums
    int32_t row;         // 16: bytes from the end of a window's row to its next row
    int32_t back;        // 20: from the end of a window to the next group's first window
    int32_t even;        // 24: of the sums of a row of outputs, rounded up to groups
    int32_t skip;        // 28: from the end of a row's groups to the first group of the next row
    int32_t rows;        // 32
    int32_t KH, KW;      // 36, 40: of any size
} odt_windows_t;

// 3x3 filters, in groups of 4 (without a stride) or 2; 2x2, 1x3 and KH x KW filters, in groups of 2. These functions
// preserve no register except the stack pointer; their caller, run_planes(), expects this (depthwise2d_i8__m0.c).
typedef void odt_sum_t(const odt_windows_t *windows);
void odt_sum_fours(const odt_windows_t *windows);
void odt_sum_pairs(const odt_windows_t *windows);
void odt_sum_small(const odt_windows_t *windows);
void odt_sum_lines(const odt_windows_t *windows);
void odt_sum_any(const odt_windows_t *windows);

// A 3x3 filter in the gradient of the input, with a stride of 2: squares of 2x2 sums, in groups of 2. `row` belongs to
// the tile, `even` to a row of sums; a row of windows has two rows of sums. There is no offset.
void odt_sum_squares(const odt_windows_t *windows);

// The same added to the sums that are there, for groups of several inputs.
void odt_add_fours(const odt_windows_t *windows);
void odt_add_pairs(const odt_windows_t *windows);
void odt_add_small(const odt_windows_t *windows);
void odt_add_lines(const odt_windows_t *windows);
void odt_add_any(const odt_windows_t *windows);
void odt_add_squares(const odt_windows_t *windows);

#endif

#endif
