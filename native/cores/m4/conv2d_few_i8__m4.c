// Products of int8 matrices (correlate.h) on cores with SMLAD, a Cortex-M4 and later, for outputs of few products. Four
// filters are packed on the stack as int16 and multiplied by windows of x. Windows that are pixels are read in place,
// others are gathered (gather_i8.h). This takes less time per window than packing it (conv2d_i8__m4.c). For several
// groups of filters windows are widened once. The stack holds 4.8 KB.

#include "../../core.h"
#include "../correlate.h"

#if ODT_M4

#include "../../fixed.h"
#include "tiles_i8__m4.h"
#include "words__m4.h"
#include "conv2d_i8__m4.h"
#include "../panel/gather_i8.h"
#include "pixels_i8__m4.h"

enum {
    FILTERS = 4,     // of a group
    DEPTH = ODT_FEW_DEPTH, // products of a panel, for one group or several
    GROUPS = 8,
    OUTPUTS = 32,    // windows at a time
    GATHERED = 1024, // bytes of gathered windows
    WIDE = 3,        // from this many groups on, gathered windows are widened once for all, but not in a module
    PIXELS_WIDE = 4, // pixels are widened for this many groups at a time
    PIXELS = 128,    // windows at a time if they are read in place
};

typedef struct {
    int16_t panel[FILTERS * DEPTH];
    odt_maker_t makers[GROUPS];
    int8_t filters[FILTERS][DEPTH], windows[(2 - ODT_MPY) * GATHERED] __attribute__((aligned(8)));
    padded_t padded;
} few_scratch_t;

// Sizes: whether windows are pixels, whether these are multiplied in place, and all as one row; words of a window;
// groups of filters, and how many are packed at a time; windows at a time; lines of a window; bytes of a number, 2 if
// windows are widened.
typedef struct {
    int32_t pixels, direct, is_row, depth, words, groups, at_once, block, lines, size;
} plan_t;

// Whether windows are pixels inside the image.
static int are_pixels(const odt_correlation_t *a) {
    return a->KH == 1 && a->KW == 1 && a->top == 0 && a->left == 0 && (int64_t)(a->OH - 1) * a->SH < a->H
        && (int64_t)(a->OW - 1) * a->SW < a->W;
}

static plan_t plan_of(const odt_correlation_t *a) {
    int32_t taps = odt_line_taps(a->KW, a->x_skip), depth = a->KH * a->KW * a->C, words = (depth + 3) >> 2;
    plan_t p = {.pixels = are_pixels(a) && a->C % 4 == 0, .depth = depth, .words = words,
        .groups = (a->N + FILTERS - 1) / FILTERS, .lines = taps == a->KW ? a->KH : a->KH * a->KW};
    p.is_row = odt_is_dense(a) && (!p.pixels || odt_is_pointwise(a));
    if (words) {
        p.at_once = odt_min(odt_min(DEPTH / (4 * words), GROUPS), p.groups);
        p.size = !ODT_MPY && (p.pixels ? p.at_once >= PIXELS_WIDE : p.groups >= WIDE) ? 2 : 1;
        p.direct = p.pixels && p.size == 1;
        p.block = p.pixels && a->N >= FILTERS ? PIXELS : OUTPUTS;
        if (!p.direct) {
            p.block = odt_min(GATHERED / (4 * words), p.block);
        }
        if (!p.is_row && a->OW > 1 && a->OW < p.block) { // whole rows
            p.block -= p.block % a->OW;
        }
    }
    return p;
}

// The instructions by which this file and conv2d_i8__m4.c differ, fitted to 70 shapes; with one shape in fifteen the
// choice costs more than 4 %. Here: per gathered byte, per group of packed filters, per word of them. In
// conv2d_i8__m4.c: per window, per line of it, per byte if lines are not whole words, per four outputs.
int odt_is_few(const odt_correlation_t *a) {
    plan_t p = plan_of(a);
    int32_t all = a->B * a->OH * a->OW, has_words = p.lines == 1 || p.depth / odt_max(p.lines, 1) % 4 == 0;
    if (a->w_c != 1 || p.depth < 1 || p.depth > DEPTH || all < 1 || a->zx != (int8_t)a->zx) {
        return 0;
    }
    // windows per packing of the filters
    int32_t often = p.pixels || p.groups == p.at_once ? all : odt_min(p.block, all);
    int64_t few = p.groups * (int64_t)(ODT_FEW_PACK + ODT_FEW_PACK_WORD * p.words) / often
        + (p.pixels ? 0 : ODT_FEW_BYTE * p.depth) - (p.size == 2 ? (2 * (int64_t)p.groups - 5) * p.words : 0);
    int64_t other = ODT_FEW_OTHER + ODT_FEW_OTHER_LINE * p.lines + (has_words ? 0 : ODT_FEW_OTHER_BYTE * p.depth)
        + ODT_FEW_OTHER_GROUP * (int64_t)p.groups;
    return !odt_is_contiguous(a) || few < other;
}

// Copies a filter whose weights are not adjacent.
static const int8_t *gather_filter(const odt_correlation_t *a, const int8_t *w, int8_t *filter) {
    int8_t *to = filter;
    for (int32_t kh = 0; kh < a->KH; kh++) {
        for (int32_t kw = 0; kw < a->KW; kw++, to += a->C) {
            odt_copy(to, w + kh * a->w_kh + kw * a->w_kw, a->C);
        }
    }
    return filter;
}

// Which maker a group has: one of its own, unless there are too many groups.
static inline int32_t maker_of(const plan_t *p, int32_t group) {
    return p->groups > GROUPS ? group % p->at_once : group;
}

// Packs a group of filters as group i; the last is repeated. `had`: the maker has been begun, and whether it can use
// their scales, which is returned; else it is negative.
__attribute__((noinline)) static int pack_few(
    const odt_correlation_t *a, const plan_t *p, int32_t group, int32_t i, few_scratch_t *s, int had) {
    int32_t n = odt_first_of(a, group), bias[FILTERS];
    int is_contiguous = odt_is_contiguous(a);
    odt_maker_t *maker = &s->makers[maker_of(p, group)];
    int16_t *panel = s->panel + i * FILTERS * 4 * p->words;
    const int8_t *w[FILTERS], *filter = a->w + n * a->w_n;
    #if !ODT_MPY
    #pragma GCC unroll 4
    #endif
    for (int32_t j = 0, from = n; j < FILTERS; j++) {
        w[j] = filter;
        bias[j] = a->bias ? a->bias[from] : 0;
        if (from + 1 < a->N) {
            from++;
            filter += a->w_n;
        }
    }
    for (int32_t j = 0; j < FILTERS && !is_contiguous; j++) {
        w[j] = gather_filter(a, w[j], s->filters[j]);
    }
    int has_scale = had >= 0 ? had : odt_begin_maker(maker, a->q + n * a->q_step, a->q_step, a->N, bias,
        odt_most(p->depth, a->zy, a->lo), a->zy, 1);
    int is_upper = !ODT_MPY && has_scale && maker->scale == ODT_UPPER;
    if (is_upper) {
        odt_widen_high(panel, w, p->depth);
    } else {
        odt_widen_four(panel, w, p->depth, 0);
    }
    if (had >= 0) {
        return had;
    }
    #if !ODT_MPY
    #pragma GCC unroll 4
    #endif
    for (int32_t j = 0; j < FILTERS; j++) {
        maker->start[j] = is_upper ? bias[j] * 256 : bias[j];
    }
    if (a->zx && p->size == 1) {
        odt_begin_sums(maker->start, panel, p->words, a->zx);
    }
    maker->panel = panel;
    maker->words = p->words;
    maker->back = p->direct ? a->SW * odt_pixel(a->C, a->x_skip) - 4 * p->words : 0;
    maker->step = a->N >= FILTERS ? a->y_ow : FILTERS;
    return has_scale;
}

// Computes `count` outputs of channels n .., without gaps in y, for any scales.
static void make_slowly(const odt_correlation_t *a, int32_t n, const odt_maker_t *maker, const int8_t *x,
    int32_t count, int32_t size, int8_t *y) {
    for (; count > 0; count--, x += maker->back, y += a->y_ow) {
        const uint32_t *panel = (const uint32_t *)(const void *)maker->panel;
        int32_t sums[FILTERS];
        memcpy(sums, maker->start, sizeof(sums));
        for (int32_t i = maker->words; i; i--, x += 4 * size) {
            uint32_t even = size == 2 ? odt_word(x) : odt_evens(odt_word(x));
            uint32_t odd = size == 2 ? odt_word(x + 4) : odt_odds(odt_word(x));
            for (int32_t j = 0; j < FILTERS; j++, panel += 2) {
                sums[j] = odt_smlad(even, panel[0], odt_smlad(odd, panel[1], sums[j]));
            }
        }
        for (int32_t j = 0; j < odt_min(a->N, FILTERS); j++) {
            odt_multiplier_t q = odt_checked(&a->q[(n + j) * a->q_step]);
            y[n + j] = odt_clamp(odt_rescaled(sums[j], q), a->zy, a->lo, a->peak);
        }
    }
}

// The pixel that output m meets.
static inline const int8_t *pixel_of(const odt_correlation_t *a, const plan_t *p, int32_t m) {
    int32_t row = p->is_row ? 0 : m / a->OW, b = row / a->OH, oh = row - b * a->OH;
    return a->x + ((b * a->H + oh * a->SH) * a->W + (m - row * a->OW) * a->SW) * odt_pixel(a->C, a->x_skip);
}

#if !ODT_MPY

// Widens `count` windows, gathered ones or pixels.
static void widen_windows(
    const odt_correlation_t *a, const plan_t *p, int32_t m, int32_t count, const int8_t *gathered, uint32_t *to) {
    int32_t pixel = odt_pixel(a->C, a->x_skip), ow = m % a->OW, here;
    if (!p->pixels) {
        odt_widen_i8(to, gathered, p->words, count, 0, a->zx);
        return;
    }
    for (; count; count -= here, m += here, ow = 0, to += 2 * p->words * here) {
        here = p->is_row ? count : odt_min(a->OW - ow, count);
        odt_widen_i8(to, pixel_of(a, p, m), p->words, here, a->SW * pixel - a->C, a->zx);
    }
}

#endif

// Computes rows of outputs of channels n .., with the maker if the scales allow it.
static void make(const odt_correlation_t *a, int32_t n, int has_scale, odt_maker_t *maker, odt_made_t made,
    int32_t size, int32_t *bounds) {
    int8_t few[OUTPUTS * FILTERS];
    int kind = size == 2 ? ODT_OF_PAIRS : ODT_OF_BYTES;
    if (has_scale && a->N >= FILTERS) {
        made.y += n;
        odt_make_pixels(maker, &made, kind, a->zy, a->lo, bounds);
        return;
    }
    for (; made.rows; made.rows--, made.x += made.x_row, made.y += made.y_row) {
        if (has_scale) {
            odt_made_t row = {.x = made.x, .y = few, .rows = 1, .count = made.count};
            odt_make_pixels(maker, &row, kind, a->zy, a->lo, bounds);
            for (int32_t i = 0; i < made.count; i++) {
                odt_copy(made.y + i * a->y_ow, few + FILTERS * i, a->N);
            }
        } else {
            make_slowly(a, n, maker, made.x, made.count, size, made.y);
        }
    }
}

void odt_correlate_few_i8(const odt_correlation_t *a, int32_t *bounds) {
    few_scratch_t s;
    int8_t has_scale[GROUPS]; // of each maker
    plan_t p = plan_of(a);
    int32_t pixel = odt_pixel(a->C, a->x_skip), bytes = 4 * p.words, all = a->B * a->OH * a->OW;
    windows_t g = WINDOWS_OF(a);
    if (a->x_skip && a->KW > 1) { // copies pixels side by side, if rows of them fit
        windows_t whole = g;
        whole.pixel = a->C;
        whole.skip = a->x_skip;
        whole.line_taps = a->KW;
        whole.lines = a->KH;
        whole.length = a->KW * a->C;
        begin_padded(&whole, &s.padded);
        if (s.padded.pitch) {
            g = whole;
        }
    }
    int8_t *gathered = s.windows + (p.size - 1) * GATHERED; // widened from the beginning on; any bytes meet zeros
    // Gathered windows are multiplied by all groups; windows read in place by the packed groups.
    int32_t at_once = p.pixels ? p.at_once : p.groups, packed = -1, turn = 0;
    memset(has_scale, -1, sizeof(has_scale));
    for (int32_t first = 0; first < p.groups; first += at_once) {
        for (int32_t m = 0; m < all; m += p.block, turn = ~turn) {
            int32_t count = odt_min(p.block, all - m), stop = odt_min(first + at_once, p.groups);
            odt_poll();
            if (!p.pixels) {
                gather_windows(&g, m, count, gathered, bytes, &s.padded);
            }
            #if !ODT_MPY
            if (p.size == 2) {
                widen_windows(a, &p, m, count, gathered, (uint32_t *)(void *)s.windows);
            }
            #endif
            for (int32_t next = first; next < stop; next++) { // every other time from the last one on, which is packed
                int32_t group = turn ? first + stop - 1 - next : next, i = group % p.at_once;
                int32_t maker = maker_of(&p, group);
                if (packed != group - i) {
                    packed = group - i;
                    for (int32_t j = 0; j < odt_min(p.at_once, p.groups - packed); j++) {
                        int32_t one = maker_of(&p, packed + j);
                        int had = p.groups > GROUPS ? -1 : has_scale[one];
                        has_scale[one] = (int8_t)pack_few(a, &p, packed + j, j, &s, had);
                    }
                }
                odt_made_t made = {.x = s.windows, .y = a->y + m * a->y_ow, .rows = 1, .count = count,
                    .x_row = p.direct ? a->SH * a->W * pixel : a->OW * bytes * p.size, .y_row = a->y_oh};
                for (int32_t done = 0; done < count; done += made.rows * made.count) { // per row, or all at once
                    if (!p.is_row) {
                        int32_t row = (m + done) / a->OW, ow = m + done - row * a->OW, b = row / a->OH;
                        int32_t oh = row - b * a->OH;
                        made.x = s.windows + done * bytes * p.size;
                        made.y = a->y + b * a->y_b + oh * a->y_oh + ow * a->y_ow;
                        made.rows = ow ? 1 : odt_limit((count - done) / a->OW, 1, a->OH - oh);
                        made.count = odt_min(a->OW - ow, count - done);
                    }
                    if (p.direct) {
                        made.x = pixel_of(a, &p, m + done);
                    }
                    make(a, odt_first_of(a, group), has_scale[maker], &s.makers[maker], made, p.size, bounds);
                }
            }
        }
    }
}

#endif
