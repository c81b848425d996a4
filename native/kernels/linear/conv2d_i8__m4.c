// Products of int8 matrices (conv2d_i8.h) on cores with SMLAD, a Cortex-M4 and later: the forward pass. Four
// windows of x are packed on the stack, x - zx as int16, their borders filled; filters are then run over
// them where they lie. The stack holds 2.4 KB.

#include "../../core.h"
#include "conv2d_i8.h"

#if ODT_M4

#include "../../fixed.h"
#include "../common/words__m4.h"
#include "conv2d_i8__m4.h"
#include "dense_i8__m4.h"
#include "padded_i8.h"
#include "rows_i8__m4.h"

enum {
    WINDOWS = 4, // of a panel
    DEPTH = 96, // products a panel has, a multiple of 4
    ROWS = 32,   // filters at a time
};

typedef struct {
    const int8_t *image; // that the window is of; the window, if it is a pixel
    int32_t b, ih, iw;   // where it begins
    int is_inside;
    int8_t *y;
} window_t;

typedef struct {
    int16_t panel[WINDOWS * DEPTH];
    odt_row_t rows[ROWS];
    int8_t last[DEPTH]; // a copy of the last filters' ends, past which nothing may be read
    windows_t g;
    padded_t padded;
} scratch_t;

// `count` bytes to a window of the panel, less zx, and zeros to a multiple of four.
__attribute__((noinline)) static void widen(int16_t *panel, const int8_t *x, int32_t count, int32_t zx) {
    uint32_t minus = odt_twice(-zx), *to = (uint32_t *)(void *)panel;
    for (; count >= 8; count -= 8, x += 8, to += 16) {
        uint32_t first = odt_word(x), second = odt_word(x + 4);
        to[0] = odt_even(first, minus);
        to[1] = odt_odd(first, minus);
        to[8] = odt_even(second, minus);
        to[9] = odt_odd(second, minus);
    }
    for (; count > 0; count -= 4, x += 4, to += 8) {
        uint32_t word = count >= 4 ? odt_word(x) : odt_word_within(x, 0, count, zx);
        to[0] = odt_even(word, minus);
        to[1] = odt_odd(word, minus);
    }
}

// Depths k .. end - 1 of a window.
static void pack(const odt_correlation_t *a, const window_t *p, int32_t k, int32_t end, scratch_t *s, int16_t *panel) {
    int32_t taps = odt_line_taps(a->KW, a->x_skip), length = taps * a->C, pixel = odt_pixel(a->C, a->x_skip);
    int32_t size = a->W * pixel, at = p->iw * pixel, zx = a->zx, total = end - k;
    int32_t line = k ? k / length : 0, from = k - line * length;
    int32_t kh = taps == a->KW ? line : line / a->KW, kw = taps == a->KW ? 0 : line - kh * a->KW;
    const int8_t *row = p->image + (p->ih + kh) * size;
    int is_direct = p->is_inside && (length % 4 == 0 || length == a->KH * a->KW * a->C);
    int is_padded = !p->is_inside && s->padded.pitch && length % 4 == 0;
    int8_t bytes[DEPTH], *to = bytes;
    if (is_padded) {
        pad_rows(&s->g, &s->padded, p->b, p->ih);
    }
    while (k < end) {
        int32_t count = odt_min(length - from, end - k), first = at + kw * pixel + from;
        if (is_direct || is_padded) {
            widen(panel, is_direct ? row + first : padded_line(&s->g, &s->padded, p->ih + kh, at + a->left * pixel) + from, count, zx);
            panel += count * WINDOWS;
        } else if (p->is_inside) {
            odt_copy(to, row + first, count);
        } else {
            int is_row = p->ih + kh >= 0 && p->ih + kh < a->H;
            odt_gather(to, row, first, count, is_row ? size : 0, zx);
        }
        to += count;
        k += count;
        from = 0;
        kw += taps;
        if (kw == a->KW) {
            kw = 0;
            kh++;
            row += size;
        }
    }
    if (!is_direct && !is_padded) {
        widen(panel, bytes, total, zx);
    }
}

// How sums of the filters n .. become outputs; returns the worst kind of scale.
static int prepare(const odt_correlation_t *a, int32_t n, int32_t count, int32_t depth, odt_row_t *rows) {
    int worst = ODT_SHORT;
    int32_t most = odt_most(depth, a->zy, a->lo), zy = a->zy, step = a->q_step;
    const odt_multiplier_t *q = a->q + n * step;
    const int32_t *bias = a->bias ? a->bias + n : NULL;
    for (odt_row_t *end = rows + count; rows != end; rows++, q += step) {
        rows->start = bias ? *bias++ : 0;
        worst = odt_min(worst, odt_find_scale(q, rows->start, most, zy, &rows->scale));
    }
    return worst;
}

// Windows first .. of all, the last repeated to four.
static int32_t locate(const odt_correlation_t *a, int32_t first, int32_t total, window_t *windows) {
    int32_t row = first / a->OW, ow = first - row * a->OW, b = row / a->OH, oh = row - b * a->OH;
    int32_t count = odt_min(total - first, WINDOWS);
    for (int32_t i = 0; i < WINDOWS; i++) {
        int32_t ih = oh * a->SH - a->top, iw = ow * a->SW - a->left;
        windows[i].image = a->x + b * a->H * a->W * odt_pixel(a->C, a->x_skip);
        windows[i].b = b;
        windows[i].ih = ih;
        windows[i].iw = iw;
        windows[i].is_inside = ih >= 0 && ih + a->KH <= a->H && iw >= 0 && iw + a->KW <= a->W;
        windows[i].y = a->y + b * a->y_b + oh * a->y_oh + ow * a->y_ow;
        if (i + 1 < count && ++ow == a->OW) {
            ow = 0;
            if (++oh == a->OH) {
                oh = 0;
                b++;
            }
        }
    }
    return count;
}

// The same where windows are pixels of one row, as those of dense layers.
static int32_t locate_pixels(const odt_correlation_t *a, int32_t first, int32_t total, window_t *windows) {
    int32_t count = odt_min(total - first, WINDOWS), pixel = odt_pixel(a->C, a->x_skip);
    for (int32_t i = 0; i < WINDOWS; i++) {
        windows[i].image = a->x + first * pixel;
        windows[i].y = a->y + first * a->y_ow;
        first += i + 1 < count;
    }
    return count;
}

static void run(scratch_t *s, int32_t first, int32_t last, const int8_t *w, const int16_t *panel, int32_t words,
    int32_t back, int is_start) {
    if (first < last) {
        if (is_start) {
            odt_start_rows(s->rows + first, s->rows + last, panel, w, words, back);
        } else {
            odt_add_rows(s->rows + first, s->rows + last, panel, w, words, back);
        }
    }
}

// Filters n .. n + count - 1 over all windows.
static void correlate(const odt_correlation_t *a, int32_t n, int32_t count, scratch_t *s, int32_t *bounds) {
    int32_t depth = a->KH * a->KW * a->C, total = a->B * a->OH * a->OW, safe = count, tail = depth % DEPTH;
    int32_t run_depth = odt_is_contiguous(a) ? depth : a->C; // of a filter's weights that lie together, else whole words
    const int8_t *w = a->w + n * a->w_n;
    int are_pixels = odt_is_pointwise(a) && a->B * a->OH == 1;
    int kind = prepare(a, n, count, depth, s->rows);
    if (tail % 4 && n + count == a->N) { // a word would end past the last filter, or the last three if they are short
        safe = odt_max(count - (depth < 4 ? 3 : 1), 0);
        for (int32_t i = safe; i < count; i++) {
            int32_t length = (tail + 3) & ~3;
            odt_gather(s->last + (i - safe) * length, w + i * a->w_n + depth - tail, 0, length, tail, 0);
        }
    }
    window_t windows[WINDOWS];
    for (int32_t first = 0; first < total; first += WINDOWS) {
        odt_poll();
        int32_t here = (are_pixels ? locate_pixels : locate)(a, first, total, windows);
        for (int32_t i = 0; depth == 0 && i < count; i++) {
            for (int32_t j = 0; j < WINDOWS; j++) {
                s->rows[i].sums[j] = s->rows[i].start;
            }
        }
        for (int32_t k = 0; k < depth; k += DEPTH) {
            int32_t end = odt_min(k + DEPTH, depth), direct = end == depth ? safe : count;
            for (int32_t i = 0; i < WINDOWS; i++) {
                if (are_pixels) {
                    widen(s->panel + 4 * i, windows[i].image + k, end - k, a->zx);
                } else {
                    pack(a, &windows[i], k, end, s, s->panel + 4 * i);
                }
            }
            for (int32_t at = k, stop; at < end; at = stop) {
                int32_t part = run_depth == depth ? 0 : at / run_depth, kh = part / a->KW;
                const int8_t *from = w + kh * a->w_kh + (part - kh * a->KW) * a->w_kw + at - part * run_depth;
                stop = odt_min((part + 1) * run_depth, end);
                int32_t words = (stop - at + 3) >> 2;
                run(s, 0, direct, from, s->panel + (at - k) * WINDOWS, words, a->w_n - 4 * words, at == 0);
                run(s, direct, count, s->last, s->panel + (at - k) * WINDOWS, words, 0, at == 0);
            }
        }
        int8_t *y[WINDOWS];
        for (int32_t i = 0; i < WINDOWS; i++) {
            y[i] = windows[i].y + n;
        }
        if (!odt_finish_rows(s->rows, count, y, 1, kind, a->zy, a->lo, bounds)) {
            odt_finish_slowly(a, n, 1, s->rows, count, y, 1, here);
        }
    }
}

// Where a window is where its output is, all positions are one row, if those of y are.
static odt_correlation_t flatten(const odt_correlation_t *a) {
    odt_correlation_t c = *a;
    if (odt_is_pointwise(a) && a->y_oh == a->OW * a->y_ow
        && (a->B == 1 || a->y_b == a->OH * a->y_oh)) {
        c.W = c.OW = a->B * a->OH * a->OW;
        c.B = c.H = c.OH = 1;
        c.y_oh = c.OW * a->y_ow;
    }
    return c;
}

// One pixel beyond whole panels, as those of a dense layer, by itself.
static void sum_last_pixel(odt_correlation_t *a) {
    int32_t last = a->OW - 1;
    if (odt_is_pointwise(a) && a->B * a->OH == 1 && last % WINDOWS == 0 && last > 0 && a->N >= 4 && a->w_n == a->C && a->bias
        && a->q_step == 1) {
        const odt_dense_i8_t d = {.y = a->y + last * a->y_ow, .peak = a->peak, .x = a->x + last * odt_pixel(a->C, a->x_skip),
            .w = a->w, .b = a->bias, .q = a->q, .M = 1, .K = a->C, .N = a->N, .zx = a->zx, .zy = a->zy, .lo = a->lo};
        odt_dense_i8__m4(&d, a->peak);
        a->W = a->OW = last;
    }
}

void odt_correlate_part_i8(const odt_correlation_t *given) {
    if (odt_is_single(given)) {
        odt_correlate_single_i8(given);
        return;
    }
    odt_correlation_t flat = flatten(given);
    const odt_correlation_t *a = &flat;
    int32_t bounds[2] = {INT16_MIN, INT16_MAX};
    if (odt_is_few(a)) {
        odt_correlate_few_i8(a, bounds);
    } else if (a->w_c == 1) {
        scratch_t s;
        sum_last_pixel(&flat);
        s.g = WINDOWS_OF(a);
        begin_padded(&s.g, &s.padded);
        for (int32_t n = 0; n < a->N; n += ROWS) {
            correlate(a, n, odt_min(ROWS, a->N - n), &s, bounds);
        }
    } else {
        odt_correlate_dx_i8(a, bounds);
    }
    *a->peak = odt_peak_of(bounds, a->zy, a->lo, *a->peak);
}

#endif
