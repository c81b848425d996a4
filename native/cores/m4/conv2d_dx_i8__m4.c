// Products of int8 matrices (correlate.h) on cores with SMLAD, a Cortex-M4 and later: the gradient of the input. Four
// rows of transposed filters are packed on the stack and multiplied by windows of errors, which are read in place.
// Windows at the border are cut off or copied. The stack holds 2 KB.

#include "../../core.h"
#include "../correlate.h"

#if ODT_M4

#include "../../fixed.h"
#include "words__m4.h"
#include "conv2d_i8__m4.h"
#include "pixels_i8__m4.h"

enum {
    CHANNELS = 4,   // of a panel
    DEPTH = 96,     // products of a panel, a multiple of 4
    ROWS = 32,      // windows at a time
    AT_ONCE = 128,  // windows of one line at a time
    EDGES = 16,     // the largest number of copied windows; their bytes
    COPIED = 768,
};

typedef struct {
    int16_t panel[CHANNELS * DEPTH];
    odt_row_t rows[ROWS];
} dx_scratch_t;

typedef struct {
    int16_t panel[CHANNELS * DEPTH];
    odt_maker_t maker;
    int8_t edges[COPIED], *y[EDGES];
} lines_t;

// Packs four rows of w, with four channels each, into the panel, `fours` > 0 times: 21 instructions for 16 weights.
static __attribute__((noinline)) uint32_t *pack_fours(uint32_t *to, const int8_t *w, int32_t step, int32_t fours) {
    __asm volatile (
        "1:\n"
        "ldr r4, [%1]\n"
        "ldr r5, [%1, %3]\n"
        "ldr r9, [%1, %3, lsl #1]\n"
        "add %1, %1, %3, lsl #1\n"
        "ldr r10, [%1, %3]\n"
        "add %1, %1, %3, lsl #1\n"
        "pkhtb r11, r9, r4, asr #16\n"
        "pkhbt r4, r4, r9, lsl #16\n"
        "pkhtb r12, r10, r5, asr #16\n"
        "pkhbt r5, r5, r10, lsl #16\n"
        "sxtb16 r6, r4, ror #8\n"
        "sxtb16 r4, r4\n"
        "sxtb16 r8, r5, ror #8\n"
        "sxtb16 r5, r5\n"
        "sxtb16 r9, r11\n"
        "sxtb16 r11, r11, ror #8\n"
        "sxtb16 r10, r12\n"
        "sxtb16 r12, r12, ror #8\n"
        "stm %0!, {r4-r6, r8-r12}\n"
        "subs %2, %2, #1\n"
        "bne 1b\n"
        : "+r" (to), "+r" (w), "+r" (fours) : "r" (step)
        : "r4", "r5", "r6", "r8", "r9", "r10", "r11", "r12", "cc", "memory");
    return to;
}

// The weights of four channels of a tap; the last of N is repeated.
static inline uint32_t weights_at(const int8_t *w, int32_t N) {
    if (N >= CHANNELS) {
        return odt_word(w);
    }
    uint32_t first = (uint8_t)w[0], second = N > 1 ? (uint8_t)w[1] : first, third = N > 2 ? (uint8_t)w[2] : second;
    return first | second << 8 | third << 16 | third << 24;
}

void odt_pack_dx_i8(const odt_correlation_t *a, int32_t n, int32_t kh, int32_t kw, int32_t from, int32_t to,
    int16_t *panel) {
    int32_t C = a->C, N = a->N, tap = from / C, c = from - tap * C, left = to - from, step = a->w_c;
    int32_t next = a->w_kw - C * step; // bytes to the next tap
    const int8_t *w = a->w + n + kh * a->w_kh + (kw + tap) * a->w_kw + c * step;
    uint32_t *out = (uint32_t *)(void *)panel;
    tap = a->KW - kw - tap; // that are left in the row
    while (left > 0) {
        int32_t whole = N >= CHANNELS ? odt_min(left, C - c) & ~3 : 0; // channels of the tap in groups of four
        uint32_t depths[4] = {0};
        if (whole) {
            out = pack_fours(out, w, step, whole >> 2);
            w += whole * step;
            c += whole;
            left -= whole;
        }
        for (int32_t i = 0; i < 4 && i < left && !whole; i++, c++, w += step) {
            if (c == C) {
                c = 0;
                w += next;
                if (--tap == 0) {
                    tap = a->KW;
                    w += a->w_kh - a->KW * a->w_kw;
                }
            }
            depths[i] = weights_at(w, N);
        }
        if (!whole) {
            odt_pairs(out, 2, depths[0], depths[2], 0);
            odt_pairs(out + 1, 2, depths[1], depths[3], 0);
            out += 8;
            left -= 4;
        } else if (c == C) {
            c = 0;
            w += next;
            if (--tap == 0) {
                tap = a->KW;
                w += a->w_kh - a->KW * a->w_kw;
            }
        }
    }
}

// Copies bytes from .. to - 1 of one window, which begins `at` bytes into a row of `size` bytes and may lie outside it.
static void add_window(odt_row_t *row, const int16_t *panel, const int8_t *x, int32_t at, int32_t from, int32_t to,
    int32_t size, int is_aligned) {
    if (is_aligned) {
        int32_t first = odt_max(from, -at), words = (odt_min(to, size - at) - first) >> 2;
        if (words > 0) {
            odt_add_rows(row, row + 1, panel + (first - from) * CHANNELS, x + at + first, words, 0);
        }
        return;
    }
    int8_t bytes[DEPTH];
    int32_t words = (to - from + 3) >> 2;
    odt_gather(bytes, x, at + from, 4 * words, odt_min(size, at + to), 0);
    odt_add_rows(row, row + 1, panel, bytes, words, 0);
}

static void clear(odt_row_t *rows, int32_t count) {
    for (odt_row_t *end = rows + count; rows != end; rows++) {
        rows->sums[0] = 0;
        rows->sums[1] = 0;
        rows->sums[2] = 0;
        rows->sums[3] = 0;
    }
}

// For windows ow .. ow + count - 1 of a row: adds the products of depths from .. to - 1 of the filters' row kh, from
// column kw on. `is_first`: these are the windows' first products.
static void correlate_row(const odt_correlation_t *a, int32_t row, int32_t ow, int32_t count, int32_t kh, int32_t kw,
    int32_t from, int32_t to, const int16_t *panel, odt_row_t *rows, int is_first) {
    int32_t b = row / a->OH, ih = (row - b * a->OH) * a->SH - a->top + kh;
    if (ih < 0 || ih >= a->H) {
        if (is_first) {
            clear(rows, count);
        }
        return;
    }
    int32_t C = a->C, pixel = odt_pixel(C, a->x_skip), size = a->W * pixel, step = a->SW * pixel;
    int32_t at = (ow * a->SW - a->left + kw) * pixel, room = size - odt_line_taps(a->KW, a->x_skip) * C - at;
    int32_t words = (to - from + 3) >> 2, is_aligned = C % 4 == 0;
    const int8_t *x = a->x + (b * a->H + ih) * size;
    int32_t first = 0, end = count; // windows that lie inside completely
    if (at < 0 || room < (count - 1) * step) {
        first = odt_min(at < 0 ? (-at + step - 1) / step : 0, count);
        end = room < 0 ? first : odt_limit(room / step + 1, first, count);
    }
    int32_t rest = ((a->B - b) * a->H - ih) * size - a->x_skip; // bytes of x that are left
    while (end > first && at + (end - 1) * step + from + 4 * words > rest) {
        end--; // the last word would end past x
    }
    if (is_first) {
        clear(rows, first);
        clear(rows + end, count - end);
    }
    for (int32_t i = 0; i < first; i++) {
        add_window(&rows[i], panel, x, at + i * step, from, to, size, is_aligned);
    }
    if (end > first && is_first) {
        odt_start_rows(rows + first, rows + end, panel, x + at + first * step + from, words, step - 4 * words);
    } else if (end > first) {
        odt_add_rows(rows + first, rows + end, panel, x + at + first * step + from, words, step - 4 * words);
    }
    for (int32_t i = end; i < count; i++) {
        add_window(&rows[i], panel, x, at + i * step, from, to, size, is_aligned);
    }
}

// Converts the sums of `count` windows, without gaps in y, to channels n .. n + 3.
static void finish_dx(const odt_correlation_t *a, int32_t n, int32_t row, int32_t ow, int32_t count,
    const odt_row_t *rows, int kind, int32_t *bounds) {
    int8_t *y[CHANNELS];
    int32_t b = row / a->OH;
    for (int32_t i = 0; i < CHANNELS; i++) {
        y[i] = a->y + b * a->y_b + (row - b * a->OH) * a->y_oh + ow * a->y_ow + n + odt_min(i, a->N - 1);
    }
    if (!odt_finish_rows(rows, count, y, a->y_ow, kind, a->zy, a->lo, bounds)) {
        odt_finish_slowly(a, n, 0, rows, count, y, a->y_ow, odt_min(CHANNELS, a->N));
    }
}

// Of filters of one line: the windows of a row that lie inside, and in the last row also with their last word; the
// number of all others.
typedef struct {
    int32_t first, end, safe, edges;
} inside_t;

static int find_inside(const odt_correlation_t *a, inside_t *in) {
    int32_t taps = odt_line_taps(a->KW, a->x_skip), length = taps * a->C, words = (length + 3) >> 2;
    int32_t pixel = odt_pixel(a->C, a->x_skip), size = a->W * pixel, step = a->SW * pixel, at = -a->left * pixel;
    if (a->KH != 1 || taps != a->KW || length < 1 || 4 * words > DEPTH || a->top || (a->OH - 1) * a->SH >= a->H
        || a->N < CHANNELS || size < 4) {
        return 0;
    }
    int32_t first = at < 0 ? odt_min((-at + step - 1) / step, a->OW) : 0, room = size - length - at;
    int32_t end = room < 0 ? first : odt_limit(room / step + 1, first, a->OW), safe = end;
    int32_t rest = (a->H - (a->OH - 1) * a->SH) * size - a->x_skip;
    while (safe > first && at + (safe - 1) * step + 4 * words > rest) {
        safe--;
    }
    *in = (inside_t) {first, end, safe, a->B * a->OH * (a->OW - end + first) + end - safe};
    return in->edges <= EDGES && in->edges * 4 * words <= COPIED;
}

int64_t odt_cost_of_lines(const odt_correlation_t *a) {
    inside_t in;
    if (!find_inside(a, &in)) {
        return INT64_MAX;
    }
    int32_t words = (a->KW * a->C + 3) >> 2, all = a->B * a->OH * a->OW;
    return 600 + 90 * in.edges + (a->N + 3) / 4 * (200 + 30 * words + (int64_t)all * (13 * words + 23)
        + 70 * in.edges + 100 * a->B + 15 * a->B * a->OH);
}

// For filters of one line with at most DEPTH products: outputs are computed directly, without stored sums. Windows at
// the border, or whose last word would end past x, are copied. Returns whether this was possible.
static __attribute__((noinline)) int correlate_lines(const odt_correlation_t *a, int32_t *bounds) {
    lines_t s;
    inside_t in;
    odt_maker_t *maker = &s.maker;
    int32_t length = a->KW * a->C, words = (length + 3) >> 2, rows = a->B * a->OH;
    int32_t pixel = odt_pixel(a->C, a->x_skip), size = a->W * pixel, step = a->SW * pixel, at = -a->left * pixel;
    maker->start[0] = maker->start[1] = maker->start[2] = maker->start[3] = 0;
    if (!find_inside(a, &in) || !odt_begin_maker(maker, a->q, 0, 1, maker->start,
        // packing 8 words of a panel costs what 8 outputs gain
        odt_most(length, a->zy, a->lo), a->zy, rows * a->OW > 8 * words)) {
        return 0;
    }
    int32_t first = in.first, end = in.end, safe = in.safe, edges = 0;
    for (int32_t row = 0; row < rows && edges < EDGES; row++) {
        int32_t b = row / a->OH, oh = row - b * a->OH, stop = row == rows - 1 ? safe : end;
        const int8_t *x = a->x + (b * a->H + oh * a->SH) * size;
        for (int32_t ow = first > 0 ? 0 : stop; ow < a->OW; ow = ow + 1 == first ? stop : ow + 1, edges++) {
            odt_gather(
                s.edges + edges * 4 * words, x, at + ow * step, 4 * words, odt_min(size, at + ow * step + length), 0);
            s.y[edges] = a->y + b * a->y_b + oh * a->y_oh + ow * a->y_ow;
        }
    }
    maker->step = a->y_ow;
    maker->panel = s.panel;
    maker->words = words;
    for (int32_t i = 0; i < a->N; i += CHANNELS) {
        int32_t n = odt_min(i, a->N - CHANNELS);
        odt_pack_dx_i8(a, n, 0, 0, 0, length, s.panel);
        uint32_t *pairs = (uint32_t *)(void *)s.panel;
        for (int32_t j = !ODT_MPY && maker->scale == ODT_UPPER ? 2 * CHANNELS * words : 0; j; j--, pairs++) {
            *pairs = *pairs << 8 & 0xFF00FF00;
        }
        maker->back = step - 4 * words;
        for (int32_t b = 0; b < a->B; b++) {
            odt_made_t m = {.x_row = a->SH * size, .y_row = a->y_oh};
            for (int32_t ow = first; ow < end; ow += AT_ONCE) {
                int32_t stop = odt_min(ow + AT_ONCE, end);
                odt_poll();
                m.x = a->x + b * a->H * size + at + ow * step;
                m.y = a->y + b * a->y_b + ow * a->y_ow + n;
                m.rows = a->OH - (b == a->B - 1 && stop > safe);
                m.count = stop - ow;
                if (m.rows) {
                    odt_make_pixels(maker, &m, ODT_OF_ZERO, a->zy, a->lo, bounds);
                }
                if (m.rows < a->OH && safe > ow) {
                    m.x += m.rows * m.x_row;
                    m.y += m.rows * m.y_row;
                    m.rows = 1;
                    m.count = safe - ow;
                    odt_make_pixels(maker, &m, ODT_OF_ZERO, a->zy, a->lo, bounds);
                }
            }
        }
        for (int32_t j = 0; j < edges; j++) {
            odt_made_t m = {.x = s.edges + j * 4 * words, .y = s.y[j] + n, .rows = 1, .count = 1};
            odt_make_pixels(maker, &m, ODT_OF_ZERO, a->zy, a->lo, bounds);
        }
    }
    return 1;
}

void odt_correlate_blocks_i8(const odt_correlation_t *a, int32_t *bounds) {
    dx_scratch_t s;
    int32_t taps = odt_line_taps(a->KW, a->x_skip), length = taps * a->C, padded = (length + 3) & ~3;
    int32_t depth = (taps == a->KW ? a->KH : a->KH * a->KW) * padded, rows = a->B * a->OH;
    int32_t columns = odt_min(a->OW, ROWS), block = a->OW < ROWS ? ROWS / a->OW : 1; // rows of windows at a time
    int is_dense = a->y_oh == a->OW * a->y_ow && (a->B == 1 || a->y_b == a->OH * a->y_oh);
    odt_scale_t scale = {0};
    int kind = odt_find_scale(a->q, 0, odt_most(depth, a->zy, a->lo), a->zy, &scale);
    for (int32_t i = 0; i < ROWS; i++) {
        s.rows[i].scale = scale;
        s.rows[i].start = 0;
    }
    for (int32_t i = 0; i < a->N; i += CHANNELS) {
        int32_t n = odt_max(odt_min(i, a->N - CHANNELS), 0), packed = -1; // the first depth of the panel
        for (int32_t row = 0; row < rows; row += block) {
            odt_poll();
            int32_t stop = odt_min(row + block, rows);
            for (int32_t ow = 0; ow < a->OW; ow += columns) {
                int32_t count = odt_min(columns, a->OW - ow);
                if (depth == 0) {
                    clear(s.rows, (stop - row) * count);
                }
                for (int32_t k = 0; k < depth; k += DEPTH) {
                    int32_t end = odt_min(k + DEPTH, depth), is_packed = packed == k;
                    packed = k;
                    for (int32_t at = k; at < end;) {
                        int32_t line = at / padded, from = at - line * padded, to = odt_min(length, from + end - at);
                        int32_t kh = taps == a->KW ? line : line / a->KW, kw = taps == a->KW ? 0 : line - kh * a->KW;
                        int16_t *panel = s.panel + (at - k) * CHANNELS;
                        if (!is_packed) {
                            odt_pack_dx_i8(a, n, kh, kw, from, to, panel);
                        }
                        for (int32_t r = row; r < stop; r++) {
                            correlate_row(
                                a, r, ow, count, kh, kw, from, to, panel, s.rows + (r - row) * count, at == 0);
                        }
                        at += padded - from;
                    }
                }
                // Rows without a gap in y are finished together.
                int32_t at_once = is_dense && count == a->OW ? stop - row : 1;
                for (int32_t r = row; r < stop; r += at_once) {
                    finish_dx(a, n, r, ow, count * at_once, s.rows + (r - row) * count, kind, bounds);
                }
            }
        }
    }
}

void odt_correlate_dx_i8(const odt_correlation_t *a, int32_t *bounds) {
    if (odt_is_tile(a)) {
        odt_correlate_tile_i8(a, bounds);
    } else if (!correlate_lines(a, bounds)) {
        odt_correlate_blocks_i8(a, bounds);
    }
}

void odt_finish_slowly(const odt_correlation_t *a, int32_t n, int32_t n_row, const odt_row_t *rows, int32_t count,
    int8_t *const *y, int32_t step, int32_t sums) {
    for (int32_t j = 0; j < count; j++) {
        for (int32_t i = 0; i < sums; i++) {
            int32_t filter = n + (n_row ? j : i);
            odt_multiplier_t q = odt_checked(&a->q[filter * a->q_step]);
            y[i][j * step] = odt_clamp(odt_rescaled(rows[j].sums[i], q), a->zy, a->lo, a->peak);
        }
    }
}

#endif
