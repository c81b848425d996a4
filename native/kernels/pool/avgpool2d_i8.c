// Average pooling, int8, and its gradient. x is [B, H, W, N], y and e [B, OH, OW, N].

#include <string.h>

#include "../../core.h"
#include "../../opcodes.h"
#include "../../cores/m0/axpy_i8__m0.h"
#include "../../common/elements.h"
#include "../../cores/m0/elements__m0.h"
#include "../../common/inner_i8.h"
#include "../../cores/correlate.h"
#include "avgpool2d.h"

#if ODT_MPY
enum { SUMS = ODT_BLOCK }; // on the stack
#define ODT_FOURS
#else
enum { SUMS = 8 * ODT_BLOCK };
#define ODT_FOURS _Pragma("GCC unroll 4")
#endif

// The mean of each channel over a window of rows x columns: columns are N bytes apart, rows `row` bytes; 0 for an empty
// window. It is a separate function, so that its loops run in registers.
static __attribute__((noinline)) void means(
    int8_t *y, const int8_t *x, int32_t rows, int32_t columns, int32_t N, int32_t row) {
    uint32_t count = (uint32_t)rows * (uint32_t)columns;
    for (const int8_t *end = y + N; y != end; x++) {
        const int8_t *from = x;
        uint32_t sum = 128 * count; // sums x + 128, so that the division is unsigned
        for (int32_t kh = rows; kh > 0; kh--, from += row) {
            const int8_t *at = from;
            for (int32_t kw = columns; kw > 0; kw--, at += N) {
                sum += (uint32_t)*at;
            }
        }
        *y++ = count ? (int8_t)((int32_t)((2 * sum + count) / (2 * count)) - 128) : 0;
    }
}

void odt_avgpool2d_i8(const odt_avgpool2d_i8_t *a) {
    int32_t N = a->N;
    odt_axis_t rows = ODT_AXIS_H(a), columns = ODT_AXIS_W(a);
    int8_t *y = a->y;
    for (int32_t b = 0; b < a->B; b++) {
        for (int32_t oh = 0; oh < a->OH; oh++) {
            odt_taps_t h = odt_axis_window(&rows, oh);
            for (int32_t ow = 0; ow < a->OW; ow++, y += N) {
                odt_taps_t w = odt_axis_window(&columns, ow);
                means(y, a->x + ((b * a->H + h.from) * a->W + w.from) * N, h.to - h.from, w.to - w.from, N, a->W * N);
            }
        }
    }
}

ODT_BESIDE_ASSEMBLY

#if !ODT_SMALL

// For windows side by side inside x: all positions of a window get the same value from its error.
static void avgpool2d_dx_of_tiles(
    const odt_avgpool2d_dx_i8_t *a, const odt_rescaler_t *q, uint32_t share, odt_outputs_t *outputs) {
    int32_t N = a->N, line = a->W * N, width = a->OW * a->KW * N;
    const int8_t *e = a->e;
    int8_t *dx = a->dx;
    #if ODT_M0
    odt_bytes_t bytes;
    int is_usual = share <= 1 << 9 && odt_begin_bytes(&bytes, 0, (int32_t)share, q->q, outputs);
    #endif
    for (int32_t b = 0; b < a->B; b++, dx += (a->H - a->OH * a->KH) * line) {
        for (int32_t oh = 0; oh < a->OH; oh++) {
            for (int32_t ow = 0; ow < a->OW; ow++, e += N) {
                int8_t *to = dx + ow * a->KW * N;
                #if ODT_M0
                if (is_usual) {
                    odt_rescale_bytes(&bytes, to, e, N, 1, 0, outputs);
                } else
                #endif
                {
                    for (int32_t n = 0; n < N; n++) {
                        to[n] = odt_output(outputs, odt_rescale_by(q, (int32_t)((uint32_t)e[n] * share)));
                    }
                }
                for (int32_t kw = 1; kw < a->KW; kw++) {
                    memcpy(to + kw * N, to, (size_t)N);
                }
            }
            memset(dx + width, 0, (size_t)(line - width));
            for (int32_t kh = 1; kh < a->KH; kh++) {
                memcpy(dx + kh * line, dx, (size_t)line);
            }
            dx += a->KH * line;
        }
        memset(dx, 0, (size_t)((a->H - a->OH * a->KH) * line));
    }
}

#endif

ODT_BESIDE_ASSEMBLY

// Positions from .. to - 1 of a row of inputs, for some channels, and the sums of their gradients.
typedef struct {
    int32_t *sums;
    const odt_axis_t *columns;
    int32_t from, to, N, channels;
    uint32_t top;
} part_t;

// Adds the contributions of a row of windows. e: the row's first error; high: the number of rows of x in a window.
static void add_windows(const part_t *p, const int8_t *e, uint32_t high) {
    int32_t channels = p->channels;
    odt_taps_t w = odt_axis_holders(p->columns, p->from);
    w.to = odt_axis_holders(p->columns, p->to - 1).to;
    uint32_t counted = 0, share = 0;
    for (e += w.from * p->N; w.from < w.to; w.from++, e += p->N) {
        odt_taps_t t = odt_axis_window(p->columns, w.from);
        uint32_t count = high * (uint32_t)(t.to - t.from);
        t.from = odt_max(t.from, p->from);
        t.to = odt_min(t.to, p->to);
        if (t.from >= t.to) {
            continue;
        }
        if (count != counted) {
            share = p->top / count;
            counted = count;
        }
        int32_t *sums = p->sums + (t.from - p->from) * channels;
        #if ODT_M0 && !ODT_SMALL
        odt_axpy_rows_t taps = {.sums = sums,
            .x = e,
            .e = (int32_t)share,
            .fours = (channels & ~3) * (int32_t)sizeof(*sums),
            .rest = channels & 3,
            .x_skip = -channels,
            .rows = t.to - t.from};
        odt_axpy_rows(&taps);
        #else
        for (; t.from < t.to; t.from++, sums += channels) {
            ODT_FOURS
            for (int32_t n = 0; n < channels; n++) {
                sums[n] = odt_wrap_add(sums[n], (int32_t)((uint32_t)e[n] * share));
            }
        }
        #endif
    }
}

// Converts sums to the gradient of the input.
static void finish_average(const int32_t *sums, int32_t count, const odt_multiplier_t *q, int8_t *dx, int32_t *peak) {
    #if ODT_M0 && !ODT_SMALL
    odt_finish_errors_i8(sums, q, count, dx, peak);
    #else
    odt_rescaler_t r = odt_rescaler(odt_checked(q));
    for (int32_t i = 0; i < count; i++) {
        dx[i] = odt_clamp_by(odt_rescale_by(&r, sums[i]), 0, -127, peak);
    }
    #endif
}

void odt_avgpool2d_dx_i8(const odt_avgpool2d_dx_i8_t *a) {
    int32_t N = a->N;
    odt_axis_t rows = ODT_AXIS_H(a), columns = ODT_AXIS_W(a);
    int8_t *dx = a->dx;
    #if !ODT_SMALL
    if (!a->adaptive && (a->SH == a->KH || a->OH == 1) && (a->SW == a->KW || a->OW == 1) && a->PT == 0 && a->PL == 0
        && a->OH <= a->H / a->KH && a->OW <= a->W / a->KW) {
        odt_outputs_t outputs = odt_outputs_from(0, -127, *a->peak);
        odt_rescaler_t q = odt_rescaler(odt_checked(a->q));
        avgpool2d_dx_of_tiles(a, &q, ((uint32_t)a->top << 8) / ((uint32_t)a->KH * (uint32_t)a->KW), &outputs);
        (void)odt_output(&outputs, 0); // positions outside all windows
        *a->peak = outputs.peak;
        return;
    }
    #endif
    int32_t sums[SUMS], done = 0; // of consecutive positions
    int32_t channels = odt_min(N, SUMS), many = SUMS / odt_max(channels, 1);
    part_t p = {.columns = &columns, .N = N, .top = (uint32_t)a->top << 8};
    for (int32_t row = 0; row < a->B * a->H; row++) {
        int32_t b = row / a->H;
        odt_taps_t h = odt_axis_holders(&rows, row - b * a->H);
        for (p.from = 0; p.from < a->W; p.from = p.to) {
            p.to = odt_min(p.from + many, a->W);
            for (int32_t n = 0; n < N; n += channels) {
                p.channels = odt_min(N - n, channels);
                int32_t size = (p.to - p.from) * p.channels;
                if (done + size > SUMS) {
                    finish_average(sums, done, a->q, dx, a->peak);
                    dx += done;
                    done = 0;
                }
                p.sums = sums + done;
                memset(p.sums, 0, (size_t)size * 4);
                for (int32_t oh = h.from; oh < h.to; oh++) {
                    odt_taps_t high = odt_axis_window(&rows, oh);
                    add_windows(&p, a->e + (b * a->OH + oh) * a->OW * N + n, (uint32_t)(high.to - high.from));
                }
                done += size;
            }
        }
    }
    finish_average(sums, done, a->q, dx, a->peak);
}
