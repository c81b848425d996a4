// The inputs of a tile of a convolution's outputs on a PC: lines of x, surrounded by zx, in which windows are read in
// place.

#ifndef ODT_WINDOWS_X86_H
#define ODT_WINDOWS_X86_H

#include <stddef.h>

#include "../../core.h"
#include "../../fixed.h"
#include "../correlate.h"
#include "finish__x86.h"

#if ODT_X86

// Windows of x [B, H, W, C], zx outside.
typedef struct {
    const int8_t *x;
    int32_t B, H, W, C, KH, KW, SH, SW, top, left, OH, OW, zx;
} odt_x86_windows_t;

// The outputs of a tile: whole images, rows of an image, or columns of a row.
typedef struct {
    int32_t image, images, row, rows, column, columns;
} odt_x86_tile_t;

// Distances from one output of a tile to the next.
typedef struct {
    int32_t image, row, column;
} odt_x86_position_t;

static inline int32_t odt_line_size(const odt_x86_windows_t *w, const odt_x86_tile_t *t) {
    return ((t->columns - 1) * w->SW + w->KW) * w->C;
}

static inline int32_t odt_image_lines(const odt_x86_windows_t *w, const odt_x86_tile_t *t) {
    return (t->rows - 1) * w->SH + w->KH;
}

// The largest tile with at most `lines` elements of x and `most` outputs; returns 0 if not even one output fits.
static inline int odt_tile_of(const odt_x86_windows_t *w, int32_t lines, int32_t most, odt_x86_tile_t *t) {
    int64_t width = ((w->OW - 1) * (int64_t)w->SW + w->KW) * w->C, height = (w->OH - 1) * (int64_t)w->SH + w->KH;
    int64_t window = (int64_t)w->KH * w->KW * w->C;
    odt_x86_tile_t found = {0, 1, 0, 1, 0, 1};
    if (window > lines || window <= 0) {
        return 0;
    }
    if (width * w->KH > lines || w->OW > most) {
        int32_t room = (lines / (w->KH * w->C) - w->KW) / w->SW + 1;
        found.columns = odt_min(odt_min(room, most), w->OW);
    } else if (width * height > lines || w->OH > most / w->OW) {
        int32_t room = (int32_t)((lines / width - w->KH) / w->SH + 1);
        found.columns = w->OW;
        found.rows = odt_min(odt_min(room, most / w->OW), w->OH);
    } else {
        found.columns = w->OW;
        found.rows = w->OH;
        found.images = odt_min(odt_min((int32_t)(lines / (width * height)), most / (w->OH * w->OW)), w->B);
    }
    *t = found;
    return 1;
}

// The tile, cut off at the end of the outputs.
static inline odt_x86_tile_t odt_cut_tile(const odt_x86_windows_t *w, const odt_x86_tile_t *t) {
    odt_x86_tile_t cut = *t;
    cut.images = odt_min(t->images, w->B - t->image);
    cut.rows = odt_min(t->rows, w->OH - t->row);
    cut.columns = odt_min(t->columns, w->OW - t->column);
    return cut;
}

// Moves to the next tile; returns 0 after the last.
static inline int odt_next_tile(const odt_x86_windows_t *w, odt_x86_tile_t *t) {
    t->column += t->columns;
    if (t->column >= w->OW) {
        t->column = 0;
        t->row += t->rows;
        if (t->row >= w->OH) {
            t->row = 0;
            t->image += t->images;
        }
    }
    return t->image < w->B;
}

// Finds where the windows of the next outputs begin in the lines, and the offsets of their outputs from y; returns
// their number.
static inline int32_t odt_next_outputs(const odt_x86_windows_t *w, const odt_x86_tile_t *t, odt_x86_position_t *p,
    int32_t most, int32_t *offsets, const odt_correlation_t *a, int32_t *places) {
    int32_t count = 0, size = odt_line_size(w, t), height = odt_image_lines(w, t), step = w->SW * w->C;
    while (count < most && p->image < t->images) {
        int32_t here = odt_min(most - count, t->columns - p->column);
        int32_t offset = (p->image * height + p->row * w->SH) * size + p->column * step;
        for (int32_t i = 0; i < here; i++) {
            offsets[count + i] = offset + i * step;
        }
        if (a) {
            int32_t place = (t->image + p->image) * a->y_b + (t->row + p->row) * a->y_oh;
            for (int32_t i = 0; i < here; i++) {
                places[count + i] = place + (t->column + p->column + i) * a->y_ow;
            }
        }
        count += here;
        p->column += here;
        if (p->column == t->columns) {
            p->column = 0;
            if (++p->row == t->rows) {
                p->row = 0;
                p->image++;
            }
        }
    }
    return count;
}

static inline odt_x86_windows_t odt_windows(const odt_correlation_t *a) {
    return (odt_x86_windows_t){
        a->x, a->B, a->H, a->W, a->C, a->KH, a->KW, a->SH, a->SW, a->top, a->left, a->OH, a->OW, a->zx};
}

static inline int odt_takes_bytes(const odt_correlation_t *a) {
    return a->zx == (int8_t)a->zx && a->zy == (int8_t)a->zy && a->lo == (int8_t)a->lo && a->lo <= a->zy;
}

// Converts sums of 16 filters to outputs, for any multipliers, such as those of a range's first, too fine scale.
static inline void odt_finish_any(
    const odt_correlation_t *a, int32_t n, const int32_t *sums, int32_t count, int8_t *y, const int32_t *places) {
    int32_t filters = odt_min(ODT_X86_WIDTH, a->N - n);
    for (int32_t j = 0; j < filters; j++) {
        odt_multiplier_t q = odt_checked(&a->q[(n + j) * a->q_step]);
        int32_t offset = a->bias ? a->bias[n + j] : 0;
        for (int32_t i = 0; i < count; i++) {
            y[places[i] + j] =
                odt_clamp(odt_rescaled(odt_wrap_add(sums[i * ODT_X86_WIDTH + j], offset), q), a->zy, a->lo, a->peak);
        }
    }
}

#endif

#endif
