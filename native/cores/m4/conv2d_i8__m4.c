// Products of int8 matrices (correlate.h) on cores with SMLAD, a Cortex-M4 and later: the forward pass. Four windows of
// x are packed on the stack as int16, x - zx, with filled borders, and multiplied by the filters, which are read in
// place. The stack holds 3.2 KB.

#include "../../core.h"
#include "../correlate.h"

#if ODT_M4

#include "../../fixed.h"
#include "words__m4.h"
#include "conv2d_i8__m4.h"
#include "dense_i8__m4.h"
#include "../panel/padded_i8.h"
#include "rows_i8__m4.h"

enum {
    WINDOWS = 4, // of a panel
    DEPTH = 128, // products of a panel, a multiple of 4
    ROWS = 32,   // filters at a time
};

typedef struct {
    const int8_t *image; // of the window
    int32_t b, ih, iw;   // the window's start
    int is_inside;
    int8_t *y;
} window_t;

typedef struct {
    int16_t panel[WINDOWS * DEPTH];
    odt_row_t rows[ROWS];
    int8_t last[DEPTH]; // a copy of the last filters' ends: nothing may be read beyond them
    int8_t bytes[WINDOWS][DEPTH] __attribute__((aligned(4)));
    windows_t g;
    padded_t padded;
} forward_scratch_t;

// The place of depth k in a window: `from` bytes into line kh * KW + kw, which has `taps` taps; also whether windows
// consist of whole words.
typedef struct {
    int32_t taps, length, kh, kw, from, has_words;
} place_t;

static place_t place_of(const odt_correlation_t *a, int32_t k) {
    int32_t taps = odt_line_taps(a->KW, a->x_skip), length = taps * a->C, line = k ? k / length : 0;
    int32_t kh = taps == a->KW ? line : line / a->KW;
    return (place_t) {taps, length, kh, taps == a->KW ? 0 : line - kh * a->KW, k - line * length,
        length % 4 == 0 || length == a->KH * a->KW * a->C};
}

// Advances to the next line; returns whether it is in another row.
static inline int advance(const odt_correlation_t *a, place_t *at) {
    at->from = 0;
    at->kw += at->taps;
    if (at->kw != a->KW) {
        return 0;
    }
    at->kw = 0;
    at->kh++;
    return 1;
}

// Packs `count` > 0 bytes of a window, from that place on.
static void gather(
    const odt_correlation_t *a, const window_t *w, place_t at, int32_t count, forward_scratch_t *s, int8_t *to) {
    int32_t pixel = odt_pixel(a->C, a->x_skip), size = a->W * pixel, here;
    const int8_t *row = w->image + (w->ih + at.kh) * size;
    int is_padded = s->padded.pitch;
    if (is_padded) {
        pad_rows(&s->g, &s->padded, w->b, w->ih);
    }
    for (; count > 0; count -= here, to += here) {
        int32_t ih = w->ih + at.kh, first = (w->iw + at.kw) * pixel + at.from;
        here = odt_min(at.length - at.from, count);
        if (is_padded) {
            odt_copy(to, padded_line(&s->g, &s->padded, ih, first - at.from + a->left * pixel) + at.from, here);
        } else {
            odt_gather(to, row, first, here, ih >= 0 && ih < a->H ? size : 0, a->zx);
        }
        row += advance(a, &at) ? size : 0;
    }
}

// The same for a window inside the image; its lines are `size` bytes apart.
static void gather_inside(const int8_t *x, place_t at, int32_t count, int32_t size, int8_t *to) {
    int32_t here = odt_min(at.length - at.from, count);
    odt_copy_line_i8(to, x + at.from, here);
    for (count -= here; count > 0; count -= at.length) {
        to += here;
        x += size;
        here = at.length;
        odt_copy_line_i8(to, x, odt_min(here, count));
    }
}

// Packs `count` depths of four consecutive windows of one row of outputs; all lie inside the image or in padded rows.
__attribute__((noinline)) static void pack_row(const odt_correlation_t *a, const window_t *w, place_t at, int32_t count,
    forward_scratch_t *s) {
    int32_t pixel = odt_pixel(a->C, a->x_skip), size = a->W * pixel, zx = a->zx, here;
    int is_inside = w[0].is_inside && w[WINDOWS - 1].is_inside;
    const int8_t *row = w->image + (w->ih + at.kh) * size + w->iw * pixel;
    int16_t *panel = s->panel;
    if (!is_inside) {
        pad_rows(&s->g, &s->padded, w->b, w->ih);
    }
    for (; count > 0; count -= here, panel += here * WINDOWS) {
        int32_t ih = w->ih + at.kh, step = a->SW * pixel;
        const int8_t *line = row;
        if (!is_inside) {
            line = padded_line(&s->g, &s->padded, ih, (w->iw + a->left) * pixel);
            step = line == s->padded.line ? 0 : step;
        }
        line += at.kw * pixel + at.from;
        here = odt_min(at.length - at.from, count);
        const int8_t *x[WINDOWS] = {line, line + step, line + 2 * step, line + 3 * step};
        odt_widen_four(panel, x, here, zx);
        row += advance(a, &at) ? size : 0;
    }
}

// The same for any four windows. Windows inside the image that consist of whole words are read in place; others are
// gathered.
__attribute__((noinline)) static void pack_any(
    const odt_correlation_t *a, const window_t *windows, place_t at, int32_t count, forward_scratch_t *s) {
    int32_t pixel = odt_pixel(a->C, a->x_skip), size = a->W * pixel, offset = at.kh * size + at.kw * pixel + at.from;
    int32_t lies[WINDOWS], direct = 0, here; // -1 or 0 each
    const int8_t *x[WINDOWS];
    int16_t *panel = s->panel;
    for (int32_t i = 0; i < WINDOWS; i++) {
        const window_t *w = &windows[i];
        const int8_t *from = w->image + w->ih * size + w->iw * pixel;
        lies[i] = -(at.has_words && w->is_inside);
        direct |= lies[i];
        x[i] = s->bytes[i];
        if (lies[i]) {
            x[i] = from + offset;
        } else if (w->is_inside && at.taps == a->KW) {
            gather_inside(from + at.kh * size, at, count, size, s->bytes[i]);
        } else {
            gather(a, w, at, count, s, s->bytes[i]);
        }
    }
    for (; count > 0; count -= here, panel += here * WINDOWS) {
        here = direct ? odt_min(at.length - at.from, count) : count;
        odt_widen_four(panel, x, here, a->zx);
        advance(a, &at);
        int32_t next = at.kh * size + at.kw * pixel, beside = next - offset - here;
        offset = next;
        for (int32_t i = 0; i < WINDOWS; i++) {
            x[i] += here + (beside & lies[i]);
        }
    }
}

// Prepares the conversion of sums of filters n .. to outputs; returns the worst kind of scale.
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

// The next output: image b, row oh, column ow, and its window.
typedef struct {
    window_t window;
    int32_t oh, ow, most; // iw of the last window inside, or -1
} output_t;

// Moves to the beginning of row oh of image b.
static void begin_row(const odt_correlation_t *a, output_t *o, int32_t b, int32_t oh) {
    window_t *w = &o->window;
    w->image = a->x + b * a->H * a->W * odt_pixel(a->C, a->x_skip);
    w->b = b;
    w->ih = oh * a->SH - a->top;
    w->iw = -a->left;
    w->y = a->y + b * a->y_b + oh * a->y_oh;
    o->oh = oh;
    o->ow = 0;
    o->most = w->ih >= 0 && w->ih + a->KH <= a->H ? a->W - a->KW : -1;
}

// Lists the windows of the next `count` outputs, the last one repeated up to four.
__attribute__((noinline)) static void locate(
    const odt_correlation_t *a, output_t *o, int32_t count, window_t *windows) {
    int32_t SW = a->SW, OW = a->OW, y_ow = a->y_ow, i = 0;
    window_t *w = &o->window;
    for (; i < count; i++, w->iw += SW, w->y += y_ow, o->ow++) {
        if (o->ow == OW) {
            int32_t is_last = o->oh + 1 == a->OH;
            begin_row(a, o, w->b + is_last, is_last ? 0 : o->oh + 1);
        }
        w->is_inside = w->iw >= 0 && w->iw <= o->most;
        windows[i] = *w;
    }
    for (; i < WINDOWS; i++) {
        windows[i] = windows[i - 1];
    }
}

static void run(forward_scratch_t *s, int32_t first, int32_t last, const int8_t *w, const int16_t *panel, int32_t words,
    int32_t back, int is_start) {
    if (first < last) {
        if (is_start) {
            odt_start_rows(s->rows + first, s->rows + last, panel, w, words, back);
        } else {
            odt_add_rows(s->rows + first, s->rows + last, panel, w, words, back);
        }
    }
}

// The number of depths in a panel: whole lines, unless this needs more panels.
static int32_t depths_at_once(const odt_correlation_t *a, int32_t depth) {
    int32_t length = odt_line_taps(a->KW, a->x_skip) * a->C;
    if (depth <= DEPTH || length > DEPTH) {
        return DEPTH;
    }
    int32_t lines = DEPTH - DEPTH % length;
    return lines % 4 == 0 && (depth + lines - 1) / lines == (depth + DEPTH - 1) / DEPTH ? lines : DEPTH;
}

// Filters n .. n + count - 1 over all windows.
__attribute__((noinline)) static void correlate(
    const odt_correlation_t *a, int32_t n, int32_t count, forward_scratch_t *s, int32_t *bounds) {
    int32_t depth = a->KH * a->KW * a->C, total = a->B * a->OH * a->OW, at_once = depths_at_once(a, depth);
    int32_t safe = count, tail = depth % at_once;
    int32_t run_depth = odt_is_contiguous(a) ? depth : a->C; // a filter's adjacent weights, else whole words
    const int8_t *w = a->w + n * a->w_n;
    int kind = prepare(a, n, count, depth, s->rows);
    if (tail % 4 && n + count == a->N) { // a word would end past the filters (up to three short ones)
        safe = odt_max(count - (depth < 4 ? 3 : 1), 0);
        for (int32_t i = safe; i < count; i++) {
            int32_t length = (tail + 3) & ~3;
            odt_gather(s->last + (i - safe) * length, w + i * a->w_n + depth - tail, 0, length, tail, 0);
        }
    }
    window_t windows[WINDOWS];
    output_t next;
    begin_row(a, &next, 0, 0);
    for (int32_t first = 0; first < total; first += WINDOWS) {
        odt_poll();
        int32_t here = odt_min(total - first, WINDOWS);
        locate(a, &next, here, windows);
        const window_t *last = &windows[WINDOWS - 1];
        int is_row = here == WINDOWS && last->ih == windows->ih && last->b == windows->b
            && ((windows->is_inside && last->is_inside) || s->padded.pitch);
        for (int32_t i = 0; depth == 0 && i < count; i++) {
            for (int32_t j = 0; j < WINDOWS; j++) {
                s->rows[i].sums[j] = s->rows[i].start;
            }
        }
        for (int32_t k = 0; k < depth; k += at_once) {
            int32_t end = odt_min(k + at_once, depth), direct = end == depth ? safe : count;
            place_t place = place_of(a, k);
            (place.has_words && is_row ? pack_row : pack_any)(a, windows, place, end - k, s);
            for (int32_t at = k, stop; at < end; at = stop) {
                const int8_t *from = w + at;
                stop = end;
                if (run_depth != depth) {
                    int32_t part = at / run_depth, kh = part / a->KW;
                    from = w + kh * a->w_kh + (part - kh * a->KW) * a->w_kw + at - part * run_depth;
                    stop = odt_min((part + 1) * run_depth, end);
                }
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

// Where each window is a pixel at its output's position: all positions form one row, provided that y has no gaps.
static void flatten(odt_correlation_t *a) {
    if (a->y_oh == a->OW * a->y_ow && (a->B == 1 || a->y_b == a->OH * a->y_oh)) {
        a->W = a->OW = a->B * a->OH * a->OW;
        a->B = a->H = a->OH = 1;
        a->y_oh = a->OW * a->y_ow;
    }
}

// Processes a single pixel beyond whole panels separately, as in a dense layer.
static void sum_last_pixel(odt_correlation_t *a) {
    int32_t last = a->OW - 1;
    if (a->B * a->OH == 1 && last % WINDOWS == 0 && last > 0 && a->N >= 4 && a->w_n == a->C
        && a->bias && a->q_step == 1) {
        const odt_dense_i8_t d = {.y = a->y + last * a->y_ow,
            .peak = a->peak,
            .x = a->x + last * odt_pixel(a->C, a->x_skip),
            .w = a->w,
            .b = a->bias,
            .q = a->q,
            .M = 1,
            .K = a->C,
            .N = a->N,
            .zx = a->zx,
            .zy = a->zy,
            .lo = a->lo};
        odt_dense_i8__m4(&d, a->peak);
        a->W = a->OW = last;
    }
}

void odt_correlate_all_i8(const odt_correlation_t *a, int32_t *bounds) {
    forward_scratch_t s;
    s.g = WINDOWS_OF(a);
    begin_padded(&s.g, &s.padded);
    for (int32_t n = 0; n < a->N; n += ROWS) {
        correlate(a, n, odt_min(ROWS, a->N - n), &s, bounds);
    }
}

void odt_correlate_part_i8(const odt_correlation_t *a) {
    int32_t bounds[2] = {INT16_MIN, INT16_MAX};
    odt_correlation_t flat;
    if (odt_is_one(a)) {
        odt_correlate_one_i8__m4(a, bounds);
        *a->peak = odt_peak_of(bounds, a->zy, a->lo, *a->peak);
        return;
    }
    if (odt_is_single(a)) {
        odt_correlate_single_i8(a);
        return;
    }
    if (odt_is_pointwise(a)) {
        flat = *a;
        flatten(&flat);
        a = &flat;
    }
    if (a->w_c == 1 && odt_is_tile(a)) {
        odt_correlate_tile_i8(a, bounds);
    } else if (odt_is_few(a)) {
        odt_correlate_few_i8(a, bounds);
    } else if (a->w_c == 1) {
        if (a == &flat) {
            sum_last_pixel(&flat);
        }
        odt_correlate_all_i8(a, bounds);
    } else {
        odt_correlate_dx_i8(a, bounds);
    }
    *a->peak = odt_peak_of(bounds, a->zy, a->lo, *a->peak);
}

#endif
