// Depthwise 2-D convolutions, int8: the forward pass, and the gradient of the input as phases of it (depthwise.h).
// x is [B, H, W, N], w [N, KH, KW], y [B, OH, OW, N].

#include <string.h>

#include "../../core.h"
#include "../../fixed.h"
#include "../../opcodes.h"
#include "../../threads.h"
#include "../../common/rescale.h"
#include "../../common/window.h"
#include "../../cores/depthwise.h"

#if ODT_PANEL && !ODT_SMALL

// The sum of (x - zx) * w; elements of x are `step` bytes apart. It is a separate function, so that it runs in
// registers.
static __attribute__((noinline)) int32_t dot_apart(
    const int8_t *x, int32_t step, const int8_t *w, int32_t count, int32_t zx) {
    int32_t sum = 0;
    for (const int8_t *end = w + count; w != end; x += step) {
        sum = odt_wrap_add(sum, odt_wrap_mul(odt_wrap_sub(*x, zx), *w++));
    }
    return sum;
}

// Where odt_is_whole().
static __attribute__((noinline)) void depthwise_whole(
    const odt_depthwise_t *a, int32_t first, int32_t stop, int32_t *peak) {
    int32_t N = a->N, taps = a->KH * a->KW;
    for (int32_t n = first; n < stop; n++) {
        odt_rescaler_t q = odt_rescaler(odt_checked(&a->q[n]));
        int32_t bias = a->bias ? a->bias[n] : 0;
        for (int32_t b = 0; b < a->B; b++) {
            odt_poll();
            int32_t v = odt_wrap_add(dot_apart(a->x + b * taps * N + n, N, a->w + n * taps, taps, a->zx), bias);
            a->y[b * a->y_b + n] = odt_clamp_by(odt_rescale_by(&q, v), a->zy, a->lo, peak);
        }
    }
}

#endif

// Filters of the channels of a block, tap by tap.
typedef struct {
    odt_depthwise_weight_t w[ODT_DEPTHWISE_TAPS][ODT_DEPTHWISE_LANES];
    odt_rescaler_t q[ODT_DEPTHWISE_LANES];
    int32_t bias[ODT_DEPTHWISE_LANES];
} filters_t;

static void pack_filters_of_lanes(const odt_depthwise_t *a, int32_t n, int32_t lanes, int32_t first, int32_t last,
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
        const odt_depthwise_weight_t *w = f->w[kh * a->KW + from - first];
        for (int32_t kw = from; kw < to; kw++, row += a->N, w += ODT_DEPTHWISE_LANES) {
            ODT_UNROLL
            for (int32_t i = 0; i < lanes; i++) {
                acc[i] = odt_wrap_add(acc[i], (int16_t)((int16_t)odt_wrap_sub(row[i], zx) * w[i]));
            }
        }
    }
}

#if ODT_PANEL && !ODT_M4

// For other 32-bit cores: four channels of outputs whose windows meet the image in the same taps. The taps are KH x KW
// from w on, in rows of `w_row` weights. sums[i] = (x - zx) * w; windows are at x + i * step, their rows `row` bytes
// apart.
enum { BLOCK = 32 };
typedef struct {
    const odt_depthwise_weight_t *w;
    int32_t KH, KW, N, row, w_row, step, zx;
} windows_t;

__attribute__((noinline)) static void sum_windows(
    const windows_t *a, int32_t (*sums)[4], int32_t count, const int8_t *x) {
    int32_t N = a->N, KW = a->KW, zx = a->zx;
    for (; count; count--, x += a->step, sums++) {
        const int8_t *row = x;
        const odt_depthwise_weight_t *w_row = a->w;
        int32_t s0 = 0, s1 = 0, s2 = 0, s3 = 0;
        for (int32_t kh = a->KH; kh; kh--, row += a->row, w_row += a->w_row) {
            const int8_t *from = row;
            const odt_depthwise_weight_t *w = w_row;
            for (const odt_depthwise_weight_t *end = w + 4 * KW; w != end; from += N, w += 4) {
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

ODT_BESIDE_ASSEMBLY

// Outputs ow .. of a row.
static void sum_row(const odt_depthwise_t *a, int32_t n, int32_t row, int32_t ow, int32_t count,
    const filters_t *f, int32_t (*sums)[4]) {
    int32_t b = row / a->OH, ih = (row - b * a->OH) * a->SH - a->top, iw = ow * a->SW - a->left;
    odt_taps_t th = odt_taps(ih, a->KH, a->H);
    windows_t v = {.KH = th.to - th.from, .N = a->N, .row = a->W * a->N, .w_row = a->KW * ODT_DEPTHWISE_LANES,
        .step = a->SW * a->N, .zx = a->zx};
    const int8_t *x = a->x + (b * a->H + ih + th.from) * v.row + n;
    while (count) {
        odt_taps_t tw = odt_taps(iw, a->KW, a->W);
        int32_t same = a->KW ? 1 : count; // a filter without taps has the sum 0 at any place
        if (a->KW && tw.to - tw.from == a->KW) { // and so do the next ones
            same = odt_min((a->W - a->KW - iw) / a->SW + 1, count);
        }
        v.KW = tw.to - tw.from;
        v.w = v.KH && v.KW ? f->w[th.from * a->KW + tw.from] : f->w[0]; // there are no taps outside the filter
        sum_windows(&v, sums, same, x + (iw + tw.from) * a->N);
        iw += same * a->SW;
        sums += same;
        count -= same;
    }
}

// Four channels of outputs. Rows without a gap in y are finished together.
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
            for (int32_t i = 0; i < ODT_DEPTHWISE_LANES; i++) {
                odt_finish_i8((const int32_t (*)[4])sums, i, f->bias[i], &f->q[i].q, a->zy, a->lo,
                    (stop - row) * count, y + i, a->y_ow, peak);
            }
        }
    }
}

#endif

// One output, for any place of its window.
static void sum_window(const odt_depthwise_t *a, int32_t n, int32_t lanes, int32_t b, int32_t ih, int32_t iw,
    odt_taps_t th, filters_t *f, int32_t *acc) {
    int32_t taps = a->KH * a->KW;
    odt_taps_t tw = odt_taps(iw, a->KW, a->W);
    const int8_t *x = a->x + ((b * a->H + ih) * a->W + iw) * a->N + n;
    for (int32_t first = 0; first < taps; first += ODT_DEPTHWISE_TAPS) {
        int32_t last = odt_min(first + ODT_DEPTHWISE_TAPS, taps);
        if (taps > ODT_DEPTHWISE_TAPS) {
            pack_filters_of_lanes(a, n, lanes, first, last, f);
        }
        if (!ODT_M0 && lanes == ODT_DEPTHWISE_LANES) { // an M0 has other loops for most layers
            add_taps(a, x, th, tw, first, last, f, ODT_DEPTHWISE_LANES, acc);
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
    for (int32_t n = first; n < stop; n += ODT_DEPTHWISE_LANES) {
        int32_t lanes = odt_min(ODT_DEPTHWISE_LANES, stop - n);
        #if ODT_M4
        if (odt_depthwise_i8__m4(a, odt_min(n, a->N - ODT_DEPTHWISE_LANES), &peak) // the last four, if fewer are left
            || (!ODT_MPY && odt_depthwise_one_i8__m4(a, n, n + lanes, &peak))
            || odt_depthwise_apart_i8__m4(a, n, n + lanes, &peak)) {
            continue;
        }
        #endif
        memset(f.bias, 0, sizeof(f.bias));
        for (int32_t i = 0; i < lanes; i++) {
            f.q[i] = odt_rescaler(odt_checked(&a->q[n + i]));
            f.bias[i] = a->bias ? a->bias[n + i] : 0;
        }
        pack_filters_of_lanes(a, n, lanes, 0, odt_min(taps, ODT_DEPTHWISE_TAPS), &f);
        #if ODT_PANEL && !ODT_M4
        if (lanes == ODT_DEPTHWISE_LANES && taps <= ODT_DEPTHWISE_TAPS) {
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
                int32_t acc[ODT_DEPTHWISE_LANES];
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

void odt_depthwise_channels_i8(const void *arguments, int32_t first, int32_t stop, int32_t *peak) {
    const odt_depthwise_t *a = arguments;
    #if ODT_PANEL && !ODT_SMALL
    if (a->w_kw == 1 && odt_is_whole(a->H, a->W, a->KH, a->KW, a->top, a->left, a->OH, a->OW)) {
        depthwise_whole(a, first, stop, peak);
        return;
    }
    #endif
    #if ODT_M0_DEPTHWISE || ODT_M4
    odt_depthwise_t other;
    if (peak != a->peak) {
        other = *a;
        other.peak = peak;
        a = &other;
    }
    #if ODT_M0_DEPTHWISE
    int is_done = odt_depthwise_i8__m0(a, first, stop);
    #else
    int is_done = odt_depthwise_tiny_i8__m4(a, first, stop);
    #endif
    if (is_done) {
        return;
    }
    #endif
    #if ODT_X86
    if (odt_depthwise_i8__x86(a, first, stop, peak)) {
        return;
    }
    #endif
    depthwise_by_blocks(a, first, stop, peak);
}

void odt_depthwise2d_i8(const odt_depthwise2d_i8_t *a) {
    int32_t outputs = a->OW * a->N;
    odt_depthwise_t d = {.x = a->x,
        .w = a->w,
        .bias = a->b,
        .q = a->q,
        .y = a->y,
        .peak = a->peak,
        .B = a->B,
        .H = a->H,
        .W = a->W,
        .N = a->N,
        .KH = a->KH,
        .KW = a->KW,
        .SH = a->SH,
        .SW = a->SW,
        .top = a->PT,
        .left = a->PL,
        .OH = a->OH,
        .OW = a->OW,
        .zx = a->zx,
        .zy = a->zy,
        .lo = a->lo,
        .x_h = a->W * a->N,
        .x_w = a->N,
        .w_n = a->KH * a->KW,
        .w_kh = a->KW,
        .w_kw = 1,
        .y_b = a->OH * outputs,
        .y_oh = outputs,
        .y_ow = a->N};
    odt_depthwise_i8(&d);
}
