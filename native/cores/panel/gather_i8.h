// Gathers windows of a convolution's input: each becomes a row of bytes, with zx outside the image.

#ifndef ODT_GATHER_I8_H
#define ODT_GATHER_I8_H

#include "../../core.h"
#include "padded_i8.h"

// Copies one row of `count` windows. The first begins `at` bytes into a row of x, which has `size` bytes.
static void gather_row(const windows_t *g, const int8_t *row, int32_t size, int32_t at, int32_t count,
    const int8_t *beside, int8_t *to, int32_t step) {
    int32_t length = g->length, stride = g->SW * g->pixel;
    while (count > 0) {
        int32_t whole = 1;
        if (at >= 0 && at + length <= size) {
            int32_t rest = size - length - at;
            whole = rest >= stride * (count - 1) ? count : rest / stride + 1;
            copy_rows(to, step, row + at, stride, whole, length);
        } else if (at >= size || at + length <= 0) {
            whole = at >= size ? count : 1;
            copy_rows(to, step, beside, 0, whole, length);
        } else if (ODT_M0 && length > 8) {
            int32_t from = odt_max(-at, 0), end = odt_min(size - at, length); // the part inside the row
            if (from > 0) {
                copy_rows(to, step, beside, 0, 1, from);
            }
            copy_rows(to + from, step, row + at + from, 0, 1, end - from);
            if (end < length) {
                copy_rows(to + end, step, beside, 0, 1, length - end);
            }
        } else {
            for (int32_t i = 0; i < length; i++) {
                to[i] = (uint32_t)(at + i) < (uint32_t)size ? row[at + i] : g->zx;
            }
        }
        to += whole * step;
        count -= whole;
        at += whole * stride;
    }
}

#if ODT_M4

// Copies `count` rows of `length` bytes, as whole words.
static void copy_words(int8_t *to, int32_t step, const int8_t *x, int32_t stride, int32_t count, int32_t length) {
    for (; length > 4; length -= 8, to += 8, x += 8) {
        int8_t *at = to;
        const int8_t *from = x;
        for (int32_t i = count; i; i--, at += step, from += stride) {
            memcpy(at, from, 8);
        }
    }
    for (; length > 0 && count; count--, to += step, x += stride) {
        memcpy(to, x, 4);
    }
}

// Copies windows of `lines` > 0 lines, `pitch` bytes apart, of at most four bytes; words may be written past the last.
static inline void copy_lines(int8_t *to, int32_t step, const int8_t *x, int32_t stride, int32_t count, int32_t length,
    int32_t pitch, int32_t lines) {
    for (; count; count--, to += step, x += stride) {
        int8_t *at = to;
        const int8_t *from = x;
        for (int32_t i = lines; i; i--, at += length, from += pitch) {
            memcpy(at, from, 4);
        }
    }
}

#endif

#if ODT_M0

// Copies lines of four bytes at even addresses, as for 10x4 taps of one channel: calling copy_rows() would take longer
// than the copy.
static inline void copy_fours(int8_t *to, int32_t step, const int8_t *x, int32_t stride, int32_t count) {
    for (; count; count--, to += step, x += stride) {
        memcpy(__builtin_assume_aligned(to, 2), __builtin_assume_aligned(x, 2), 2);
        memcpy(__builtin_assume_aligned(to + 2, 2), __builtin_assume_aligned(x + 2, 2), 2);
    }
}

#endif

// Copies `count` windows; the first begins `at` bytes into padded row ih.
static __attribute__((noinline)) void gather_padded(
    const windows_t *g, const padded_t *p, int32_t ih, int32_t at, int32_t count, int8_t *to, int32_t step) {
    int32_t H = g->H, length = g->length, pitch = p->pitch, mask = p->mask, stride = g->SW * g->pixel;
    const int8_t *rows = p->rows + at;
    #if ODT_M0
    // and so is the pitch
    int is_four = length == 4 && (((uintptr_t)rows | (uintptr_t)to | (uintptr_t)stride | (uintptr_t)step) & 1) == 0;
    #endif
    #if ODT_M4
    int32_t words = (length + 3) & ~3, reach = words; // the end of a line's words in a window
    if (words == 4 && g->lines > count && reach + (g->lines - 1) * length <= step) { // adjacent rows, window by window
        for (int32_t stop = ih + g->lines, here; ih < stop; ih += here, to += here * length) {
            if (ih < 0 || ih >= H) {
                here = ih < 0 ? odt_min(-ih, stop - ih) : stop - ih;
                copy_lines(to, step, p->line, 0, count, length, 0, here);
            } else {
                here = odt_min(odt_min(stop, H) - ih, mask + 1 - (ih & mask));
                copy_lines(to, step, rows + (ih & mask) * pitch, stride, count, length, pitch, here);
            }
        }
        return;
    }
    #endif
    for (int32_t stop = ih + g->lines; ih < stop; ih++, to += length) {
        int is_inside = ih >= 0 && ih < H;
        #if ODT_M0
        if (is_four) {
            copy_fours(to, step, is_inside ? rows + (ih & mask) * pitch : p->line, is_inside ? stride : 0, count);
            continue;
        }
        #endif
        #if ODT_M4
        if (reach <= step) { // bytes past the line are overwritten later, or not used
            copy_words(
                to, step, is_inside ? rows + (ih & mask) * pitch : p->line, is_inside ? stride : 0, count, words);
            reach += length;
            continue;
        }
        #endif
        copy_rows(to, step, is_inside ? rows + (ih & mask) * pitch : p->line, is_inside ? stride : 0, count, length);
    }
}

// Copies windows m .. m + count - 1 to rows `step` bytes apart. Calls must cover the windows in order, from m = 0 on.
static __attribute__((noinline)) void gather_windows(const windows_t *g, int32_t m, int32_t count, int8_t *to,
    int32_t step, padded_t *p) {
    int32_t row = m / g->OW, ow = m - row * g->OW, b = row / g->OH, oh = row - b * g->OH, size = g->W * g->pixel;
    if (m == 0) {
        begin_padded(g, p);
    }
    while (count > 0) {
        int32_t here = odt_min(g->OW - ow, count), ih = oh * g->SH - g->top, first = ow * g->SW - g->left, kw = 0;
        if (p->pitch) {
            pad_rows(g, p, b, ih);
            gather_padded(g, p, ih, ow * g->SW * g->pixel, here, to, step);
        }
        for (int32_t line = p->pitch ? g->lines : 0; line < g->lines; line++) {
            int8_t *at = to + line * g->length;
            if (ih >= 0 && ih < g->H) {
                gather_row(g, g->x + (b * g->H + ih) * size, size, (first + kw) * g->pixel, here, p->line, at, step);
            } else {
                copy_rows(at, step, p->line, 0, here, g->length);
            }
            kw += g->line_taps;
            if (kw == g->KW) {
                kw = 0;
                ih++;
            }
        }
        to += here * step;
        count -= here;
        ow = 0;
        if (++oh == g->OH) {
            oh = 0;
            b++;
        }
    }
}

#endif
