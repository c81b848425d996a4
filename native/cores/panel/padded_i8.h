// Rows of a convolution's input with zx on both sides. A row of a narrow image is copied once, for all windows that
// read it; no window then crosses the border.

#ifndef ODT_PADDED_I8_H
#define ODT_PADDED_I8_H

#include <string.h>

#include "../../core.h"
#include "../../fixed.h"
#include "../correlate.h"
#if ODT_M4
#include "../m4/words__m4.h"
#endif

// Describes windows of x [B, H, W, C], with zx outside. A window has `lines` lines of `length` bytes: a line is one of
// its rows, or one tap if pixels lie apart.
typedef struct {
    const int8_t *x;
    int32_t H, W, pixel, SH, SW, top, left, OH, OW, line_taps, KW, lines, length;
    int8_t zx;
    #if ODT_M4
    int32_t skip; // bytes between pixels of x; they are not copied
    #endif
} windows_t;

// The windows of a convolution, or of the gradient of its filters; both structs have these members.
#define WINDOWS_OF(a) \
    (windows_t) { \
        .x = (a)->x, .H = (a)->H, .W = (a)->W, .pixel = odt_pixel((a)->C, (a)->x_skip), .SH = (a)->SH, .SW = (a)->SW, \
        .top = (a)->top, .left = (a)->left, .OH = (a)->OH, .OW = (a)->OW, \
        .line_taps = odt_line_taps((a)->KW, (a)->x_skip), .KW = (a)->KW, \
        .lines = odt_line_taps((a)->KW, (a)->x_skip) == (a)->KW ? (a)->KH : (a)->KH * (a)->KW, \
        .length = odt_line_taps((a)->KW, (a)->x_skip) * (a)->C, .zx = (int8_t)(a)->zx \
    }

#if ODT_M0

#include "../m0/copy_rows_i8__m0.h"

static inline void copy_rows(
    int8_t *to, int32_t step, const int8_t *x, int32_t stride, int32_t count, int32_t length) {
    odt_copy_rows_i8__m0(to, step, x, stride, count, length);
}

#else

// Copies `count` rows of `length` bytes; they are `stride` bytes apart in x and `step` bytes apart in the result.
static __attribute__((noinline)) void copy_rows(
    int8_t *to, int32_t step, const int8_t *x, int32_t stride, int32_t count, int32_t length) {
    if (length == 3) {
        for (; count > 0; count--, to += step, x += stride) {
            int8_t first = x[0], second = x[1], third = x[2];
            to[0] = first;
            to[1] = second;
            to[2] = third;
        }
        return;
    }
    #if ODT_M4
    for (; length >= 16 && count > 0; count--, to += step, x += stride) {
        odt_copy_line_i8(to, x, length);
    }
    #endif
    for (; count > 0; count--, to += step, x += stride) {
        int32_t i = 0;
        for (; i < length - 3; i += 4) {
            memcpy(to + i, x + i, 4);
        }
        for (; i < length; i++) {
            to[i] = x[i];
        }
    }
}

#endif

// the most bytes of a window's line, the bytes for rows with zx on both sides, and
enum { LINE = 96, PADDED = 256, BEYOND = ODT_M4 ? 4 : 0 };
                                                           // how far words may read past these

// A line of zx, and the rows of x that a row of outputs reads: row ih is at (ih & mask) * pitch. Rows `first` to `next`
// of image b are present. In a row, `inside` bytes from `skip` on are copied to `from`; the rest is zx. If they do not
// fit, pitch = 0.
typedef struct {
    int32_t pitch, mask, from, skip, inside, b, first, next;
    int8_t line[LINE] __attribute__((aligned(4))), rows[PADDED + BEYOND] __attribute__((aligned(4)));
} padded_t;

static void begin_padded(const windows_t *g, padded_t *p) {
    int32_t pixel = g->pixel, slots = 1;
    p->pitch = 0;
    if (g->length > LINE) {
        return;
    }
    memset(p->line, g->zx, (size_t)g->length);
    int is_whole = g->line_taps == g->KW && g->KW * pixel == g->length; // no other channels between
    if (!is_whole || g->lines > PADDED || g->OW > PADDED || g->SW > PADDED) {
        return;
    }
    while (slots < g->lines) {
        slots *= 2;
    }
    int32_t width = (g->OW - 1) * g->SW + g->KW, from = odt_limit(g->left, 0, width), skip = odt_max(-g->left, 0);
    int64_t pitch = ((int64_t)width * pixel + 3) & ~3;
    if (pitch * slots > PADDED) {
        return;
    }
    p->pitch = (int32_t)pitch;
    p->mask = slots - 1;
    p->from = from * pixel;
    p->skip = skip * pixel;
    p->inside = odt_limit(g->W - skip, 0, width - from) * pixel;
    p->b = -1;
    memset(p->rows, g->zx, (size_t)(p->pitch * slots));
}

// Makes the rows of a window available, from row ih of image b on.
static __attribute__((noinline)) void pad_rows(const windows_t *g, padded_t *p, int32_t b, int32_t ih) {
    int32_t size = g->W * g->pixel, start = odt_max(ih, 0), stop = odt_min(ih + g->lines, g->H);
    if (b != p->b || start < p->first || start > p->next) {
        p->b = b;
        p->first = p->next = start;
    }
    for (int32_t row = p->next; row < stop && p->inside > 0; row++) {
        #if ODT_M4
        if (g->skip) {
            int32_t pixel = g->pixel, stride = pixel + g->skip, first = (b * g->H + row) * g->W + p->skip / pixel;
            int8_t *to = p->rows + (row & p->mask) * p->pitch + p->from;
            copy_rows(to, pixel, g->x + first * stride, stride, p->inside / pixel, pixel);
            continue;
        }
        #endif
        copy_rows(p->rows + (row & p->mask) * p->pitch + p->from, 0, g->x + (b * g->H + row) * size + p->skip, 0, 1,
            p->inside);
    }
    p->next = odt_max(p->next, stop);
    p->first = odt_max(p->first, p->next - p->mask - 1);
}

// The line of windows in row ih of x, from `at` bytes on.
static inline const int8_t *padded_line(const windows_t *g, const padded_t *p, int32_t ih, int32_t at) {
    return ih >= 0 && ih < g->H ? p->rows + (ih & p->mask) * p->pitch + at : p->line;
}

#endif
