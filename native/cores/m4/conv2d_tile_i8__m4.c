// Products of int8 matrices (correlate.h) on cores with SMLAD, a Cortex-M4 and later, for windows of several lines or
// with padding. Rows of x are copied to the stack with their padding, without other groups' channels: a tile, as pairs
// of int16 if pixels have whole words. Windows are multiplied in place, line by line, by four filters that are packed
// as int16. The stack holds 4.6 KB.

#include "../../core.h"
#include "../correlate.h"

#if ODT_M4 && !ODT_MPY

#include <string.h>

#include "../../fixed.h"
#include "tiles_i8__m4.h"
#include "words__m4.h"
#include "conv2d_i8__m4.h"
#include "pixels_i8__m4.h"

enum {
    FILTERS = 4,  // of a group
    DEPTH = 288,  // products of a panel, for one group or several
    LINE = 24,    // words, and of pairs
    LONG = 32,
    GROUPS = 4,
    PANEL = 2 * FILTERS * DEPTH, // bytes
    ROOM = 1536,  // bytes of copied rows, and those that the panel leaves
    OUTPUTS = 32, // of fewer than four filters, at a time
};

typedef struct {
    odt_maker_t makers[GROUPS];
    int8_t panel[PANEL + ROOM + 8] __attribute__((aligned(8))), has_scale[GROUPS]; // then copied rows
} scratch_t;

// Lines of a window, their words, and their bytes if these do not have whole words; groups of filters, and how many are
// packed at a time, and the bytes of these; columns and rows of outputs in a tile, and images; numbers in a copied row,
// and in an image; bytes of a number.
typedef struct {
    int32_t lines, words, length, groups, at_once, panel, columns, rows, images, pitch, size, unit;
} tile_plan_t;

static int tile_plan_tile(const odt_correlation_t *a, tile_plan_t *p) {
    int32_t row = a->KW * a->C, parts = 1, most_words = a->C % 4 ? LINE : LONG;
    if (a->KH < 1 || row < 1 || row > 4 * DEPTH || a->KH > DEPTH || a->N < 1 || a->B < 1 || a->OH < 1 || a->OW < 1
        || (a->w_c == 1 && a->KW > 1 && a->w_kw != a->C) || a->zx != (int8_t)a->zx || a->SW > ROOM || a->SH > ROOM) {
        return 0;
    }
    if (a->w_c == 1 && a->C % 4 && a->KH * row > ODT_FEW_DEPTH && !odt_is_contiguous(a)) {
        return 0; // odt_correlate_all_i8() would not do for other scales
    }
    if (a->KH == 1 && row > 4 * most_words) { // its parts are lines
        for (parts = 2; row % (4 * parts) || row / parts > 4 * most_words; parts++) {
            if (parts == 8) {
                return 0;
            }
        }
    }
    p->lines = a->KH * parts;
    p->length = row / parts;
    p->words = (p->length + 3) >> 2;
    p->unit = a->C % 4 ? 1 : 2;
    int32_t depth = 4 * p->words * p->lines;
    if (p->words > most_words || depth > DEPTH) {
        return 0;
    }
    p->groups = (a->N + FILTERS - 1) / FILTERS;
    p->at_once = odt_min(odt_min(DEPTH / depth, GROUPS), p->groups);
    p->panel = 2 * FILTERS * depth * p->at_once;
    int32_t room = (PANEL + ROOM - p->panel) >> (p->unit - 1);
    int32_t most = (room / a->KH / a->C - a->KW) / a->SW + 1;
    if (room / a->KH / a->C < a->KW) {
        return 0;
    }
    parts = (a->OW + most - 1) / most;
    p->columns = (a->OW + parts - 1) / parts;
    p->pitch = ((p->columns - 1) * a->SW + a->KW) * a->C;
    p->rows = odt_min((room / p->pitch - a->KH) / a->SH + 1, a->OH);
    p->size = (p->pitch * ((p->rows - 1) * a->SH + a->KH) + 3) & ~3;
    p->images = p->rows == a->OH && parts == 1 ? odt_min(room / p->size, a->B) : 1;
    return 1;
}

// Prepares a group's sums and scales. Returns whether the maker can use these.
static int begin_group(const odt_correlation_t *a, const tile_plan_t *p, int32_t n, odt_maker_t *maker) {
    int32_t bias[FILTERS] = {0};
    for (int32_t j = 0, from = n; j < FILTERS && a->bias; j++) {
        bias[j] = a->bias[from];
        from += from + 1 < a->N;
    }
    // a transposed filter is packed times 256 in a second pass, which costs what four outputs per word gain
    int may_be_upper = a->w_c == 1 || a->B * a->OH * a->OW > 8 * p->words * p->lines;
    if (!odt_begin_maker(maker, a->q + n * a->q_step, a->q_step, a->N, bias,
        odt_most(p->lines * p->length, a->zy, a->lo), a->zy, may_be_upper)) {
        return 0;
    }
    #pragma GCC unroll 4
    for (int32_t j = 0; j < FILTERS; j++) {
        maker->start[j] = maker->scale == ODT_UPPER ? bias[j] * 256 : bias[j];
    }
    maker->words = p->words;
    maker->jump = p->lines == 1 ? 0 : p->unit * ((p->lines == a->KH ? p->pitch : p->length) - 4 * p->words);
    maker->back = p->unit * (a->SW * a->C - 4 * p->lines * p->words) - p->lines * maker->jump;
    maker->step = a->N >= FILTERS ? a->y_ow : FILTERS;
    return 1;
}

// Packs the filters of a group.
static void pack_group(const odt_correlation_t *a, const tile_plan_t *p, int32_t n, int is_upper, int16_t *panel) {
    int32_t is_whole = p->length == 4 * p->words, at_once = is_whole ? p->lines : 1, length = at_once * p->length;
    int16_t *to = panel;
    if (a->w_c != 1) {
        for (int32_t line = 0; line < p->lines; line += at_once, to += FILTERS * 4 * p->words) {
            odt_pack_dx_i8(a, n, line, 0, 0, length, to);
        }
        uint32_t *pairs = (uint32_t *)(void *)panel;
        for (int32_t j = is_upper ? 2 * FILTERS * p->words * p->lines : 0; j; j--, pairs++) {
            *pairs = *pairs << 8 & 0xFF00FF00;
        }
        return;
    }
    const int8_t *w[FILTERS];
    #pragma GCC unroll 4
    for (int32_t j = 0; j < FILTERS; j++) {
        w[j] = a->w + odt_min(n + j, a->N - 1) * a->w_n;
    }
    if (!odt_is_contiguous(a)) {
        at_once = 1;
        length = p->length;
    }
    for (int32_t line = 0; line < p->lines; line += at_once, to += FILTERS * 4 * p->words) {
        if (is_upper) {
            odt_widen_high(to, w, length);
        } else {
            odt_widen_four(to, w, length, 0);
        }
        for (int32_t j = 0; j < FILTERS; j++) {
            w[j] += a->w_kh;
        }
    }
}

// Computes rows of outputs of fewer than four filters.
static void make_few(const odt_correlation_t *a, odt_maker_t *maker, odt_made_t made, int32_t unit, int32_t *bounds) {
    int8_t few[OUTPUTS * FILTERS];
    int32_t N = a->N, step = a->y_ow;
    for (; made.rows; made.rows--, made.x += made.x_row, made.y += made.y_row) {
        for (int32_t done = 0, count; done < made.count; done += count) {
            count = odt_min(made.count - done, OUTPUTS);
            odt_made_t part = {.x = made.x + done * a->SW * a->C * unit, .y = few, .rows = 1, .count = count};
            odt_make_pixels(maker, &part, unit == 2 ? ODT_OF_PAIRS : ODT_OF_BYTES, a->zy, a->lo, bounds);
            int8_t *y = made.y + done * step;
            for (const int8_t *from = few, *end = few + FILTERS * count; from != end; from += FILTERS, y += step) {
                y[0] = from[0];
                if (N > 1) {
                    y[1] = from[1];
                }
                if (N > 2) {
                    y[2] = from[2];
                }
            }
        }
    }
}

// Rows oh .. of a tile from column ow on, of images b ..: outputs of a group.
static void make_tile(const odt_correlation_t *a, const tile_plan_t *p, int32_t n, int32_t b, int32_t oh, int32_t ow,
    odt_maker_t *maker, const int8_t *x, int32_t *bounds) {
    odt_made_t made = {.x = x, .y = a->y + b * a->y_b + oh * a->y_oh + ow * a->y_ow + n,
        .x_row = a->SH * p->pitch * p->unit,
        .y_row = a->y_oh, .rows = odt_min(p->rows, a->OH - oh), .count = odt_min(p->columns, a->OW - ow)};
    int32_t images = odt_min(p->images, a->B - b), size = p->size * p->unit;
    for (; images; images--, made.x += size, made.y += a->y_b) {
        if (a->N < FILTERS) {
            make_few(a, maker, made, p->unit, bounds);
        } else {
            odt_make_pixels(maker, &made, p->unit == 2 ? ODT_OF_PAIRS : ODT_OF_BYTES, a->zy, a->lo, bounds);
        }
    }
}

// Groups first .. stop - 1.
static void correlate_groups(
    const odt_correlation_t *a, const tile_plan_t *p, int32_t first, int32_t stop, scratch_t *s, int32_t *failed,
    int32_t *bounds) {
    int32_t depth = 4 * p->words * p->lines, size = a->H * a->W * odt_pixel(a->C, a->x_skip);
    odt_image_t image = ODT_IMAGE_OF(a);
    int is_alike = a->q_step == 0 && !a->bias && a->zx == 0; // one maker for all groups
    for (int32_t i = first; i < stop; i++) {
        odt_maker_t *maker = &s->makers[is_alike ? 0 : i - first];
        int16_t *panel = (int16_t *)(void *)s->panel + (i - first) * FILTERS * depth;
        int32_t n = odt_first_of(a, i);
        if (!is_alike || i == 0) {
            s->has_scale[i - first] = (int8_t)begin_group(a, p, n, maker);
        }
        if (!s->has_scale[is_alike ? 0 : i - first]) {
            failed[0] = odt_min(failed[0], i);
            failed[1] = i + 1;
            continue;
        }
        pack_group(a, p, n, maker->scale == ODT_UPPER, panel);
        if (a->zx && p->unit == 1) {
            odt_begin_sums(maker->start, panel, p->words * p->lines, a->zx);
        }
    }
    for (int32_t b = 0; b < a->B; b += p->images) {
        for (int32_t ow = 0; ow < a->OW; ow += p->columns) {
            for (int32_t oh = 0; oh < a->OH; oh += p->rows) {
                int32_t rows = (odt_min(p->rows, a->OH - oh) - 1) * a->SH + a->KH;
                odt_poll();
                for (int32_t i = 0; i < odt_min(p->images, a->B - b); i++) {
                    const int8_t *x = a->x + (b + i) * size;
                    int32_t ih = oh * a->SH - a->top, iw = ow * a->SW - a->left;
                    int8_t *to = s->panel + p->panel + i * p->size * p->unit;
                    if (p->unit == 2) {
                        odt_widen_tile_i8(&image, x, ih, iw, rows, p->pitch, (uint32_t *)(void *)to);
                    } else {
                        odt_copy_tile_i8(&image, x, ih, iw, rows, p->pitch, to);
                    }
                }
                for (int32_t i = first; i < stop; i++) {
                    odt_maker_t *maker = &s->makers[is_alike ? 0 : i - first];
                    maker->panel = (int16_t *)(void *)s->panel + (i - first) * FILTERS * depth;
                    maker->panel_end = p->lines == 1 ? NULL : maker->panel + FILTERS * depth;
                    if (s->has_scale[is_alike ? 0 : i - first]) {
                        make_tile(a, p, odt_first_of(a, i), b, oh, ow, maker, s->panel + p->panel, bounds);
                    }
                }
            }
        }
    }
}

// Computes all groups. `failed`: the first group without a scale that suits the maker, and the end of these.
static __attribute__((noinline)) void correlate_tiles(
    const odt_correlation_t *a, const tile_plan_t *p, int32_t *failed, int32_t *bounds) {
    scratch_t s;
    for (int32_t i = 0; i < p->groups; i += p->at_once) {
        correlate_groups(a, p, i, odt_min(i + p->at_once, p->groups), &s, failed, bounds);
    }
}

// Estimates in instructions, fitted to drawn shapes: by tiles, and how else the same is done (conv2d_few_i8__m4.c,
// conv2d_i8__m4.c).
static int64_t cost_of_tile(const odt_correlation_t *a, const tile_plan_t *p) {
    int64_t all = a->B * a->OH * a->OW, words = p->words * p->lines;
    int32_t parts = (a->OW + p->columns - 1) / p->columns, tiles = (a->OH + p->rows - 1) / p->rows * parts * a->B;
    int32_t copies = (p->groups + p->at_once - 1) / p->at_once, begin = a->w_c == 1 ? 600 : 200;
    int64_t few = a->N < FILTERS ? 15 * all : 0;
    if (p->unit == 2) {
        int64_t outputs = all * (11 * words + (p->lines > 1 ? 9 * p->lines : 4) + 21) + tiles * 135;
        return 700 + p->groups * (begin + (a->w_c == 1 ? 12 : 30) * words + outputs)
            + (int64_t)copies * tiles * p->size * 3 / 2 + few;
    }
    int64_t outputs = all * (13 * words + 6 * p->lines + 26) + a->B * a->OH * parts * 45;
    return p->groups * (begin + (a->w_c == 1 ? 16 : 30) * words + outputs)
        + (int64_t)copies * tiles * (p->size + p->size / 4 + 100) + few;
}

static int64_t cost_of_few(const odt_correlation_t *a, int32_t groups) {
    int32_t line = a->KW * a->C, depth = a->KH * line, words = (depth + 3) >> 2, all = a->B * a->OH * a->OW;
    int32_t block = odt_min(256 / words, 32), packs = groups <= 24 / words ? 1 : (all + block - 1) / block;
    int32_t word = groups > 2 ? 11 : 13; // as pairs
    return groups * ((int64_t)packs * (600 + 16 * words) + (int64_t)all * (word * words + 27))
        + (int64_t)all * (20 + depth + a->KH * (10 + line % 4 * 3) + (groups > 2 ? 5 * words : 0));
}

static int64_t cost_of_panels(const odt_correlation_t *a) {
    int32_t line = a->KW * a->C, depth = a->KH * line, words = (depth + 3) >> 2, all = a->B * a->OH * a->OW;
    int32_t windows = (all + 3) & ~3, has_words = a->KH == 1 || line % 4 == 0;
    int32_t inside = a->B * odt_max(a->OH - a->top - a->top, 0) * odt_max(a->OW - a->left - a->left, 0);
    int32_t pitch = (a->W + a->KW) * a->C, border = pitch * a->KH > 256 ? all - inside : 0;
    return (int64_t)windows * (150 + 40 * a->KH + depth + depth / 4 + (has_words ? 0 : 2 * depth))
        + (int64_t)border * depth * 2 + (int64_t)windows / 4 * a->N * (13 * words + 42 + 12 * (depth / 128));
}

static int64_t cost_of_blocks(const odt_correlation_t *a, const tile_plan_t *p) {
    int32_t words = p->words * p->lines, all = a->B * a->OH * a->OW, KH = a->KH;
    int32_t inside = a->B * odt_max(a->OH - a->top - a->top, 0) * odt_max(a->OW - a->left - a->left, 0);
    int32_t packs = words <= 24 ? 1 : (all + 31) / 32;
    return p->groups * (200 + (int64_t)packs * (22 * words + 60 * KH) + all * (int64_t)(13 * words + 12 * KH + 35)
        + (int64_t)(all - inside) * KH * (a->C % 4 ? 200 : 40) + (int64_t)a->B * a->OH * KH * 100);
}

int odt_is_tile(const odt_correlation_t *a) {
    tile_plan_t p;
    int is_in_place = a->KH * a->KW == 1 && (a->w_c == 1 ? a->C % 4 == 0 : a->N >= FILTERS);
    if (is_in_place || !tile_plan_tile(a, &p)) {
        return 0;
    }
    int64_t cost = cost_of_tile(a, &p);
    if (a->w_c != 1) {
        return cost + cost / 16 < cost_of_blocks(a, &p) && cost < odt_cost_of_lines(a);
    }
    return cost < cost_of_panels(a)
        && (a->KH * a->KW * a->C > ODT_FEW_DEPTH || cost < cost_of_few(a, p.groups));
}

void odt_correlate_tile_i8(const odt_correlation_t *a, int32_t *bounds) {
    tile_plan_t p;
    tile_plan_tile(a, &p);
    int32_t failed[2] = {p.groups, 0};
    correlate_tiles(a, &p, failed, bounds);
    if (failed[1]) {
        odt_correlation_t c = *a;
        int32_t n = FILTERS * failed[0];
        c.N = odt_min(FILTERS * failed[1], a->N) - n;
        c.w += n * a->w_n;
        c.bias = a->bias ? a->bias + n : NULL;
        c.q += n * a->q_step;
        c.y += n;
        if (a->w_c != 1) {
            odt_correlate_blocks_i8(&c, bounds);
        } else if (a->KH * a->KW * a->C <= ODT_FEW_DEPTH) {
            odt_correlate_few_i8(&c, bounds);
        } else {
            odt_correlate_all_i8(&c, bounds);
        }
    }
}

#endif
