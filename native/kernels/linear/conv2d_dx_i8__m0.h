// The gradient of a convolution's input on a Cortex-M0+ where most errors are 0, as after a max-pooling: from one that is not
// 0 to the next, over sums of some rows of an image, which lie on the stack.

#ifndef ODT_CONV2D_DX_I8_M0_H
#define ODT_CONV2D_DX_I8_M0_H

#include <string.h>

#include "../common/axpy_i8__m0.h"
#include "../common/words.h"

enum { SUMS = 512 };

// What each way costs in cycles of an RP2040, as measured. Directly: for a position, for each error, and for one that is not 0,
// to which come rows of the filter and their elements. By panels: for each product, in tenths.
enum { POSITION = 60, SCAN = 10, ERROR = 90, ERROR_ROW = 20, ERROR_TAP = 10, PANEL_PRODUCTS = 35 };

// How many taps of an axis meet the image, of all outputs.
static int32_t all_taps(int32_t outputs, int32_t stride, int32_t pad, int32_t taps, int32_t size) {
    int32_t sum = 0;
    for (int32_t o = 0; o < outputs; o++) {
        odt_taps_t t = odt_taps(o * stride - pad, taps, size);
        sum += t.to - t.from;
    }
    return sum;
}

// Judged by some positions, by FIRST of them if two fifths of their errors are not 0.
static int is_sparse(const odt_conv2d_dx_i8_t *a) {
    enum { SAMPLES = 24, FIRST = 6 };
    int32_t outputs = a->OH * a->OW, positions = a->B * outputs, N = a->N;
    int32_t step = (positions + SAMPLES - 1) / SAMPLES | 1, sampled = 0; // odd, so that it meets all places of a window
    int32_t errors = 0;
    if (a->W * a->C > SUMS) {
        return 0;
    }
    for (int32_t m = 0; m < positions; m += step, sampled++) {
        errors += odt_count_errors(a->e + m * N, N);
        if (sampled == FIRST - 1 && 5 * errors > 2 * FIRST * N) {
            return 0;
        }
    }
    int32_t h = all_taps(a->OH, a->SH, a->PT, a->KH, a->H), w = all_taps(a->OW, a->SW, a->PL, a->KW, a->W);
    int64_t rows = h * (ERROR_ROW * a->OW + (int64_t)ERROR_TAP * a->C * w); // of an error at each output
    int64_t panel = (int64_t)PANEL_PRODUCTS * a->KH * a->KW * a->C * N / 10;
    int64_t all = (int64_t)sampled * outputs;
    return errors * ((int64_t)ERROR * outputs + rows) + all * (POSITION + SCAN * N) < all * panel;
}

// Rows first .. stop - 1 of all images.
static void conv2d_dx_of_errors(const void *arguments, int32_t first, int32_t stop, int32_t *peak) {
    const odt_conv2d_dx_i8_t *a = arguments;
    int32_t C = a->C, N = a->N, KW = a->KW, line = a->W * C, filter = a->KH * KW * C, most = SUMS / line;
    int32_t sums[SUMS];
    for (int32_t row = first, rows; row < stop; row += rows) {
        int32_t b = row / a->H, top = row - b * a->H;
        const int8_t *e = a->e + b * a->OH * a->OW * N;
        rows = odt_min(odt_min(stop - row, a->H - top), most);
        memset(sums, 0, (size_t)(rows * line) * sizeof(*sums));
        for (int32_t oh = 0; oh < a->OH; oh++) {
            int32_t ih = oh * a->SH - a->PT - top;
            odt_taps_t th = odt_taps(ih, a->KH, rows);
            odt_poll();
            if (th.from >= th.to) {
                e += a->OW * N;
                continue;
            }
            for (int32_t ow = 0; ow < a->OW; ow++, e += N) {
                int32_t iw = ow * a->SW - a->PL;
                odt_taps_t tw = odt_taps(iw, KW, a->W);
                int32_t run = (tw.to - tw.from) * C;
                odt_axpy_rows_t r = {.sums = sums + (ih + th.from) * line + (iw + tw.from) * C, .plus = 0,
                    .fours = (run & ~3) * (int32_t)sizeof(*sums), .rest = run & 3, .x_skip = KW * C - run,
                    .sums_skip = (line - run) * (int32_t)sizeof(*sums), .rows = th.to - th.from};
                const int8_t *w = a->w + (th.from * KW + tw.from) * C;
                for (int32_t n = 0; run > 0 && n < N; n++) {
                    if (e[n]) {
                        r.x = w + n * filter;
                        r.e = e[n];
                        odt_axpy_rows(&r);
                    }
                }
            }
        }
        int8_t *dx = a->dx + row * line;
        odt_finish_errors_i8(sums, a->q, rows * line, dx, peak);
    }
}

#endif
