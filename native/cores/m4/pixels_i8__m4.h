// Converts sums of four adjacent channels to outputs, on cores with SMLAD, a Cortex-M4 and later.

#ifndef ODT_PIXELS_I8_M4_H
#define ODT_PIXELS_I8_M4_H

#include "../../core.h"
#include "rows_i8__m4.h"

// The odt_scale_t of four channels; their results are larger by 128.
typedef struct {
    struct {
        int32_t m, half;
    } of[4];
    int32_t shifts[4];
    int kind; // the worst kind among these
} odt_scales_t;

// Finds the scales of four multipliers. See odt_find_scale().
void odt_find_scales(
    odt_scales_t *scales, const odt_multiplier_t *q, const int32_t *start, int32_t most, int32_t zy);

// Converts the sums of `count` > 0 pixels to y, `step` bytes apart, and updates bounds. Returns whether it was
// possible.
int odt_finish_pixels(int32_t (*sums)[4], int32_t count, const odt_scales_t *scales, int8_t *y, int32_t step,
    int32_t zy, int32_t lo, int32_t *bounds);

// How sums become v + 128: ((sum * m >> 32) + half) >> shift; with a shift of 16 if the panel has 256 times the
// weights; or without a shift: half + sum * m / (1 << 32), rounded.
enum { ODT_SHIFTED, ODT_UPPER, ODT_ROUNDED };

// Multiplies windows of bytes by a panel and converts the sums to outputs of four adjacent channels. A window may have
// several lines of `words` words: `jump` bytes lead from the end of each, the last one too, to the next line.
typedef struct {
    int32_t m[4], half;
    uint32_t found[2];    // the largest and the smallest v in each half
    const int16_t *panel; // per line `words` > 0 times four products, at most 96, of pairs 128
    int32_t start[4];     // overwritten if sums start from 0
    int32_t step, back;   // bytes from an output to the next; from the end of a window to the next
    const int8_t *end;    // of y
    // the entry of the loop, the end of a window's words, the code after it
    int32_t words, entry, stop, shift, way, finish;
    #if !ODT_MPY
    int32_t last; // the code after the last line
    const int16_t *panel_end; // or NULL: there is one line
    int32_t jump;
    #endif
    int32_t scale;
} odt_maker_t;

// The scales of `channels` multipliers, q_step apart; the last is repeated. Returns whether they can have one shift,
// with all v in 16 bits. ODT_UPPER only if allowed.
int odt_begin_maker(odt_maker_t *maker, const odt_multiplier_t *q, int32_t q_step, int32_t channels,
    const int32_t *start, int32_t most, int32_t zy, int may_be_upper);

// Subtracts zx times the weights of a panel of `words` words.
void odt_begin_sums(int32_t *sums, const int16_t *panel, int32_t words, int32_t zx);

// Rows of windows, x_row bytes apart, and of outputs, y_row bytes apart.
typedef struct {
    const int8_t *x;
    int8_t *y;
    int32_t x_row, y_row, rows, count;
} odt_made_t;

// How a loop begins: windows of bytes; the same, whose sums start from 0; windows of pairs (odt_widen_tile_i8()).
enum { ODT_OF_BYTES, ODT_OF_ZERO, ODT_OF_PAIRS };

// Computes `rows` times `count` > 0 outputs and updates the bounds.
void odt_make_pixels(odt_maker_t *maker, const odt_made_t *made, int kind, int32_t zy, int32_t lo, int32_t *bounds);

#endif
