// Convolutions and dense layers by panels, int8: the gradient of the filters. The part of panel_i8.c that a core without
// SMLAD runs; the panels themselves are the core's (panel_i8__m0.h, panel_i8__c.h).

#ifndef ODT_CONV2D_DW_I8_PANEL_H
#define ODT_CONV2D_DW_I8_PANEL_H

#if ODT_M0
#include "../../core.h"
#include "conv2d_dw_i8__m0.h"
#endif

// As memset, which takes longer on an RP2040.
static void clear_words(int32_t *words, int32_t count) {
    int32_t *end = words + (count & ~3);
    for (; words != end; words += 4) {
        words[0] = 0;
        words[1] = 0;
        words[2] = 0;
        words[3] = 0;
    }
    for (count &= 3; count; count--) {
        *words++ = 0;
    }
}

// Every ROWS-th word to four in a row.
static inline void store_four(int32_t *dw, const int32_t *sum) {
    #if ODT_M0
    __asm volatile ( // 13 cycles; as gcc does it, 16
        "ldr r3, [%1, #0]\n"
        "ldr r4, [%1, #16]\n"
        "ldr r5, [%1, #32]\n"
        "ldr r6, [%1, #48]\n"
        "stmia %0!, {r3-r6}\n"
        : "+l" (dw) : "l" (sum) : "r3", "r4", "r5", "r6", "memory");
    #else
    dw[0] = sum[0];
    dw[1] = sum[ROWS];
    dw[2] = sum[2 * ROWS];
    dw[3] = sum[3 * ROWS];
    #endif
}

// A row's sums to dw, or added to it.
static void store(int32_t *dw, const int32_t *sum, int32_t count, int is_whole) {
    const int32_t *end = sum + (count & ~3) * ROWS;
    if (is_whole) {
        for (; sum != end; sum += 4 * ROWS, dw += 4) {
            store_four(dw, sum);
        }
        for (count &= 3; count; count--, sum += ROWS) {
            *dw++ = *sum;
        }
        return;
    }
    for (; sum != end; sum += 4 * ROWS, dw += 4) {
        dw[0] = odt_wrap_add(dw[0], sum[0]);
        dw[1] = odt_wrap_add(dw[1], sum[ROWS]);
        dw[2] = odt_wrap_add(dw[2], sum[2 * ROWS]);
        dw[3] = odt_wrap_add(dw[3], sum[3 * ROWS]);
    }
    for (count &= 3; count; count--, sum += ROWS, dw++) {
        *dw = odt_wrap_add(*dw, *sum);
    }
}

#if !ODT_SMALL

// Errors m .. m + count - 1, which begin at e, of which a tap that is dh and dw away from its output reads beyond the image:
// out of the panel and of the channels' totals, or back into the panel if these are NULL.
static void patch_errors(const odt_correlation_dw_t *a, const int8_t *e, const int32_t *rows, int32_t m, int32_t count,
    int32_t dh, int32_t dw, panel_t *panel, int32_t *totals) {
    int32_t row = m / a->W, first = m - row * a->W, oh = row % a->H, step = a->e_step;
    int32_t left = odt_max(-dw, 0), right = a->W - odt_max(dw, 0); // of a row, what meets the image
    taken_t taken = {0};
    for (int32_t k = -first; k < count; k += a->W) { // where the row begins
        int32_t from = odt_max(k, 0), to = odt_min(k + a->W, count), inside = to, beyond = to;
        if (oh + dh >= 0 && oh + dh < a->H) {
            inside = odt_limit(k + left, from, to);
            beyond = odt_limit(k + right, inside, to);
        }
        if (totals) {
            take(panel, from, inside, taken);
            take(panel, beyond, to, taken);
        } else {
            put_back(panel, from, inside, e, step, rows);
            put_back(panel, beyond, to, e, step, rows);
        }
        oh = oh + 1 == a->H ? 0 : oh + 1;
    }
    if (totals) {
        subtract(totals, taken);
    }
}

// By windows that are gathered, zx outside, so that what is less zx is 0 there: a piece of all of them, elements `at` .. of a
// filter.
static void correlate_dw_piece(const odt_correlation_dw_t *a, const windows_t *g, int32_t at, gathered_t *s) {
    int32_t M = a->B * a->OH * a->OW, K = g->lines * g->length, block = odt_min(FEW, GATHERED / K) & ~1;
    int32_t filter = a->KH * a->KW * a->C;
    for (int32_t m = 0; m < M; m += block) {
        int32_t count = odt_min(block, M - m);
        gather_windows(g, m, count, s->windows, K, &s->padded);
        for (int32_t n = 0; n < a->N; n += ROWS) {
            int32_t channels = odt_min(ROWS, a->N - n), rows[ROWS], totals[ROWS] = {0}, start[ROWS];
            odt_poll();
            for (int32_t i = 0; i < ROWS; i++) {
                rows[i] = odt_min(i, channels - 1);
            }
            pack(s->panel, 0, a->e + m * a->e_step + n, rows, a->e_step, count, totals);
            for (int32_t i = 0; i < ROWS; i++) {
                start[i] = odt_wrap_mul(odt_wrap_sub(0, g->zx), totals[i]);
            }
            for (int32_t k = 0; k < K; k += BLOCK) {
                const columns_t c = {count, K, odt_min(BLOCK, K - k), 1};
                run(s->sums, start, s->panel, 0, s->windows + k, &c);
                for (int32_t i = 0; i < channels; i++) {
                    store(a->dw + (n + i) * filter + at + k, &s->sums[0][i], c.count, m == 0);
                }
            }
        }
    }
}

static __attribute__((noinline)) void correlate_dw_gathered(const odt_correlation_dw_t *a, const windows_t *all) {
    gathered_t s;
    piece_t p = piece_of(all);
    int32_t C = a->C, line_taps = all->line_taps;
    for (int32_t line = 0; line < all->lines; line += p.lines) {
        for (int32_t tap = 0; tap < line_taps; tap += p.taps) {
            for (int32_t c = 0; c < C; c += p.channels) {
                int32_t first = line * line_taps + tap, kh = first / a->KW, taps = odt_min(p.taps, line_taps - tap);
                windows_t g = *all;
                g.x += c;
                g.top -= kh;
                g.lines = odt_min(p.lines, all->lines - line);
                g.length = taps * odt_min(p.channels, C - c);
                if (p.lines == 1) {
                    g.left -= first - kh * a->KW;
                    g.line_taps = g.KW = taps;
                }
                correlate_dw_piece(a, &g, first * C + c, &s);
            }
        }
    }
}

// Where each output is the size of x and each tap as far from its output: errors and inputs are two rows of
// positions, shifted by a constant.
static __attribute__((noinline)) void correlate_dw_of_same_size(const odt_correlation_dw_t *a) {
    scratch_t s;
    int32_t C = a->C, pixel = C + a->x_skip, all = a->B * a->H * a->W, filter = a->KH * a->KW * C;
    for (int32_t n = 0; n < a->N; n += ROWS) {
        int32_t channels = odt_min(ROWS, a->N - n), rows[ROWS];
        for (int32_t i = 0; i < ROWS; i++) {
            rows[i] = odt_min(i, channels - 1);
        }
        for (int32_t m = 0; m < all; m += AT_ONCE) {
            const int8_t *e = a->e + m * a->e_step + n;
            int32_t count = odt_min(AT_ONCE, all - m), whole[ROWS] = {0}, start[ROWS];
            odt_poll();
            pack(s.panel, 0, e, rows, a->e_step, count, whole);
            for (int32_t tap = 0; tap < a->KH * a->KW; tap++) {
                int32_t kh = tap / a->KW, dh = kh - a->top, dw = tap - kh * a->KW - a->left, shift = dh * a->W + dw;
                int32_t from = odt_max(m, -shift), to = odt_min(m + count, all - shift);
                int32_t totals[ROWS] = {whole[0], whole[1], whole[2], whole[3]};
                if (dh || dw) {
                    patch_errors(a, e, rows, m, count, dh, dw, s.panel, totals);
                }
                for (int32_t i = 0; i < ROWS; i++) {
                    start[i] = odt_wrap_mul(odt_wrap_sub(0, a->zx), totals[i]);
                }
                for (int32_t c = 0; c < C; c += BLOCK) {
                    const columns_t inputs = {odt_max(to - from, 0), pixel, odt_min(BLOCK, C - c), 1};
                    run(s.sums, start, s.panel, from - m, a->x + (from + shift) * pixel + c, &inputs);
                    for (int32_t i = 0; i < channels; i++) {
                        store(a->dw + (n + i) * filter + tap * C + c, &s.sums[0][i], inputs.count,
                            m == 0);
                    }
                }
                if (dh || dw) {
                    patch_errors(a, e, rows, m, count, dh, dw, s.panel, NULL);
                }
            }
        }
    }
}

#endif

// Tap by tap, over x where it lies.
static ODT_SCRATCH void correlate_dw_by_taps(const odt_correlation_dw_t *a, int extreme) {
    int32_t C = a->C, pixel = odt_pixel(C, a->x_skip), SW = a->SW, rows = a->B * a->OH, filter = a->KH * a->KW * C;
    scratch_t s;
    static const int8_t one = 1;
    int32_t columns = odt_min(a->OW, AT_ONCE), padded = (columns + ALIGNED - 1) & -ALIGNED;
    int32_t block = a->OW < AT_ONCE ? DEPTH / padded : 1; // rows of errors at a time
    int is_whole = rows <= block && a->OW <= columns && !extreme; // one panel holds all errors of a channel
    if (!is_whole) {
        clear_words(a->dw, a->N * filter);
    }
    for (int32_t n = 0; n < a->N; n += ROWS) {
        int32_t channels = odt_min(ROWS, a->N - n), errors[ROWS], unused[ROWS] = {0};
        for (int32_t i = 0; i < ROWS; i++) {
            errors[i] = odt_min(i, channels - 1);
        }
        for (int32_t row = 0; row < rows; row += block) {
            odt_poll();
            int32_t stop = odt_min(row + block, rows);
            for (int32_t first = 0; first < a->OW; first += columns) {
                int32_t end = odt_min(first + columns, a->OW);
                for (int32_t r = row; r < stop; r++) {
                    const int8_t *e = a->e + (r * a->OW + first) * a->e_step + n;
                    pack(s.panel, (r - row) * padded, e, errors, a->e_step, end - first, unused);
                    #if ODT_M0
                    if (extreme) {
                        tame_errors(a, n, r * a->OW + first, end - first, s.panel + (r - row) * padded * UNITS, unused);
                    }
                    #endif
                }
                for (int32_t kh = 0, tap = 0; kh < a->KH; kh++) {
                    for (int32_t kw = 0; kw < a->KW; kw++, tap++) {
                        odt_taps_t o = odt_outputs(kw, a->left, SW, a->W, a->OW);
                        int32_t from = odt_max(o.from, first), depth = odt_min(o.to, end) - from;
                        if (depth <= 0 && !is_whole) {
                            continue;
                        }
                        for (int32_t c = 0; c < C; c += BLOCK) {
                            int32_t count = odt_min(BLOCK, C - c);
                            const columns_t inputs = {depth, SW * pixel, count, 1};
                            const columns_t ones = {depth, 0, 1, 0};
                            sums_t total = {0};
                            const int32_t *start = total;
                            for (int32_t pass = a->zx ? 0 : 1; pass < 2; pass++) { // of zx, of x
                                for (int32_t i = 0; pass && i < ROWS; i++) {
                                    total[i] = odt_wrap_mul(total[i], odt_wrap_sub(0, a->zx));
                                }
                                for (int32_t r = row; r < stop; r++) {
                                    int32_t b = r / a->OH, ih = (r - b * a->OH) * a->SH - a->top + kh;
                                    if (ih < 0 || ih >= a->H) {
                                        continue;
                                    }
                                    int32_t k = (r - row) * padded + from - first;
                                    int32_t iw = from * SW - a->left + kw;
                                    const int8_t *x = a->x + ((b * a->H + ih) * a->W + iw) * pixel + c;
                                    if (pass) {
                                        run(s.sums, start, s.panel, k, x, &inputs);
                                        start = NULL;
                                    } else {
                                        run(&total, NULL, s.panel, k, &one, &ones);
                                    }
                                }
                            }
                            if (start) {
                                fill_columns(s.sums, count, start);
                            }
                            for (int32_t i = 0; i < channels; i++) {
                                store(a->dw + (n + i) * filter + tap * C + c, &s.sums[0][i], count,
                                    is_whole);
                            }
                        }
                    }
                }
            }
        }
    }
}

void odt_correlate_dw_part_i8(const odt_correlation_dw_t *a) {
    #if ODT_X86
    if (odt_correlate_dw_i8__x86(a)) {
        return;
    }
    #endif
    int extreme = 0;
    #if ODT_M0
    extreme = is_extreme(a->e, a->N, a->B * a->OH * a->OW, a->e_step);
    #endif
    #if !ODT_SMALL
    const windows_t g = WINDOWS_OF(a);
    if (extreme) { // which no model's are
        correlate_dw_by_taps(a, 1);
        return;
    }
    int is_same_size = a->SH == 1 && a->SW == 1 && a->OH == a->H && a->OW == a->W;
    if (a->zx == g.zx && is_dw_gathered(&g, parts(a->N, ROWS), is_same_size)) {
        correlate_dw_gathered(a, &g);
        return;
    }
    if (is_same_size) {
        correlate_dw_of_same_size(a);
        return;
    }
    #endif
    correlate_dw_by_taps(a, extreme);
}

#if !ODT_SMALL && !ODT_MPY // where it would be in another piece

// Errors that inputs first .. first + count - 1 of row `row` made by tap (kh, kw), to depth k of the panel; 0 where there are none.
static void pack_made(const odt_transposed2d_dw_i8_t *a, int32_t n, int32_t kh, int32_t kw, int32_t row, int32_t first,
    int32_t count, const int32_t *channels, panel_t *panel, int32_t k, int32_t *totals) {
    int32_t b = row / a->H, oh = (row - b * a->H) * a->SH - a->PT + kh, end = k + count;
    odt_taps_t i = odt_outputs(kw, a->PL, a->SW, a->OW, a->W);
    int32_t from = odt_limit(i.from, first, first + count), to = odt_limit(i.to, from, first + count);
    if (oh < 0 || oh >= a->OH) {
        to = from;
    }
    for (int32_t stop = k + from - first; k < stop; k++) {
        put(panel, k, none);
    }
    if (from < to) {
        const int8_t *e = a->e + ((b * a->OH + oh) * a->OW + from * a->SW - a->PL + kw) * a->N + a->at + n;
        pack(panel, k, e, channels, a->SW * a->N, to - from, totals);
    }
    for (k += to - from; k < end; k++) {
        put(panel, k, none);
    }
}

// The gradient of a transposed convolution's filters: a tap's are the product of all inputs and the errors that they made by it.
int odt_transposed2d_dw_by_panels_i8(const odt_transposed2d_dw_i8_t *a) {
    int32_t C = a->C, rows = a->B * a->H, filter = a->KH * a->KW * C, columns = odt_min(a->W, AT_ONCE);
    scratch_t s;
    if (rows * a->W < 16) { // most of a panel would be empty
        return 0;
    }
    #if ODT_M0
    if (is_extreme(a->e + a->at, a->R, a->B * a->OH * a->OW, a->N)) {
        return 0;
    }
    #endif
    for (int32_t n = 0; n < a->R; n += ROWS) {
        int32_t channels = odt_min(ROWS, a->R - n), errors[ROWS];
        for (int32_t i = 0; i < ROWS; i++) {
            errors[i] = odt_min(i, channels - 1);
        }
        for (int32_t tap = 0; tap < a->KH * a->KW; tap++) {
            int32_t kh = tap / a->KW, kw = tap - kh * a->KW, block = DEPTH / columns; // rows of inputs at a time
            for (int32_t row = 0; row < rows; row += block) {
                odt_poll();
                for (int32_t first = 0, count; first < a->W; first += count) {
                    int32_t totals[ROWS] = {0}, start[ROWS], depth = 0;
                    count = odt_min(columns, a->W - first);
                    for (int32_t r = row; r < odt_min(row + block, rows); r++, depth += count) {
                        pack_made(a, n, kh, kw, r, first, count, errors, s.panel, depth, totals);
                    }
                    for (int32_t i = 0; i < ROWS; i++) {
                        start[i] = odt_wrap_mul(odt_wrap_sub(0, a->zx), totals[i]);
                    }
                    for (int32_t c = 0; c < C; c += BLOCK) {
                        const columns_t inputs = {depth, C, odt_min(BLOCK, C - c), 1};
                        run(s.sums, start, s.panel, 0, a->x + (row * a->W + first) * C + c, &inputs);
                        for (int32_t i = 0; i < channels; i++) {
                            store(a->dw + (n + i) * filter + tap * C + c, &s.sums[0][i], inputs.count,
                                row == 0 && first == 0);
                        }
                    }
                }
            }
        }
    }
    return 1;
}

#endif

#endif
