// The gradient of a convolution's filters on a Cortex-M0+ if most errors are 0, as after a max-pooling: for each filter
// those that are not are listed, and each of its taps is a column of x times that list (sum_columns_i8__m0.h). Inputs
// are copied to the stack for that, with zx outside the image, so that all taps meet all errors.

#ifndef ODT_CONV2D_DW_I8_M0_H
#define ODT_CONV2D_DW_I8_M0_H

#include <string.h>

#include "../../core.h"
#include "../../fixed.h"
#include "../../opcodes.h"
#include "../../threads.h"
#include "../../common/window.h"
#include "../../common/words.h"
#include "../correlate.h"
#include "copy_rows_i8__m0.h"
#include "sum_columns_i8__m0.h"

enum { ERRORS = 128, AT_ONCE = 64 }; // of a list, and those that are scanned at a time, or a row of them

// A tile of errors, in one image or in several whole ones, and the inputs that it meets.
typedef struct {
    int32_t images, rows, columns; // of errors
    int32_t lines, pitch;          // rows of inputs, and bytes of one
    int8_t inputs[ODT_DW_INPUTS] __attribute__((aligned(4)));
} tile_t;

// Copies the inputs of the tile whose first error is at row oh, column ow of image b.
static ODT_COMPACT void fill_tile(tile_t *t, const odt_conv2d_dw_i8_t *a, int32_t b, int32_t oh, int32_t ow) {
    int32_t C = a->C, line = a->W * C, ih = oh * a->SH - a->PT, iw = ow * a->SW - a->PL;
    odt_taps_t h = odt_taps(ih, t->lines, a->H), w = odt_taps(iw, t->pitch / C, a->W);
    int32_t count = h.to - h.from, length = (w.to - w.from) * C;
    int8_t *to = t->inputs + h.from * t->pitch + w.from * C;
    const int8_t *x = a->x + (b * a->H + ih + h.from) * line + (iw + w.from) * C;
    if (b == 0 || t->images == 1) { // zx around whole images stays
        memset(t->inputs, a->zx, sizeof(t->inputs));
    }
    for (int32_t left = count > 0 && length > 0 ? odt_min(t->images, a->B - b) : 0; left > 0; left--) {
        odt_copy_rows_i8__m0(to, t->pitch, x, line, count, length);
        to += t->lines * t->pitch;
        x += a->H * line;
    }
}

// dw += the listed errors times x.
static inline void add_listed(const odt_conv2d_dw_i8_t *a, const tile_t *t, int32_t *dw, const odt_listed_t *list,
    const odt_listed_t *end) {
    odt_columns_t c = {.sums = dw, .list = list, .end = end, .w = t->inputs, .rows = a->KH};
    if (end != list) {
        odt_sum_rows(&c, a->KW * a->C, t->pitch, a->KW * a->C, 0);
    }
}

// Adds the errors of a tile that begins with e to a filter's gradient.
static ODT_COMPACT __attribute__((noinline)) void add_tile_m0(const odt_conv2d_dw_i8_t *a, const tile_t *t,
    int32_t images, int32_t rows, int32_t columns, const int8_t *e, int32_t *dw) {
    odt_listed_t list[ERRORS], *at = list;
    int32_t N = a->N, row = a->OW * N, down = a->SH * t->pitch, image = t->lines * t->pitch, offset = 0;
    int32_t most = odt_max(AT_ONCE / columns, 1);
    odt_scan_t scan = {.step = N, .apart = a->SW * a->C, .count = columns, .e_skip = row - columns * N,
        .beyond = image - rows * down};
    scan.skip = down - columns * scan.apart;
    for (; images; images -= scan.images, e += (a->OH - rows) * row, offset += scan.images * image) {
        for (int32_t oh = 0; oh < rows; oh += scan.rows, e += scan.images * scan.rows * row) {
            int32_t room = (int32_t)(list + ERRORS - at);
            scan.rows = odt_min(rows - oh, most);
            if (room < scan.rows * columns) {
                add_listed(a, t, dw, list, at);
                at = list;
                room = ERRORS;
            }
            scan.images = scan.rows == rows ? odt_min(room / (rows * columns), images) : 1;
            at = odt_list_errors(at, e, offset + oh * down, &scan);
        }
    }
    add_listed(a, t, dw, list, at);
    offset = odt_wrap_mul(scan.sum, a->zx);
    for (int32_t *end = dw + a->KH * a->KW * a->C; dw != end; dw++) {
        *dw = odt_wrap_sub(*dw, offset);
    }
}

static inline int32_t fitting(int32_t size, int32_t taps, int32_t stride, int32_t most) {
    return odt_min((size - taps) / stride + 1, most);
}

// Channels first .. stop - 1, from one nonzero error to the next. Tiles are as large as their inputs allow.
static ODT_COMPACT void conv2d_dw_channels(const void *arguments, int32_t first, int32_t stop, int32_t *peak) {
    const odt_conv2d_dw_i8_t *a = arguments;
    int32_t filter = a->KH * a->KW * a->C, C = a->C, most = ODT_DW_INPUTS - 4; // more than a row's bytes are read
    tile_t t;
    (void)peak;
    memset(a->dw + first * filter, 0, (size_t)(stop - first) * (size_t)filter * sizeof(int32_t));
    t.columns = fitting(most / (C * a->KH), a->KW, a->SW, odt_min(a->OW, ERRORS));
    t.pitch = ((t.columns - 1) * a->SW + a->KW) * C;
    t.rows = fitting(most / t.pitch, a->KH, a->SH, a->OH);
    t.lines = (t.rows - 1) * a->SH + a->KH;
    t.images = t.rows == a->OH && t.columns == a->OW ? most / (t.lines * t.pitch) : 1;
    for (int32_t b = 0; b < a->B; b += t.images) {
        for (int32_t oh = 0; oh < a->OH; oh += t.rows) {
            for (int32_t ow = 0; ow < a->OW; ow += t.columns) {
                const int8_t *e = a->e + ((b * a->OH + oh) * a->OW + ow) * a->N + a->at;
                fill_tile(&t, a, b, oh, ow);
                for (int32_t n = first; n < stop; n++) {
                    odt_poll();
                    add_tile_m0(a, &t, odt_min(t.images, a->B - b), odt_min(t.rows, a->OH - oh),
                        odt_min(t.columns, a->OW - ow), e + n, a->dw + n * filter);
                }
            }
        }
    }
}

#endif
