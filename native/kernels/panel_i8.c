// Products of int8 matrices by panels (panel_i8.h): the inner loops of each core, then the loops
// around them. The stack holds a panel and a block of sums, 1.9 KB together; nothing else is needed.

#include "panel_i8.h"

#if !ODT_DSP // which has loops of its own: correlate_m4.c, filter_gradient_m4.c

#include <string.h>

#include "../fixed.h"
#include "inner_i8.h"
#include "window.h"
#include "words.h"

enum {
    ROWS = 4,   // of a panel
    DEPTH = 144, // products a panel has, even: of 3x3 taps of 16 channels
    BLOCK = 48, // columns that are summed at a time
};

// Whether the general loops do for all: a .mpy file takes RAM of a board that has little.
#if defined(__ARM_ARCH_6M__) && defined(MICROPY_ENABLE_DYNRUNTIME)
#define ODT_SMALL 1
#else
#define ODT_SMALL 0
#endif

// The sums of a block of columns, four rows each, in the core's own form.
typedef int32_t sums_t[ROWS];

// What a panel is run over: `count` columns of `depth` elements, `stride` bytes apart. The columns
// start `step` bytes apart.
typedef struct {
    int32_t depth, stride, count, step;
} columns_t;

// The way of rows of sums to outputs, as finish_rows() of panel_m0.h and ODT_FINISH_RARE load it.
typedef struct {
    const int32_t *offsets;    // 0: what is added to the sums of each row
    const odt_multiplier_t *q; // 4: of the first row
    int32_t q_step;            // 8: bytes to the next row's
    int8_t *y;                 // 12: of the first row; the others lie beside it
    const int32_t *sums;       // 16
    int32_t high, lo;          // 20, 24
    int32_t max, min;          // 28, 32: the peaks, zy included
    int32_t row, rows;         // 36, 40: the first row and the end of rows, times 4
    int32_t length;            // 44: bytes of columns
    int32_t step, zy;          // 48, 52: from a column's output to the next's
    int32_t m, shift;          // 56, 60: of the row
} output_t;

static void fill_columns(sums_t *sums, int32_t count, const int32_t *start) {
    int32_t s0 = start[0], s1 = start[1], s2 = start[2], s3 = start[3];
    for (const sums_t *end = (const sums_t *)sums + count; sums != end; sums++) {
        int32_t *s = *sums;
        s[0] = s0;
        s[1] = s1;
        s[2] = s2;
        s[3] = s3;
    }
}

// Each core's:
//
//     panel_t, UNITS      of what a panel consists, UNITS of it a depth
//     ALIGNED             depths that are multiplied together: where runs had better begin
//     LEAST               error that is multiplied as it is
//     place(row)          where a row's sum is in a column
//     pack(..)            four rows to the panel
//     run(..)             sums += panel * columns, or from where all columns start
//     finish_rows(..)     rows of sums to outputs

#if defined(__ARM_ARCH_6M__)
#include "panel_m0.h"
#else
#include "panel_c.h"
#endif

// Whether finish_rows() may be used: unless a scale has run away or a program is wrong.
static inline int is_usual(const odt_multiplier_t *q) {
    return q->s >= 33 && q->s <= 62 && q->m >= 0 && ((uint32_t)q->m & 127) == 0;
}

static inline int is_usual_range(int32_t zy, int32_t lo, int32_t peak) {
    return zy == (int8_t)zy && lo == (int8_t)lo && lo <= zy && (uint32_t)peak < 1 << 30;
}

// Field by field, as a copy of the whole takes long on an RP2040.
static void finish_usual(output_t *o, const int32_t *sums, int32_t count, const int32_t *offsets, int32_t *peak) {
    o->offsets = offsets;
    o->sums = sums;
    o->length = count * (int32_t)sizeof(sums_t);
    o->high = 127;
    o->max = o->zy + *peak;
    o->min = o->zy - (o->lo == o->zy ? 1 << 30 : *peak); // behind a ReLU: no peak
    finish_rows(o);
    *peak = odt_max(o->max - o->zy, o->lo == o->zy ? 0 : o->zy - o->min);
}

void odt_finish_i8(const int32_t (*sums)[4], int32_t at, int32_t offset, const odt_multiplier_t *q,
    int32_t zy, int32_t lo, int32_t count, int8_t *y, int32_t step, int32_t *peak) {
    if (count > 0 && is_usual(q) && is_usual_range(zy, lo, *peak)) {
        int32_t row = place(at), offsets[ROWS];
        output_t o;
        o.q = q;
        o.q_step = 0;
        o.y = y;
        o.row = 4 * row;
        o.rows = 4 * row + 4;
        o.step = step;
        o.zy = zy;
        o.lo = lo;
        offsets[row] = offset;
        finish_usual(&o, *sums, count, offsets, peak);
        return;
    }
    for (; count > 0; count--, sums++, y += step) {
        *y = odt_clamp(odt_rescaled(odt_wrap_add((*sums)[at], offset), odt_checked(q)), zy, lo, peak);
    }
}

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

// --- forward, and the gradient of the input ----------------------------------------------------

typedef struct {
    panel_t panel[DEPTH * UNITS];
    sums_t sums[BLOCK];
} scratch_t;

// Part `from` .. `to` of row kh of the filters n .. n + 3, whose depths are kw and c, to depth `k` of
// the panel. Adds each filter's weights to `totals`. Rows that there are not are copies of the last.
static void pack_filters(const odt_correlation_t *a, int32_t n, int32_t kh, int32_t from, int32_t to,
    panel_t *panel, int32_t k, int32_t *totals) {
    int32_t rows[ROWS], last = a->N - 1 - n;
    for (int32_t i = 0; i < ROWS; i++) {
        rows[i] = odt_min(i, last) * a->w_n;
    }
    // As long as depths are equally far apart: to the end of a tap, or of the row.
    int32_t run = a->w_kw == a->C * a->w_c ? a->KW * a->C : a->C;
    const int8_t *w = a->w + n * a->w_n + kh * a->w_kh;
    while (from < to) {
        int32_t kw = from / a->C, c = from - kw * a->C;
        int32_t count = odt_min(to - from, run - from % run);
        pack(panel, k, w + kw * a->w_kw + c * a->w_c, rows, a->w_c, count, totals);
        from += count;
        k += count;
    }
}

// One row of outputs, ow = first .. first + count - 1: the products of part `from` .. `to` of the
// filters' row kh, which lies at depth k of the panel, added to sums, or to `start` if there is one.
static void correlate_row(const odt_correlation_t *a, int32_t row, int32_t first, int32_t count,
    int32_t kh, int32_t from, int32_t to, const panel_t *panel, int32_t k, sums_t *sums,
    const int32_t *start) {
    int8_t outside = (int8_t)a->zx;
    int32_t b = row / a->OH, ih = (row - b * a->OH) * a->SH - a->top + kh;
    if (ih < 0 || ih >= a->H) {
        if (outside || start) {
            columns_t c = {outside ? to - from : 0, 0, count, 0};
            run(sums, start, panel, k, &outside, &c);
        }
        return;
    }
    const int8_t *x = a->x + (b * a->H + ih) * a->W * a->C;
    int32_t C = a->C, SW = a->SW, end = first + count, ow = first;
    while (ow < end) {
        int32_t iw = ow * SW - a->left;
        if (iw >= 0 && iw + a->KW <= a->W) { // all that lie inside as a whole
            int32_t whole = odt_min((a->W - a->KW - iw) / SW + 1, end - ow);
            columns_t c = {to - from, 1, whole, SW * C};
            run(sums, start, panel, k, x + iw * C + from, &c);
            sums += whole;
            ow += whole;
            continue;
        }
        odt_taps_t taps = odt_taps(iw, a->KW, a->W);
        int32_t inside = odt_limit(taps.from * C, from, to), beyond = odt_limit(taps.to * C, from, to);
        columns_t c = {beyond - inside, 1, 1, 0};
        run(sums, start, panel, k + inside - from, x + iw * C + inside, &c);
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

static const int32_t none[ROWS]; // where columns start that nothing was added to

// From sums of channels n .. n + 3 to `count` outputs in a row.
static void finish(const odt_correlation_t *a, int32_t n, const int32_t *totals, const sums_t *sums, int32_t count,
    int8_t *y) {
    int32_t rows = odt_min(ROWS, a->N - n), usual = is_usual_range(a->zy, a->lo, *a->peak), offsets[ROWS];
    const odt_multiplier_t *q = a->q + n * a->q_step;
    for (int32_t i = 0; i < rows; i++) {
        usual = usual && is_usual(&q[i * a->q_step]);
        offsets[i] = odt_wrap_sub(a->bias ? a->bias[n + i] : 0, odt_wrap_mul(a->zx, totals[i]));
    }
    if (usual) {
        output_t o;
        o.q = q;
        o.q_step = a->q_step * (int32_t)sizeof(*q);
        o.y = y + n;
        o.row = 0;
        o.rows = 4 * rows;
        o.step = a->y_ow;
        o.zy = a->zy;
        o.lo = a->lo;
        finish_usual(&o, *sums, count, offsets, a->peak);
        return;
    }
    for (int32_t i = 0; i < rows; i++, q += a->q_step) {
        odt_finish_i8((const int32_t (*)[4])sums, place(i), offsets[i], q, a->zy, a->lo, count, y + n + i, a->y_ow,
            a->peak);
    }
}

#if !ODT_SMALL

// As a product of matrices: x is [M, C].
static void correlate_pointwise(const odt_correlation_t *a) {
    scratch_t s;
    int32_t M = a->B * a->OH * a->OW, K = a->C;
    for (int32_t n = 0; n < a->N; n += ROWS) {
        int32_t rows[ROWS], totals[ROWS], last = a->N - 1 - n;
        for (int32_t i = 0; i < ROWS; i++) {
            rows[i] = odt_min(i, last) * a->w_n;
        }
        for (int32_t m = 0; m < M; m += BLOCK) {
            int32_t count = odt_min(BLOCK, M - m);
            odt_poll();
            for (int32_t k = 0; k < K; k += DEPTH) {
                const columns_t c = {odt_min(DEPTH, K - k), 1, count, K};
                if (k == 0 && (m == 0 || K > DEPTH)) {
                    memset(totals, 0, sizeof(totals));
                }
                if (m == 0 || K > DEPTH) {
                    pack(s.panel, 0, a->w + n * a->w_n + k * a->w_c, rows, a->w_c, c.depth, totals);
                }
                run(s.sums, k ? NULL : none, s.panel, 0, a->x + m * K + k, &c);
            }
            finish(a, n, totals, (const sums_t *)s.sums, count, a->y + m * a->y_ow);
        }
    }
}

#endif

void odt_correlate_part_i8(const odt_correlation_t *a) {
    int32_t line = a->OW * a->y_ow;
    int is_dense = (a->OH == 1 || a->y_oh == line) && (a->B == 1 || a->y_b == a->OH * line);
    #if !ODT_SMALL
    if (is_dense && odt_is_pointwise(a)) {
        correlate_pointwise(a);
        return;
    }
    #endif
    scratch_t s;
    int32_t length = a->KW * a->C, padded = (length + ALIGNED - 1) & -ALIGNED, depth = a->KH * padded;
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
                    for (int32_t kh = k / padded, at = k; at < end; kh++) {
                        int32_t from = at - kh * padded;
                        int32_t to = odt_min(length, end - kh * padded);
                        if (!is_packed) {
                            pack_filters(a, n, kh, from, to, s.panel, at - k, totals);
                        }
                        sums_t *sums = s.sums;
                        for (int32_t r = row; r < stop; r++, sums += count) {
                            correlate_row(a, r, ow, count, kh, from, to, s.panel, at - k, sums,
                                at ? NULL : none);
                        }
                        at = odt_min((kh + 1) * padded, end);
                    }
                }
                // Rows that follow one another in y are finished as one.
                int32_t at_once = is_dense && count == a->OW ? stop - row : 1;
                sums_t *sums = s.sums;
                for (int32_t r = row; r < stop; r += at_once, sums += count) {
                    int32_t b = r / a->OH;
                    int8_t *y = a->y + b * a->y_b + (r - b * a->OH) * a->y_oh + ow * a->y_ow;
                    finish(a, n, totals, (const sums_t *)sums, count * at_once, y);
                }
            }
        }
    }
}

// --- the gradient of the filters ----------------------------------------------------------------

#if defined(__ARM_ARCH_6M__)

// No error is -128 (numerics.md). Were it, lanes would meet where x is -128 too: so it is taken as -127
// and one more.

// Whether one of N errors of `count` positions, `step` apart, is -128.
static __attribute__((noinline)) int is_extreme(const int8_t *e, int32_t N, int32_t count, int32_t step) {
    uint32_t word, found = 0;
    if (N == step) { // one row of all
        N *= count;
        count = 1;
    }
    for (; count > 0; count--, e += step) {
        const int8_t *at = e, *end = e + N;
        for (; at != end && ((uintptr_t)at & 3); at++) {
            found |= *at == -128;
        }
        for (; end - at >= 4; at += 4) {
            word = odt_load_word(at) ^ 0x80808080;
            found |= (word - 0x01010101) & ~word & 0x80808080;
        }
        for (; at != end; at++) {
            found |= *at == -128;
        }
    }
    return found != 0;
}

// dw -= x - zx for channel n of position m of the outputs.
static void add_error(const odt_filter_gradient_t *a, int32_t n, int32_t m) {
    int32_t row = m / a->OW, ow = m - row * a->OW, b = row / a->OH;
    int32_t ih = (row - b * a->OH) * a->SH - a->top, iw = ow * a->SW - a->left;
    odt_taps_t th = odt_taps(ih, a->KH, a->H), tw = odt_taps(iw, a->KW, a->W);
    for (int32_t kh = th.from; kh < th.to; kh++) {
        for (int32_t kw = tw.from; kw < tw.to; kw++) {
            int32_t *dw = a->dw + ((n * a->KH + kh) * a->KW + kw) * a->C;
            const int8_t *x = a->x + ((b * a->H + ih + kh) * a->W + iw + kw) * a->C;
            for (int32_t c = 0; c < a->C; c++) {
                dw[c] = odt_wrap_sub(dw[c], odt_wrap_sub(x[c], a->zx));
            }
        }
    }
}

static void tame_errors(const odt_filter_gradient_t *a, int32_t n, int32_t m, int32_t count, panel_t *panel,
    int32_t *totals) {
    for (int32_t k = 0; k < count; k++) {
        const int8_t *e = a->e + (m + k) * a->e_step + n;
        int32_t r[ROWS] = {0};
        for (int32_t i = 0; i < odt_min(ROWS, a->N - n); i++) {
            r[i] = e[i];
            if (r[i] == -128) {
                r[i] = -127;
                totals[i]++;
                add_error(a, n + i, m + k);
            }
        }
        put(panel, k, r);
    }
}

#endif

// Every ROWS-th word to four in a row.
static inline void store_four(int32_t *dw, const int32_t *sum) {
    #if defined(__ARM_ARCH_6M__)
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

// Errors m .. m + count - 1 of channels n .., of which a tap that is dh and dw away from its output reads beyond the
// image, as 0 to the panel, or as they are if `is_back`; and to the channels' totals.
static void patch_errors(const odt_filter_gradient_t *a, int32_t n, int32_t m, int32_t count, int32_t dh, int32_t dw,
    int is_back, panel_t *panel, int32_t *totals) {
    int32_t row = m / a->W, ow = m - row * a->W, oh = row % a->H, k = 0, last = odt_min(ROWS, a->N - n) - 1;
    while (k < count) {
        int32_t stop = odt_min(k + a->W - ow, count), from = stop, to = stop;
        if (oh + dh >= 0 && oh + dh < a->H) {
            from = k + odt_limit(-dw - ow, 0, stop - k);
            to = k + odt_limit(a->W - dw - ow, 0, stop - k);
        }
        for (; k < stop; k++) {
            if (k == from && k < to) {
                k = to - 1;
                continue;
            }
            const int8_t *e = a->e + (m + k) * a->e_step + n;
            int32_t r[ROWS] = {0};
            for (int32_t i = 0; i < ROWS; i++) {
                int32_t error = odt_max(e[odt_min(i, last)], LEAST);
                totals[i] += is_back ? error : -error;
                r[i] = is_back ? error : 0;
            }
            put(panel, k, r);
        }
        ow = 0;
        oh = oh + 1 == a->H ? 0 : oh + 1;
    }
}

// Where each output is the size of x and each tap as far from its output: errors and inputs are two rows of
// positions, shifted by a constant.
static void filter_gradient_of_same_size(const odt_filter_gradient_t *a, int extreme) {
    scratch_t s;
    int32_t C = a->C, all = a->B * a->H * a->W, filter = a->KH * a->KW * C;
    if (extreme) {
        clear_words(a->dw, a->N * filter);
    }
    for (int32_t n = 0; n < a->N; n += ROWS) {
        int32_t channels = odt_min(ROWS, a->N - n), rows[ROWS];
        for (int32_t i = 0; i < ROWS; i++) {
            rows[i] = odt_min(i, channels - 1);
        }
        for (int32_t m = 0; m < all; m += DEPTH) {
            int32_t count = odt_min(DEPTH, all - m), totals[ROWS] = {0}, start[ROWS];
            odt_poll();
            pack(s.panel, 0, a->e + m * a->e_step + n, rows, a->e_step, count, totals);
            #if defined(__ARM_ARCH_6M__)
            if (extreme) {
                tame_errors(a, n, m, count, s.panel, totals);
            }
            #endif
            for (int32_t tap = 0; tap < a->KH * a->KW; tap++) {
                int32_t kh = tap / a->KW, dh = kh - a->top, dw = tap - kh * a->KW - a->left, shift = dh * a->W + dw;
                int32_t from = odt_max(m, -shift), to = odt_min(m + count, all - shift);
                if (dh || dw) {
                    patch_errors(a, n, m, count, dh, dw, 0, s.panel, totals);
                }
                for (int32_t i = 0; i < ROWS; i++) {
                    start[place(i)] = odt_wrap_mul(odt_wrap_sub(0, a->zx), totals[i]);
                }
                for (int32_t c = 0; c < C; c += BLOCK) {
                    const columns_t inputs = {odt_max(to - from, 0), C, odt_min(BLOCK, C - c), 1};
                    run(s.sums, start, s.panel, from - m, a->x + (from + shift) * C + c, &inputs);
                    for (int32_t i = 0; i < channels; i++) {
                        store(a->dw + (n + i) * filter + tap * C + c, &s.sums[0][place(i)], inputs.count,
                            m == 0 && !extreme);
                    }
                }
                if (dh || dw) {
                    patch_errors(a, n, m, count, dh, dw, 1, s.panel, totals);
                }
            }
        }
    }
}

#endif

void odt_filter_gradient_part_i8(const odt_filter_gradient_t *a) {
    int32_t C = a->C, SW = a->SW, rows = a->B * a->OH, filter = a->KH * a->KW * C;
    int extreme = 0;
    #if defined(__ARM_ARCH_6M__)
    extreme = is_extreme(a->e, a->N, rows * a->OW, a->e_step);
    #endif
    #if !ODT_SMALL
    if (a->SH == 1 && SW == 1 && a->OH == a->H && a->OW == a->W) {
        filter_gradient_of_same_size(a, extreme);
        return;
    }
    #endif
    scratch_t s;
    static const int8_t one = 1;
    int32_t columns = odt_min(a->OW, DEPTH), padded = (columns + ALIGNED - 1) & -ALIGNED;
    int32_t block = a->OW < DEPTH ? DEPTH / padded : 1; // rows of errors at a time
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
                    #if defined(__ARM_ARCH_6M__)
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
                            const columns_t inputs = {depth, SW * C, count, 1};
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
                                    const int8_t *x = a->x + ((b * a->H + ih) * a->W + iw) * C + c;
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
                                store(a->dw + (n + i) * filter + tap * C + c, &s.sums[0][place(i)], count,
                                    is_whole);
                            }
                        }
                    }
                }
            }
        }
    }
}

#endif
