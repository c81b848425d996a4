// Depthwise 2-D convolutions, int8: forward, gradients of input and filters.
// x is [B, H, W, N], w [N, KH, KW], y and e [B, OH, OW, N].

#include <string.h>

#include "../fixed.h"
#include "../opcodes.h"
#include "../threads.h"
#include "depthwise_i8.h"
#include "phase.h"
#include "rescale.h"
#include "rows.h"
#include "window.h"

// Channels that are computed at a time: what vectors like, or what registers hold; taps of theirs that
// are held on the stack, in 1 KB at most.
#if !ODT_PANEL
enum { LANES = 32, TAPS = 16 };
typedef int16_t weight_t;
#else
enum { LANES = 4, TAPS = 32 };
typedef int32_t weight_t;
#endif

#if ODT_PANEL
#define UNROLL _Pragma("GCC unroll 4")
#else
#define UNROLL
#endif

// Filters of the channels of a block, tap by tap.
typedef struct {
    weight_t w[TAPS][LANES];
    odt_rescaler_t q[LANES];
    int32_t bias[LANES];
} filters_t;

static void pack(const odt_depthwise_t *a, int32_t n, int32_t lanes, int32_t first, int32_t last,
    filters_t *f) {
    for (int32_t tap = first; tap < last; tap++) {
        const int8_t *w = a->w + n * a->w_n + tap / a->KW * a->w_kh + tap % a->KW * a->w_kw;
        for (int32_t i = 0; i < lanes; i++) {
            f->w[tap - first][i] = w[i * a->w_n];
        }
    }
}

// acc += (x - zx) * w over taps first .. last - 1 that are inside th and tw; x is at tap 0.
static inline __attribute__((always_inline)) void add_taps(const odt_depthwise_t *a, const int8_t *x,
    odt_taps_t th, odt_taps_t tw, int32_t first, int32_t last, const filters_t *f, int32_t lanes,
    int32_t *acc) {
    int16_t zx = (int16_t)a->zx;
    for (int32_t kh = th.from; kh < th.to; kh++) {
        int32_t from = odt_max(kh * a->KW + tw.from, first) - kh * a->KW;
        int32_t to = odt_min(kh * a->KW + tw.to, last) - kh * a->KW;
        if (from >= to) {
            continue;
        }
        const int8_t *row = x + (kh * a->W + from) * a->N;
        const weight_t *w = f->w[kh * a->KW + from - first];
        for (int32_t kw = from; kw < to; kw++, row += a->N, w += LANES) {
            UNROLL
            for (int32_t i = 0; i < lanes; i++) {
                acc[i] = odt_wrap_add(acc[i], (int16_t)((int16_t)odt_wrap_sub(row[i], zx) * w[i]));
            }
        }
    }
}

#if ODT_PANEL && !ODT_DSP

// On other 32-bit cores, four channels of outputs whose windows meet the image in the same taps: KH x KW from
// w on, of rows of `w_row` weights. sums[i] = (x - zx) * w, the windows at x + i * step, their rows `row`
// bytes apart.
enum { BLOCK = 32 };
typedef struct {
    const weight_t *w;
    int32_t KH, KW, N, row, w_row, step, zx;
} windows_t;

__attribute__((noinline)) static void sum_windows(const windows_t *a, int32_t (*sums)[4], int32_t count, const int8_t *x) {
    int32_t N = a->N, KW = a->KW, zx = a->zx;
    for (; count; count--, x += a->step, sums++) {
        const int8_t *row = x;
        const weight_t *w_row = a->w;
        int32_t s0 = 0, s1 = 0, s2 = 0, s3 = 0;
        for (int32_t kh = a->KH; kh; kh--, row += a->row, w_row += a->w_row) {
            const int8_t *from = row;
            const weight_t *w = w_row;
            for (const weight_t *end = w + 4 * KW; w != end; from += N, w += 4) {
                s0 = odt_wrap_add(s0, odt_wrap_mul(odt_wrap_sub(from[0], zx), w[0]));
                s1 = odt_wrap_add(s1, odt_wrap_mul(odt_wrap_sub(from[1], zx), w[1]));
                s2 = odt_wrap_add(s2, odt_wrap_mul(odt_wrap_sub(from[2], zx), w[2]));
                s3 = odt_wrap_add(s3, odt_wrap_mul(odt_wrap_sub(from[3], zx), w[3]));
            }
        }
        (*sums)[0] = s0;
        (*sums)[1] = s1;
        (*sums)[2] = s2;
        (*sums)[3] = s3;
    }
}

// Outputs ow .. of a row.
static void sum_row(const odt_depthwise_t *a, int32_t n, int32_t row, int32_t ow, int32_t count,
    const filters_t *f, int32_t (*sums)[4]) {
    int32_t b = row / a->OH, ih = (row - b * a->OH) * a->SH - a->top, iw = ow * a->SW - a->left;
    odt_taps_t th = odt_taps(ih, a->KH, a->H);
    windows_t v = {.KH = th.to - th.from, .N = a->N, .row = a->W * a->N, .w_row = a->KW * LANES,
        .step = a->SW * a->N, .zx = a->zx};
    const int8_t *x = a->x + (b * a->H + ih + th.from) * v.row + n;
    while (count) {
        odt_taps_t tw = odt_taps(iw, a->KW, a->W);
        int32_t same = a->KW ? 1 : count; // a filter without taps sums nothing, wherever it lies
        if (a->KW && tw.to - tw.from == a->KW) { // and so do the next ones
            same = odt_min((a->W - a->KW - iw) / a->SW + 1, count);
        }
        v.KW = tw.to - tw.from;
        v.w = v.KH && v.KW ? f->w[th.from * a->KW + tw.from] : f->w[0]; // taps beside the filter are none
        sum_windows(&v, sums, same, x + (iw + tw.from) * a->N);
        iw += same * a->SW;
        sums += same;
        count -= same;
    }
}

// Four channels of outputs. Rows that follow one another in y are finished as one.
static void depthwise_lanes(const odt_depthwise_t *a, int32_t n, const filters_t *f, int32_t *peak) {
    int32_t sums[BLOCK][4], rows = a->B * a->OH, block = 1;
    if (a->OW < BLOCK && a->y_oh == a->OW * a->y_ow && (a->B == 1 || a->y_b == a->OH * a->y_oh)) {
        block = BLOCK / a->OW;
    }
    for (int32_t row = 0; row < rows; row += block) {
        odt_poll();
        int32_t stop = odt_min(row + block, rows), b = row / a->OH;
        int8_t *y = a->y + b * a->y_b + (row - b * a->OH) * a->y_oh + n;
        for (int32_t ow = 0; ow < a->OW; ow += BLOCK, y += BLOCK * a->y_ow) {
            int32_t count = odt_min(a->OW - ow, BLOCK);
            for (int32_t r = row; r < stop; r++) {
                sum_row(a, n, r, ow, count, f, sums + (r - row) * count);
            }
            for (int32_t i = 0; i < LANES; i++) {
                odt_finish_i8((const int32_t (*)[4])sums, i, f->bias[i], &f->q[i].q, a->zy, a->lo,
                    (stop - row) * count, y + i, a->y_ow, peak);
            }
        }
    }
}

#endif

// One output, wherever its window lies.
static void sum_window(const odt_depthwise_t *a, int32_t n, int32_t lanes, int32_t b, int32_t ih, int32_t iw,
    odt_taps_t th, filters_t *f, int32_t *acc) {
    int32_t taps = a->KH * a->KW;
    odt_taps_t tw = odt_taps(iw, a->KW, a->W);
    const int8_t *x = a->x + ((b * a->H + ih) * a->W + iw) * a->N + n;
    for (int32_t first = 0; first < taps; first += TAPS) {
        int32_t last = odt_min(first + TAPS, taps);
        if (taps > TAPS) {
            pack(a, n, lanes, first, last, f);
        }
        if (lanes == LANES) {
            add_taps(a, x, th, tw, first, last, f, LANES, acc);
        } else {
            add_taps(a, x, th, tw, first, last, f, lanes, acc);
        }
    }
}

// Channels first .. stop - 1.
static __attribute__((noinline)) void depthwise_by_blocks(const odt_depthwise_t *a, int32_t first, int32_t stop,
    int32_t *largest) {
    filters_t f;
    int32_t taps = a->KH * a->KW, peak = *largest;
    for (int32_t n = first; n < stop; n += LANES) {
        int32_t lanes = odt_min(LANES, stop - n);
        #if ODT_DSP
        if (odt_depthwise_lanes(a, odt_min(n, a->N - LANES), &peak)) { // the last four, if fewer are left
            continue;
        }
        #endif
        memset(f.bias, 0, sizeof(f.bias));
        for (int32_t i = 0; i < lanes; i++) {
            f.q[i] = odt_rescaler(odt_checked(&a->q[n + i]));
            f.bias[i] = a->bias ? a->bias[n + i] : 0;
        }
        pack(a, n, lanes, 0, odt_min(taps, TAPS), &f);
        #if ODT_PANEL && !ODT_DSP
        if (lanes == LANES && taps <= TAPS) {
            depthwise_lanes(a, n, &f, &peak);
            continue;
        }
        #endif
        for (int32_t row = 0; row < a->B * a->OH; row++) {
            odt_poll();
            int32_t b = row / a->OH, oh = row - b * a->OH, ih = oh * a->SH - a->top, ow = 0;
            odt_taps_t th = odt_taps(ih, a->KH, a->H);
            int8_t *y = a->y + b * a->y_b + oh * a->y_oh + n;
            while (ow < a->OW) {
                int32_t iw = ow * a->SW - a->left;
                int32_t acc[LANES];
                memcpy(acc, f.bias, sizeof(acc));
                sum_window(a, n, lanes, b, ih, iw, th, &f, acc);
                for (int32_t i = 0; i < lanes; i++) {
                    y[i] = odt_clamp_by(odt_rescale_by(&f.q[i], acc[i]), a->zy, a->lo, &peak);
                }
                ow++;
                y += a->y_ow;
            }
        }
    }
    *largest = peak;
}

static void depthwise_channels(const void *arguments, int32_t first, int32_t stop, int32_t *peak) {
    const odt_depthwise_t *a = arguments;
    #if ODT_M0
    odt_depthwise_t other;
    if (peak != a->peak) {
        other = *a;
        other.peak = peak;
        a = &other;
    }
    if (odt_depthwise_m0(a, first, stop)) {
        return;
    }
    #endif
    depthwise_by_blocks(a, first, stop, peak);
}

static void depthwise(const odt_depthwise_t *a) {
    odt_split(depthwise_channels, a, a->N, LANES, a->peak);
}

void odt_depthwise2d_i8(const odt_depthwise2d_i8_t *a) {
    int32_t outputs = a->OW * a->N;
    odt_depthwise_t d = {.x = a->x, .w = a->w, .bias = a->b, .q = a->q, .y = a->y, .peak = a->peak,
        .B = a->B, .H = a->H, .W = a->W, .N = a->N, .KH = a->KH, .KW = a->KW, .SH = a->SH, .SW = a->SW,
        .top = a->PT, .left = a->PL, .OH = a->OH, .OW = a->OW, .zx = a->zx, .zy = a->zy, .lo = a->lo,
        .w_n = a->KH * a->KW, .w_kh = a->KW, .w_kw = 1, .y_b = a->OH * outputs, .y_oh = outputs,
        .y_ow = a->N};
    depthwise(&d);
}

void odt_depthwise2d_dx_i8(const odt_depthwise2d_dx_i8_t *a) {
    int32_t N = a->N, inputs = a->W * N;
    for (int32_t kh = 0; kh < a->SH; kh++) {
        odt_phase_t h = odt_phase(kh, a->PT, a->SH, a->H, a->KH);
        for (int32_t kw = 0; kw < a->SW; kw++) {
            odt_phase_t w = odt_phase(kw, a->PL, a->SW, a->W, a->KW);
            if (h.outputs == 0 || w.outputs == 0) {
                continue;
            }
            int32_t last = (kh + (h.taps - 1) * a->SH) * a->KW + kw + (w.taps - 1) * a->SW;
            int is_empty = h.taps == 0 || w.taps == 0;
            odt_depthwise_t d = {.x = a->e, .w = is_empty ? a->w : a->w + last, .q = a->q,
                .y = a->dx + h.first * inputs + w.first * N, .peak = a->peak, .B = a->B, .H = a->OH,
                .W = a->OW, .N = N, .KH = is_empty ? 0 : h.taps, .KW = is_empty ? 0 : w.taps, .SH = 1,
                .SW = 1, .top = h.pad, .left = w.pad, .OH = h.outputs, .OW = w.outputs, .lo = -127,
                .w_n = a->KH * a->KW, .w_kh = -a->SH * a->KW, .w_kw = -a->SW, .y_b = a->H * inputs,
                .y_oh = a->SH * inputs, .y_ow = a->SW * N};
            depthwise(&d);
        }
    }
}

// acc += e * (x - zx) over a row of `count` outputs.
static inline __attribute__((always_inline)) void add_row(int32_t *acc, const int8_t *e, const int8_t *x,
    int32_t e_step, int32_t x_step, int32_t count, int32_t zero, int32_t lanes) {
    int16_t zx = (int16_t)zero;
    for (; count; count--, e += e_step, x += x_step) {
        UNROLL
        for (int32_t i = 0; i < lanes; i++) {
            // -128 * -255 is above an int16: a product of 32 bits
            acc[i] = odt_wrap_add(acc[i], e[i] * (int16_t)odt_wrap_sub(x[i], zx));
        }
    }
}

// Channels first .. stop - 1.
static void depthwise_dw_channels(const void *arguments, int32_t first, int32_t stop, int32_t *peak) {
    const odt_depthwise2d_dw_i8_t *a = arguments;
    int32_t N = a->N, taps = a->KH * a->KW;
    (void)peak;
    // Until `first` is the first of the channels that are left.
    #if ODT_DSP
    while (first < stop && odt_depthwise_dw_lanes(a, odt_min(first, a->R - LANES))) {
        first += LANES;
    }
    #endif
    #if ODT_M0
    if (odt_depthwise_dw_m0(a, first, stop)) {
        return;
    }
    #endif
    for (int32_t tap = 0; tap < taps; tap++) {
        int32_t kh = tap / a->KW, kw = tap % a->KW;
        odt_taps_t rows = odt_outputs(kh, a->PT, a->SH, a->H, a->OH);
        odt_taps_t columns = odt_outputs(kw, a->PL, a->SW, a->W, a->OW);
        int32_t count = odt_max(columns.to - columns.from, 0), iw = columns.from * a->SW - a->PL + kw;
        for (int32_t n = first; n < stop; n += LANES) {
            int32_t lanes = odt_min(LANES, stop - n), from = a->at + n;
            int32_t acc[LANES] = {0};
            for (int32_t b = 0; b < a->B; b++) {
                odt_poll();
                for (int32_t oh = rows.from; oh < rows.to; oh++) {
                    int32_t ih = oh * a->SH - a->PT + kh;
                    const int8_t *e = a->e + ((b * a->OH + oh) * a->OW + columns.from) * N + from;
                    const int8_t *x = a->x + ((b * a->H + ih) * a->W + iw) * N + from;
                    if (lanes == LANES) {
                        add_row(acc, e, x, N, a->SW * N, count, a->zx, LANES);
                    } else {
                        add_row(acc, e, x, N, a->SW * N, count, a->zx, lanes);
                    }
                }
            }
            for (int32_t i = 0; i < lanes; i++) {
                a->dw[(n + i) * taps + tap] = acc[i];
            }
        }
    }
}

void odt_depthwise2d_dw_i8(const odt_depthwise2d_dw_i8_t *a) {
    if (!odt_within(a->at, a->R, a->N)) {
        memset(a->dw, 0, (size_t)a->R * (size_t)(a->KH * a->KW) * sizeof(int32_t));
        return;
    }
    odt_split(depthwise_dw_channels, a, a->R, LANES, NULL);
}
