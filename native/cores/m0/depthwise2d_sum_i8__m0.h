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
    int32_t row;         // 16: bytes from the end of a window's row to its next one
    int32_t back;        // 20: from the end of a window to the next group's first
    int32_t even;        // 24: of the sums of a row of outputs, rounded up to groups
    int32_t skip;        // 28: from where a row of outputs' next group would be to the next row's first
    int32_t rows;        // 32
    int32_t KH, KW;      // 36, 40: of any size
} odt_windows_t;

// Filters of 3x3, in groups of 4 (without a stride) or 2; of 2x2, of 1x3 and of KH x KW, in groups of 2. These
// functions save no register: run_planes() calls them, which expects none to be kept but the stack pointer
// (depthwise2d_i8__m0.c).
void odt_sum_fours(const odt_windows_t *windows);
void odt_sum_pairs(const odt_windows_t *windows);
void odt_sum_small(const odt_windows_t *windows);
void odt_sum_lines(const odt_windows_t *windows);
void odt_sum_any(const odt_windows_t *windows);

// A filter of 3x3 backwards, over errors that lay a stride of 2 apart: squares of 2x2 sums, in groups of 2. `row` is of
// the tile, `even` of a row of sums, of which two belong to a row of windows; no offset.
void odt_sum_squares(const odt_windows_t *windows);

#endif

#endif
