// Products of int8 matrices (conv2d_i8.h) on cores with SMLAD, a Cortex-M4 and later: of a few products each. Four filters
// are packed on the stack as int16 and run over windows of x, which lie there already where they are pixels, or are gathered
// (gather_i8.h): less is done for a window than where it is packed (conv2d_i8__m4.c). The stack holds 2.7 KB.

#include "../../core.h"
#include "conv2d_i8.h"

#if ODT_M4

#include "../../fixed.h"
#include "../common/words__m4.h"
#include "conv2d_i8__m4.h"
#include "gather_i8.h"
#include "pixels_i8__m4.h"

enum {
    FILTERS = 4,     // of a group
    DEPTH = ODT_FEW_DEPTH, // products that a panel has, of one group or of some
    GROUPS = 8,
    OUTPUTS = 32,    // windows at a time
    GATHERED = 768,  // bytes of these
    PIXELS = 128,    // windows at a time if none is gathered
};

typedef struct {
    int16_t panel[FILTERS * DEPTH];
    odt_maker_t makers[GROUPS];
    int8_t filter[DEPTH], windows[GATHERED] __attribute__((aligned(4)));
    padded_t padded;
} scratch_t;

// Sizes that all follow from: whether a window's pixels are multiplied where they lie; words of a window; groups of filters,
// and how many are packed at a time; windows at a time; lines of a window.
typedef struct {
    int32_t direct, depth, words, groups, at_once, block, lines;
} plan_t;

static plan_t plan_of(const odt_correlation_t *a) {
    int32_t taps = odt_line_taps(a->KW, a->x_skip), depth = a->KH * a->KW * a->C, words = (depth + 3) >> 2;
    plan_t p = {.direct = odt_is_pointwise(a) && a->C % 4 == 0, .depth = depth, .words = words,
        .groups = (a->N + FILTERS - 1) / FILTERS, .lines = taps == a->KW ? a->KH : a->KH * a->KW};
    if (words) {
        p.at_once = odt_min(odt_min(DEPTH / (4 * words), GROUPS), p.groups);
        p.block = p.direct && a->N >= FILTERS ? PIXELS : p.direct ? OUTPUTS : odt_min(GATHERED / (4 * words), OUTPUTS);
    }
    return p;
}

// Instructions in which the ways differ, fitted to 500 shapes, of which one in twenty takes more than 4 % longer than it had to:
// of a byte that is gathered; to pack a group of filters, and a word of theirs; conv2d_i8__m4.c's of a window, and of a line of
// it.
enum { BYTE = 2, PACK = 360, PACK_WORD = 57, OTHER = 142, OTHER_LINE = 97 };

int odt_is_few(const odt_correlation_t *a) {
    plan_t p = plan_of(a);
    int32_t all = a->B * a->OH * a->OW;
    if (a->w_c != 1 || p.depth < 1 || p.depth > DEPTH || all < 1 || a->zx != (int8_t)a->zx) {
        return 0;
    }
    int32_t often = p.direct || p.groups == p.at_once ? all : p.block; // windows that filters are packed for
    int64_t few = p.groups * (int64_t)(PACK + PACK_WORD * p.words) / often + (p.direct ? 0 : BYTE * p.depth);
    return !odt_is_contiguous(a) || few < OTHER + OTHER_LINE * p.lines;
}

// `count` bytes and then zeros to four, as filter i of a group's panel. Returns their sum.
static int32_t widen(int16_t *panel, int32_t i, const int8_t *w, int32_t count) {
    uint32_t *to = (uint32_t *)(void *)panel + 2 * i;
    int32_t sum = 0;
    for (const int8_t *end = w + (count & ~3); w != end; w += 4, to += 8) {
        uint32_t word = odt_word(w), even = odt_evens(word), odd = odt_odds(word);
        to[0] = even;
        to[1] = odd;
        sum = odt_smlad(even, 0x10001, odt_smlad(odd, 0x10001, sum));
    }
    if (count & 3) {
        uint32_t word = odt_word_within(w, 0, count & 3, 0);
        to[0] = odt_evens(word);
        to[1] = odt_odds(word);
        sum = odt_smlad(to[0], 0x10001, odt_smlad(to[1], 0x10001, sum));
    }
    return sum;
}

// The channel that a group begins with.
static int32_t first_of(const odt_correlation_t *a, int32_t group) {
    return odt_max(odt_min(group * FILTERS, a->N - FILTERS), 0);
}

// A group of filters, the last repeated, as number i. Returns whether a maker can have their scales.
static int pack(const odt_correlation_t *a, const plan_t *p, int32_t group, int32_t i, scratch_t *s) {
    int32_t n = first_of(a, group), bias[FILTERS];
    odt_maker_t *maker = &s->makers[i];
    int16_t *panel = s->panel + i * FILTERS * 4 * p->words;
    for (int32_t j = 0; j < FILTERS; j++) {
        int32_t filter = odt_min(n + j, a->N - 1);
        const int8_t *w = a->w + filter * a->w_n;
        if (!odt_is_contiguous(a)) {
            int8_t *to = s->filter;
            for (int32_t kh = 0; kh < a->KH; kh++) {
                for (int32_t kw = 0; kw < a->KW; kw++, to += a->C) {
                    odt_copy(to, w + kh * a->w_kh + kw * a->w_kw, a->C);
                }
            }
            w = s->filter;
        }
        int32_t sum = widen(panel, j, w, p->depth);
        bias[j] = a->bias ? a->bias[filter] : 0;
        maker->start[j] = odt_wrap_sub(bias[j], odt_wrap_mul(a->zx, sum));
    }
    maker->panel = panel;
    maker->words = p->words;
    maker->back = p->direct ? odt_pixel(a->C, a->x_skip) - 4 * p->words : 0;
    maker->step = a->N >= FILTERS ? a->y_ow : FILTERS;
    return odt_begin_maker(maker, a->q + n * a->q_step, a->q_step, a->N, bias, odt_most(p->depth, a->zy, a->lo), a->zy);
}

// `count` outputs of channels n .. that follow one another in y, whatever the scales.
static void make_slowly(const odt_correlation_t *a, int32_t n, const odt_maker_t *maker, const int8_t *x, int32_t count, int8_t *y) {
    for (; count > 0; count--, x += maker->back, y += a->y_ow) {
        const uint32_t *panel = (const uint32_t *)(const void *)maker->panel;
        int32_t sums[FILTERS];
        memcpy(sums, maker->start, sizeof(sums));
        for (int32_t i = maker->words; i; i--, x += 4) {
            for (int32_t j = 0; j < FILTERS; j++, panel += 2) {
                sums[j] = odt_smlad(odt_evens(odt_word(x)), panel[0], odt_smlad(odt_odds(odt_word(x)), panel[1], sums[j]));
            }
        }
        for (int32_t j = 0; j < odt_min(a->N, FILTERS); j++) {
            odt_multiplier_t q = odt_checked(&a->q[(n + j) * a->q_step]);
            y[n + j] = odt_clamp(odt_rescaled(sums[j], q), a->zy, a->lo, a->peak);
        }
    }
}

// The same, if the scales allow for it, by the maker.
static void make(const odt_correlation_t *a, int32_t n, odt_maker_t *maker, const int8_t *x, int32_t count, int8_t *y,
    int32_t *bounds) {
    int8_t few[OUTPUTS * FILTERS];
    odt_made_t made = {.x = x, .y = a->N >= FILTERS ? y + n : few, .rows = 1, .count = count};
    odt_make_pixels(maker, &made, 0, a->zy, a->lo, bounds);
    for (int32_t i = 0; a->N < FILTERS && i < count; i++, y += a->y_ow) {
        odt_copy(y, few + FILTERS * i, a->N);
    }
}

void odt_correlate_few_i8(const odt_correlation_t *a, int32_t *bounds) {
    scratch_t s;
    int8_t has_scale[GROUPS];
    plan_t p = plan_of(a);
    int32_t pixel = odt_pixel(a->C, a->x_skip), bytes = 4 * p.words, all = a->B * a->OH * a->OW;
    int is_dense = (a->OH == 1 || a->y_oh == a->OW * a->y_ow) && (a->B == 1 || a->y_b == a->OH * a->OW * a->y_ow);
    windows_t g = WINDOWS_OF(a);
    if (a->x_skip && a->KW > 1) { // pixels side by side, if there is room for rows of them
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
    if (bytes != p.depth) { // what zeros of the panel are multiplied with
        memset(s.windows, 0, (size_t)(p.block * bytes));
    }
    // Windows that are gathered once are run over by all groups, those that lie there by the groups that are packed.
    int32_t at_once = p.direct ? p.at_once : p.groups, packed = -1;
    for (int32_t first = 0; first < p.groups; first += at_once) {
        for (int32_t m = 0; m < all; m += p.block) {
            int32_t count = odt_min(p.block, all - m), stop = odt_min(first + at_once, p.groups);
            const int8_t *x = p.direct ? a->x + m * pixel : s.windows;
            odt_poll();
            if (!p.direct) {
                gather_windows(&g, m, count, s.windows, bytes, &s.padded);
            }
            for (int32_t group = first; group < stop; group++) {
                int32_t i = group % p.at_once;
                if (packed != group - i) {
                    packed = group - i;
                    for (int32_t j = 0; j < odt_min(p.at_once, p.groups - packed); j++) {
                        has_scale[j] = (int8_t)pack(a, &p, packed + j, j, &s);
                    }
                }
                for (int32_t done = 0, here; done < count; done += here) { // of a row of outputs, or of all
                    int32_t row = is_dense ? 0 : (m + done) / a->OW, ow = m + done - row * a->OW, b = row / a->OH;
                    int8_t *y = a->y + b * a->y_b + (row - b * a->OH) * a->y_oh + ow * a->y_ow;
                    const int8_t *from = x + done * (bytes + s.makers[i].back);
                    here = is_dense ? count : odt_min(a->OW - ow, count - done);
                    if (has_scale[i]) {
                        make(a, first_of(a, group), &s.makers[i], from, here, y, bounds);
                    } else {
                        make_slowly(a, first_of(a, group), &s.makers[i], from, here, y);
                    }
                }
            }
        }
    }
}

#endif
