// Tiles of inputs, as the depthwise convolutions of a Cortex-M0+ read them (depthwise2d_i8__m0.c,
// depthwise2d_dw_i8__m0.c).
//
// A tile holds, as words, the inputs of a block of outputs of one channel. It includes the padding around the image, so
// that all windows are alike. Word p of a row is x[p] + x[p + S] * 65536, with S the stride along a row. It has the
// inputs of one tap for two adjacent outputs.

#ifndef ODT_DEPTHWISE2D_TILE_I8_M0_H
#define ODT_DEPTHWISE2D_TILE_I8_M0_H

#include "../../core.h"
#include "../depthwise.h"

#if ODT_M0_DEPTHWISE

enum {
    ODT_TILE_WORDS = 324,  // with 3x3 filters: 16x16 outputs
    ODT_TILE_SUMS = 256,
};

// The arguments of fill_rows.
typedef struct {
    int32_t *to;        // 0: the word with the first element in its upper half
    const int8_t *from; // 4: the first element - step
    int32_t step;       // 8: from one element to the next
    int32_t bulk;       // 12: bytes of the words made of a row's elements in twos (with a stride in fours)
    int32_t skip;       // 16: bytes from the last word of a row to the next row's first
    int32_t from_skip;  // 20
    int32_t zx;         // 24
    int32_t stride;     // 28: 1 or 2
    const int32_t *end; // 32: `to` after the last row
    int32_t rest;       // 36: remaining elements of a row
    int32_t rows;
} odt_tile_rows_t;

// The arguments of odt_tile_plan() and, below them, its results.
typedef struct {
    int32_t H, W, KH, KW, SH, SW, top, left, OH, OW, zx; // as in odt_depthwise_t
    int32_t x_h, x_w;   // from one row of the image to the next, from one column
    int32_t group;      // outputs of a row computed at a time, 2 or 4
    int32_t most;       // outputs of a tile, its rows rounded up to groups: at most ODT_TILE_SUMS
    int32_t *words;     // ODT_TILE_WORDS + 2
    int32_t high, wide; // rows and columns of outputs of a tile; the last tiles may have fewer
    int32_t pitch;      // words of a row; the first SW are in no window
    // odt_tile_next() sets these: the place and the number of the tile's outputs.
    int32_t oh, ow, rows, columns;
    int32_t even;         // columns rounded up to groups
    int32_t from;         // of the first input inside the image, minus x_w
    odt_tile_rows_t fill;
    int32_t unpolled; // outputs since odt_poll() was called
} odt_tile_t;

// Divides outputs into tiles. Returns whether this is possible: strides along rows must be 1 or 2.
int odt_tile_plan(odt_tile_t *t);

// Moves to the next tile, from oh = -1 on, and fills its padding. Returns 0 after the last tile.
int odt_tile_next(odt_tile_t *t);

// Fills the tile with the inputs of a channel; x is the first input of the image. It may be called for several channels
// and images.
void odt_tile_fill(odt_tile_t *t, const int8_t *x);

// The function that fills the tile, after `from` is set in its argument. It preserves no register except the stack
// pointer.
typedef void odt_tile_fill_t(const odt_tile_rows_t *fill);
odt_tile_fill_t *odt_tile_filler(const odt_tile_t *t);

// For a tile that holds only padding, or its inputs already.
void odt_tile_fill_nothing(const odt_tile_rows_t *fill);

// Call it for each channel of a tile: a poll takes as long as a few outputs.
static inline void odt_tile_poll(odt_tile_t *t) {
    t->unpolled += t->rows * t->even;
    if (t->unpolled >= ODT_TILE_SUMS) {
        t->unpolled = 0;
        odt_poll();
    }
}

// The first window of the tile.
static inline const int32_t *odt_tile_windows(const odt_tile_t *t) {
    return t->words + t->SW;
}

#endif

#endif
