// Convolutions and dense layers by panels, int8: forward, and the gradient of the input. The part of panel_i8.c that a
// core without SMLAD runs; the panels themselves are the core's (panel_i8__m0.h, panel_i8__c.h).

#ifndef ODT_CONV2D_I8_PANEL_H
#define ODT_CONV2D_I8_PANEL_H

#include "../../core.h"

// The row that a line of taps is in, or is.
static inline int32_t row_of(int32_t line, int32_t taps, int32_t KW) {
    return ODT_SMALL || taps == KW ? line : line / KW;
}

// Part `from` .. `to` of a line of the filters n .. n + 3, row kh from column kw on, to depth `k` of
// the panel. Adds each filter's weights to `totals`. Rows that there are not are copies of the last.
static void pack_filters(const odt_correlation_t *a, int32_t n, int32_t kh, int32_t kw, int32_t from, int32_t to,
    panel_t *panel, int32_t k, int32_t *totals) {
    int32_t rows[ROWS], last = a->N - 1 - n;
    for (int32_t i = 0; i < ROWS; i++) {
        rows[i] = odt_min(i, last) * a->w_n;
    }
    // As long as depths are equally far apart: to the end of a tap, of the row, or where rows are, too, of what is asked for.
    int32_t run = !ODT_SMALL && to > a->KW * a->C ? to : a->w_kw == a->C * a->w_c ? a->KW * a->C : a->C;
    const int8_t *w = a->w + n * a->w_n + kh * a->w_kh + kw * a->w_kw;
    if (!ODT_SMALL && run >= to && to - from <= AT_ONCE) { // mostly: no division is needed
        pack(panel, k, w + from * a->w_c, rows, a->w_c, to - from, totals);
        return;
    }
    while (from < to) {
        int32_t tap = from / a->C, c = from - tap * a->C;
        int32_t count = odt_min(ODT_SMALL ? to - from : odt_min(to - from, AT_ONCE), run - from % run);
        pack(panel, k, w + tap * a->w_kw + c * a->w_c, rows, a->w_c, count, totals);
        from += count;
        k += count;
    }
}

// Row oh of image b of the outputs, ow = first .. first + count - 1: the products of part `from` .. `to` of a line of the
// filters, which lies at depth k of the panel, added to sums, or to `start` if there is one.
static void correlate_row(const odt_correlation_t *a, int32_t b, int32_t oh, int32_t first, int32_t count,
    int32_t kh, int32_t kw, int32_t from, int32_t to, const panel_t *panel, int32_t k, sums_t *sums,
    const int32_t *start) {
    int8_t outside = (int8_t)a->zx;
    int32_t ih = oh * a->SH - a->top + kh;
    if (ih < 0 || ih >= a->H) {
        if (outside || start) {
            columns_t c = {outside ? to - from : 0, 0, count, 0};
            run(sums, start, panel, k, &outside, &c);
        }
        return;
    }
    int32_t C = a->C, pixel = odt_pixel(C, a->x_skip), SW = a->SW, end = first + count, ow = first;
    const int8_t *x = a->x + (b * a->H + ih) * a->W * pixel;
    while (ow < end) {
        int32_t iw = ow * SW - a->left + kw, line_taps = odt_line_taps(a->KW, a->x_skip);
        if (iw >= 0 && iw + line_taps <= a->W) { // all that lie inside as a whole
            int32_t rest = a->W - line_taps - iw, whole = odt_min((SW == 1 ? rest : rest / SW) + 1, end - ow);
            columns_t c = {to - from, 1, whole, SW * pixel};
            run(sums, start, panel, k, x + iw * pixel + from, &c);
            sums += whole;
            ow += whole;
            continue;
        }
        odt_taps_t taps = odt_taps(iw, line_taps, a->W);
        int32_t inside = odt_limit(taps.from * C, from, to), beyond = odt_limit(taps.to * C, from, to);
        columns_t c = {beyond - inside, 1, 1, 0};
        run(sums, start, panel, k + inside - from, x + iw * pixel + inside, &c);
        if (outside) {
            c.stride = 0;
            c.depth = inside - from;
            run(sums, NULL, panel, k, &outside, &c);
            c.depth = to - beyond;
            run(sums, NULL, panel, k + beyond - from, &outside, &c);
        }
        sums++;
        ow++;
    }
}

// The way of channels n .. n + 3 from sums to outputs.
typedef struct {
    const odt_correlation_t *a;
    int32_t n, rows, is_usual, most, offsets[ROWS];
} finish_t;

static void begin_finish(const odt_correlation_t *a, int32_t n, const int32_t *totals, finish_t *f) {
    f->a = a;
    f->n = n;
    f->rows = odt_min(ROWS, a->N - n);
    f->most = odt_min(a->KH * a->KW * a->C, ANY_SUM >> 14) * 127 * 128; // numerics.md: no weight is -128
    int32_t rows = f->rows, zx = a->zx, step = a->q_step;
    const int32_t *bias = a->bias ? a->bias + n : none;
    const odt_multiplier_t *q = a->q + n * step;
    uint32_t marks = 0;
    for (int32_t i = 0; i < rows; i++, q += step) {
        marks = mark_unusual(marks, q);
        f->offsets[i] = odt_wrap_sub(bias[i], odt_wrap_mul(zx, totals[i]));
    }
    f->is_usual = !marks && is_usual_range(a->zy, a->lo, *a->peak);
}

// `count` outputs in a row.
static void finish(const finish_t *f, const sums_t *sums, int32_t count, int8_t *y) {
    const odt_correlation_t *a = f->a;
    const odt_multiplier_t *q = a->q + f->n * a->q_step;
    y += f->n;
    if (f->is_usual) {
        output_t o;
        o.q = q;
        o.q_step = a->q_step * (int32_t)sizeof(*q);
        o.y = y;
        o.most = f->most;
        o.rows = f->rows;
        o.step = a->y_ow;
        o.zy = a->zy;
        o.lo = a->lo;
        finish_usual(&o, *sums, count, f->offsets, a->peak);
        return;
    }
    for (int32_t i = 0; i < f->rows; i++, q += a->q_step) {
        odt_finish_i8((const int32_t (*)[4])sums, i, f->offsets[i], q, a->zy, a->lo, count, y + i, a->y_ow, a->peak);
    }
}

#if !ODT_SMALL

// `count` outputs from number m of all on: at once if they lie without gaps, or row by row.
static void finish_from(const finish_t *f, const sums_t *sums, int32_t m, int32_t count, int is_dense) {
    const odt_correlation_t *a = f->a;
    if (is_dense) {
        finish(f, sums, count, a->y + m * a->y_ow);
        return;
    }
    int32_t row = m / a->OW, ow = m - row * a->OW, b = row / a->OH, oh = row - b * a->OH;
    for (int32_t here; count > 0; count -= here, sums += here) {
        here = odt_min(a->OW - ow, count);
        finish(f, sums, here, a->y + b * a->y_b + oh * a->y_oh + ow * a->y_ow);
        ow = 0;
        if (++oh == a->OH) {
            oh = 0;
            b++;
        }
    }
}

// By windows that are gathered.
static __attribute__((noinline)) void correlate_gathered(const odt_correlation_t *a, const windows_t *g, int is_dense) {
    gathered_t s;
    int32_t M = a->B * a->OH * a->OW, K = g->lines * g->length, step = (K + 3) & ~3, packed = -1, totals[ROWS];
    int32_t block = ((int32_t)sizeof(s.room) - step * 8) / ((int32_t)sizeof(sums_t) + step), depth = K;
    sums_t *sums = s.room + step / 2; // two depths of a panel take as much as the sums of a column
    int8_t *windows = (int8_t *)(sums + block);
    finish_t f;
    int32_t lines = odt_is_contiguous(a) ? 1 : g->lines, length = K / lines; // of filters
    if (ODT_M0 && K % 4 > 1) { // by whole words, the rest of which is 0 in the panel
        depth = step;
    }
    if (K < depth) { // which are multiplied by these bytes of the windows
        memset(windows, 0, (size_t)(block * step));
    }
    for (int32_t k = K; k < depth; k++) {
        put(s.panel, k, none);
    }
    for (int32_t m = 0; m < M; m += block) {
        const columns_t c = {depth, 1, odt_min(block, M - m), step};
        gather_windows(g, m, c.count, windows, step, &s.padded);
        for (int32_t n = 0; n < a->N; n += ROWS) {
            odt_poll();
            if (packed != n) {
                packed = n;
                memset(totals, 0, sizeof(totals));
                for (int32_t line = 0; line < lines; line++) {
                    int32_t kh = row_of(line, g->line_taps, g->KW), kw = line * g->line_taps - kh * g->KW;
                    pack_filters(a, n, kh, kw, 0, length, s.panel, line * length, totals);
                }
                begin_finish(a, n, totals, &f);
            }
            run(sums, none, s.panel, 0, windows, &c);
            finish_from(&f, (const sums_t *)sums, m, c.count, is_dense);
        }
    }
}

// As a product of matrices: x is [M, C].
static __attribute__((noinline)) void correlate_pointwise(const odt_correlation_t *a, int is_dense) {
    scratch_t s;
    int32_t M = a->B * a->OH * a->OW, K = a->C, pixel = odt_pixel(a->C, a->x_skip);
    for (int32_t n = 0; n < a->N; n += ROWS) {
        int32_t rows[ROWS], totals[ROWS] = {0}, last = a->N - 1 - n;
        finish_t f;
        for (int32_t i = 0; i < ROWS; i++) {
            rows[i] = odt_min(i, last) * a->w_n;
        }
        for (int32_t m = 0; m < M; m += BLOCK) {
            int32_t count = odt_min(BLOCK, M - m);
            odt_poll();
            for (int32_t k = 0; k < K; k += AT_ONCE) {
                const columns_t c = {odt_min(AT_ONCE, K - k), 1, count, pixel};
                if (m == 0 || K > AT_ONCE) {
                    pack(s.panel, 0, a->w + n * a->w_n + k * a->w_c, rows, a->w_c, c.depth, totals);
                }
                run(s.sums, k ? NULL : none, s.panel, 0, a->x + m * pixel + k, &c);
            }
            if (m == 0) {
                begin_finish(a, n, totals, &f);
            }
            finish_from(&f, (const sums_t *)s.sums, m, count, is_dense);
        }
    }
}

#endif

// Line by line of the filters, over x where it lies.
static ODT_SCRATCH void correlate_by_rows(const odt_correlation_t *a, int is_dense) {
    scratch_t s;
    int32_t taps = odt_line_taps(a->KW, a->x_skip), length = taps * a->C, padded = (length + ALIGNED - 1) & -ALIGNED;
    int32_t depth = (taps == a->KW ? a->KH : a->KH * a->KW) * padded;
    int32_t rows = a->B * a->OH, columns = odt_min(a->OW, BLOCK);
    int32_t block = a->OW < BLOCK ? BLOCK / a->OW : 1; // rows of outputs at a time
    int32_t totals[ROWS];
    for (int32_t n = 0; n < a->N; n += ROWS) {
        int32_t packed = -1; // the depth that the panel begins with
        for (int32_t row = 0; row < rows; row += block) {
            odt_poll();
            int32_t stop = odt_min(row + block, rows);
            for (int32_t ow = 0; ow < a->OW; ow += columns) {
                int32_t count = odt_min(columns, a->OW - ow);
                if (depth == 0) {
                    fill_columns(s.sums, (stop - row) * count, none);
                }
                if (depth == 0 || packed < 0 || depth > DEPTH) {
                    memset(totals, 0, sizeof(totals));
                }
                for (int32_t k = 0; k < depth; k += DEPTH) {
                    int32_t end = odt_min(k + DEPTH, depth), is_packed = packed == k;
                    packed = k;
                    for (int32_t line = k / padded, at = k; at < end; line++) {
                        int32_t from = at - line * padded;
                        int32_t to = odt_min(length, end - line * padded);
                        int32_t kh = row_of(line, taps, a->KW), kw = ODT_SMALL ? 0 : line * taps - kh * a->KW;
                        if (!is_packed) {
                            pack_filters(a, n, kh, kw, from, to, s.panel, at - k, totals);
                        }
                        sums_t *sums = s.sums;
                        int32_t b = row / a->OH, oh = row - b * a->OH;
                        for (int32_t r = row; r < stop; r++, sums += count) {
                            correlate_row(a, b, oh, ow, count, kh, kw, from, to, s.panel, at - k, sums, at ? NULL : none);
                            if (++oh == a->OH) {
                                oh = 0;
                                b++;
                            }
                        }
                        at = odt_min((line + 1) * padded, end);
                    }
                }
                // Rows that follow one another in y are finished as one.
                int32_t at_once = is_dense && count == a->OW ? stop - row : 1;
                sums_t *sums = s.sums;
                finish_t f;
                begin_finish(a, n, totals, &f);
                for (int32_t r = row; r < stop; r += at_once, sums += count) {
                    int32_t b = r / a->OH;
                    int8_t *y = a->y + b * a->y_b + (r - b * a->OH) * a->y_oh + ow * a->y_ow;
                    finish(&f, (const sums_t *)sums, count * at_once, y);
                }
            }
        }
    }
}

void odt_correlate_part_i8(const odt_correlation_t *a) {
    #if ODT_X86
    if (odt_correlate_i8__x86(a)) {
        return;
    }
    #endif
    int is_dense = odt_is_dense(a);
    #if !ODT_SMALL
    const windows_t g = WINDOWS_OF(a);
    if (ODT_PANEL && odt_is_single(a)) {
        odt_correlate_single_i8(a);
        return;
    }
    if (odt_is_pointwise(a)) {
        correlate_pointwise(a, is_dense);
        return;
    }
    if (is_gathered(&g, (a->N + ROWS - 1) / ROWS)) {
        correlate_gathered(a, &g, is_dense);
        return;
    }
    #endif
    correlate_by_rows(a, is_dense);
}

#endif
