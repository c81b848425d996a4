// Convolutions with a single filter, and gradients of two inputs (correlate.h), on cores with SMLAD, a Cortex-M4 and
// later. Rows of x are copied to the stack, with their padding and without other groups' channels; four adjacent
// windows are multiplied by the filter, two by both, which are packed as int16. A channel of a depthwise convolution is
// one. The stack holds 4.2 KB.

#include "../../core.h"
#include "../correlate.h"
#include "../depthwise.h"

#if ODT_M4 && !ODT_MPY

#include <string.h>

#include "../../fixed.h"
#include "tiles_i8__m4.h"
#include "words__m4.h"
#include "conv2d_i8__m4.h"
#include "pixels_i8__m4.h"

enum {
    ROOM = 2560,  // bytes of copied rows, and those that the filter leaves
    WORDS = 144,  // of the filter, or two
    OUTPUTS = 64, // at a time
};

#include "conv2d_one_i8__m4.inc"

typedef struct {
    uint32_t w[2 * WORDS + ROOM / 4 + 2] __attribute__((aligned(8))); // then copied rows
    int32_t sums[OUTPUTS];
    int kind; // of the scale
    void (*finish)(finish_t *, int8_t *, int32_t);
    void (*sum)(copied_t *);
    finish_t q;
    copied_t f;
} one_t;

// Words of a filter's row, columns of outputs at a time, numbers in a copied row of these, rows of outputs, and bytes
// of a number.
typedef struct {
    int32_t words, columns, pitch, rows, size;
    int is_three, are_pairs; // whether sum_threes() does it, and sum_three_rows()
    int32_t unit;            // windows of four sums
} ones_t;

static int plan_ones(ones_t *p, const odt_correlation_t *a) {
    int32_t row = a->KW * a->C, N = a->N, unit = N == 2 ? 2 : 4;
    if (N == 1 && a->x_skip == 0 && a->OW % 4 && a->OW < 12) { // too many are computed twice
        return 0;
    }
    if ((N != 1 && (N != 2 || a->q_step || a->bias || a->zx || row < 8)) || a->OW < unit || a->OH < 1 || a->B < 1
        || row < 1 || row > ODT_ONE_ROW || a->KH < 1 || a->KH > WORDS || (N == 1 && a->KH * a->KW == 1) || a->SW > ROOM
        || a->SH > ROOM || a->zx != (int8_t)a->zx) {
        return 0;
    }
    p->unit = unit;
    p->size = a->C % 4 ? 1 : 2; // pixels of whole words are copied as pairs
    p->words = (row + 3) >> 2;
    p->is_three = N == 1 && a->C == 1 && a->KW <= 3 && a->SW == 1;
    p->are_pairs = p->is_three && a->KH == 3 && a->SH == 1 && a->OH > 1;
    int32_t room = (4 * 2 * WORDS + ROOM - 8 * p->words * a->KH * N) >> (p->size - 1);
    p->columns = odt_min(odt_min((room / a->KH / a->C - a->KW) / a->SW + 1, a->OW), (OUTPUTS >> p->are_pairs) / N);
    if (p->words * a->KH > WORDS / N || room / a->KH < row || p->columns < unit) {
        return 0;
    }
    if (p->columns < a->OW) { // parts of one size
        int32_t most = p->columns & -unit, parts = (a->OW + most - 1) / most;
        p->columns = ((a->OW + parts - 1) / parts + unit - 1) & -unit;
    }
    p->pitch = ((p->columns - 1) * a->SW + a->KW) * a->C;
    p->rows = odt_min((room / p->pitch - a->KH) / a->SH + 1, a->OH);
    return 1;
}

int odt_is_one(const odt_correlation_t *a) {
    ones_t p;
    return plan_ones(&p, a);
}

int odt_depthwise_one_i8__m4(const odt_depthwise_t *a, int32_t first, int32_t stop, int32_t *peak) {
    int32_t bounds[2] = {INT16_MIN, INT16_MAX};
    ones_t p;
    if (a->KW > 3 || a->SW != 1) {
        return 0;
    }
    odt_correlation_t c = {.q = a->q, .peak = peak, .B = a->B, .N = 1, .H = a->H, .W = a->W, .KH = a->KH, .KW = a->KW,
        .SH = a->SH, .SW = a->SW, .top = a->top, .left = a->left, .OH = a->OH, .OW = a->OW, .zx = a->zx, .zy = a->zy,
        .lo = a->lo, .w_kh = a->w_kh, .w_kw = a->w_kw, .y_b = a->y_b, .y_oh = a->y_oh, .y_ow = a->y_ow, .C = 1,
        .w_c = 1, .x_skip = a->N - 1};
    if (!plan_ones(&p, &c) || !p.is_three) {
        return 0;
    }
    for (int32_t n = first; n < stop; n++) {
        c.x = a->x + n;
        c.w = a->w + n * a->w_n;
        c.bias = a->bias ? a->bias + n : NULL;
        c.q = a->q + n;
        c.y = a->y + n;
        odt_correlate_one_i8__m4(&c, bounds);
    }
    *peak = odt_peak_of(bounds, a->zy, a->lo, *peak);
    return 1;
}

// Packs two filters with whole words of channels: two adjacent weights at a time, about 22 instructions for eight.
static void pack_two(const odt_correlation_t *a, uint32_t *to) {
    int32_t step = a->w_c;
    for (int32_t tap = 0; tap < a->KH * a->KW; tap++) {
        int32_t kh = tap / a->KW;
        const int8_t *w = a->w + kh * a->w_kh + (tap - kh * a->KW) * a->w_kw;
        for (int32_t c = a->C; c; c -= 4, w += 4 * step, to += 4) {
            uint16_t of[4];
            memcpy(&of[0], w, 2);
            memcpy(&of[1], w + step, 2);
            memcpy(&of[2], w + 2 * step, 2);
            memcpy(&of[3], w + 3 * step, 2);
            uint32_t even = odt_lower(of[0], of[2]), odd = odt_lower(of[1], of[3]);
            to[0] = odt_evens(even);
            to[1] = odt_evens(odd);
            to[2] = odt_odds(even);
            to[3] = odt_odds(odd);
        }
    }
}

// Packs the filter, or two, word by word. Returns the sums' start.
static int32_t pack_one(const odt_correlation_t *a, const ones_t *p, uint32_t *to) {
    int32_t sum = 0;
    if (a->N == 2 && a->C % 4 == 0 && a->w_n == 1) {
        pack_two(a, to);
        return 0;
    }
    for (int32_t kh = 0; kh < a->KH; kh++) {
        int8_t row[2][ODT_ONE_ROW + 3];
        for (int32_t n = 0; n < a->N; n++) {
            int8_t *next = row[n], *end = next + 4 * p->words;
            for (int32_t kw = 0; kw < a->KW; kw++) {
                const int8_t *w = a->w + n * a->w_n + kh * a->w_kh + kw * a->w_kw;
                for (int32_t c = 0; c < a->C; c++, w += a->w_c) {
                    sum += *w;
                    *next++ = *w;
                }
            }
            while (next != end) {
                *next++ = 0;
            }
        }
        if (p->is_three) {
            *to++ = odt_lower((uint32_t)row[0][0], (uint32_t)row[0][2]);
            *to++ = (uint32_t)row[0][1];
            continue;
        }
        for (int32_t i = 0; i < p->words; i++) {
            for (int32_t n = 0; n < a->N; n++) {
                *to++ = odt_evens(odt_word(row[n] + 4 * i));
                *to++ = odt_odds(odt_word(row[n] + 4 * i));
            }
        }
    }
    return odt_wrap_sub(a->bias ? a->bias[0] : 0, p->size == 2 ? 0 : odt_wrap_mul(a->zx, sum));
}

// Converts `count` sums, whatever the scale.
static void finish_ones_slowly(const odt_correlation_t *a, const int32_t *sums, int32_t count, int8_t *y) {
    odt_multiplier_t q = odt_checked(a->q);
    for (int32_t N = a->N; count; count -= N, y += a->y_ow) {
        for (int32_t n = 0; n < N; n++) {
            y[n] = odt_clamp(odt_rescaled(*sums++, q), a->zy, a->lo, a->peak);
        }
    }
}

// Limits the outputs of one filter, or two, to at least lo.
static __attribute__((noinline)) void clamp_ones(int8_t *y, int32_t step, int32_t count, int32_t N, int32_t lo) {
    for (int32_t n = 0; n < N; n++) {
        int8_t *at = y + n;
        for (int32_t i = count; i; i -= N, at += step) {
            *at = (int8_t)odt_max(*at, lo);
        }
    }
}

// Converts the sums of `lines` times `count` outputs, a multiple of four, from column ow of row oh on.
static void finish_ones(const odt_correlation_t *a, one_t *s, int8_t *y, int32_t lines, int32_t count) {
    int32_t step = a->y_ow;
    if (a->N * a->y_oh == count * step) { // without a gap
        count *= lines;
        lines = 1;
    }
    s->q.sums = s->sums;
    for (; lines; lines--, y += a->y_oh, s->q.sums = s->q.end) {
        s->q.end = s->q.sums + count;
        if (s->kind != ODT_SHORT) {
            finish_ones_slowly(a, s->q.sums, count, y);
            continue;
        }
        s->finish(&s->q, y, step);
        uint32_t found[2] = {0, s->q.smallest};
        if (odt_is_below(found, a->lo, 128)) {
            clamp_ones(y, step, count, a->N, a->lo);
        }
    }
}

void odt_correlate_one_i8__m4(const odt_correlation_t *a, int32_t *bounds) {
    one_t s;
    ones_t p;
    plan_ones(&p, a);
    int32_t bias = a->bias ? a->bias[0] : 0, start = pack_one(a, &p, s.w), step = a->SW * a->C * p.size;
    int32_t pitch = p.pitch * p.size, down = a->SH * pitch;
    int are_words = p.size == 2;
    int8_t *tile = (int8_t *)(s.w + 2 * p.words * a->KH * a->N);
    int32_t size = a->H * a->W * odt_pixel(a->C, a->x_skip), whole = p.columns & -p.unit, N = a->N;
    int is_positive = a->zy == -128, is_row = a->y_ow == N;
    odt_scale_t scale = {0};
    odt_image_t image = ODT_IMAGE_OF(a);
    s.kind = odt_find_scale(a->q, bias, odt_most(a->KH * a->KW * a->C, a->zy, a->lo), a->zy + 128, &scale);
    s.q = (finish_t) {.largest = odt_twice(INT16_MIN), .m = scale.m, .half = scale.half, .shift = scale.shift,
        .smallest = odt_twice(INT16_MAX)};
    s.finish = is_row ? is_positive ? finish_positive_row : finish_row
                      : N == 2 ? finish_pairs : is_positive ? finish_positive_column : finish_column;
    s.f = (copied_t) {tile, step, s.w, 8 * p.words * N, s.sums, a->KH, pitch - 4 * p.size * p.words, start, 0, 0, 0};
    s.sum = p.is_three ? sum_threes : N == 2 ? are_words ? sum_twos_of_pairs : sum_twos
        : are_words ? sum_fours_of_pairs : sum_fours;
    for (int32_t b = 0; b < a->B; b++) {
        for (int32_t left = 0; left < a->OW; left += p.columns) {
            int32_t ow = odt_min(left, a->OW - p.columns); // some are computed twice
            for (int32_t first = 0; first < a->OH; first += p.rows) {
                int32_t rows = odt_min(p.rows, a->OH - first);
                odt_poll();
                int32_t ih = first * a->SH - a->top, iw = ow * a->SW - a->left, lines = (rows - 1) * a->SH + a->KH;
                if (are_words) {
                    odt_widen_tile_i8(&image, a->x + b * size, ih, iw, lines, p.pitch, (uint32_t *)(void *)tile);
                } else {
                    odt_copy_tile_i8(&image, a->x + b * size, ih, iw, lines, p.pitch, tile);
                }
                for (int32_t at = 0, stop = 0; stop < p.columns; at = p.columns - p.unit) { // and the last
                    int32_t count = at ? p.unit : whole, most = OUTPUTS / (count * N);
                    const int8_t *x = tile + at * step;
                    int8_t *y = a->y + b * a->y_b + first * a->y_oh + (ow + at) * a->y_ow;
                    stop = at + count;
                    for (int32_t i = 0, lines; i < rows; i += lines) {
                        lines = odt_min(most, rows - i);
                        int are_pairs = p.are_pairs && lines > 1;
                        lines &= are_pairs ? ~1 : ~0;
                        s.f.x = x + i * down;
                        s.f.sums = s.sums;
                        s.f.fours = count * N / 4;
                        s.f.lines = lines;
                        s.f.next = down - count * step;
                        (are_pairs ? sum_three_rows : s.sum)(&s.f);
                        finish_ones(a, &s, y + i * a->y_oh, lines, count * N);
                    }
                }
            }
        }
    }
    uint32_t found[2] = {s.q.largest, s.q.smallest};
    if (s.kind == ODT_SHORT) {
        odt_add_bounds(bounds, found, ODT_SHORT, 128);
    }
}

#endif
