// Depthwise convolutions (depthwise.h) on cores with SMLAD, a Cortex-M4 and later, one channel at a time: for fewer
// than four channels, and for filters too large for four at a time. A tile of a channel lies on the stack as int16,
// minus zx, with its padding. Any two adjacent numbers of a row form a word, at any address, which is multiplied by two
// taps. The stack holds 2.8 KB.

#include "../../core.h"
#include "../depthwise.h"

#if ODT_M4

#include <string.h>

#include "../../fixed.h"
#include "../../common/elements.h"
#include "words__m4.h"

enum {
    ROOM = 1024,  // numbers of a tile
    PAIRS = 128,  // of taps
    COLUMNS = 64, // columns of outputs at a time, one more in a gradient
};

// Loads two numbers at any address.
static inline uint32_t apart_pair_at(const int16_t *from) {
    uint32_t pair;
    memcpy(&pair, from, 4);
    return pair;
}

// Copies bytes minus `zero`, `step` apart, of columns at .. at + count - 1 of a row of W; 0 outside it, or if there is
// no row.
static __attribute__((noinline)) void gather_apart(
    int16_t *to, const int8_t *row, int32_t step, int32_t at, int32_t by, int32_t count, int32_t W, int32_t zero) {
    int16_t *end = to + count;
    for (; to != end && at < 0; at += by) {
        *to++ = 0;
    }
    int32_t inside = row && at < W ? odt_min((W - 1 - at) / by + 1, (int32_t)(end - to)) : 0;
    const int8_t *from = inside ? row + at * step : NULL;
    step *= by;
    #pragma GCC unroll 4
    for (const int16_t *stop = to + inside; to != stop; from += step) {
        *to++ = (int16_t)(*from - zero);
    }
    while (to != end) {
        *to++ = 0;
    }
}

typedef struct {
    uint32_t w[PAIRS];
    int16_t x[ROOM];
    int32_t sums[COLUMNS + 3];
} apart_tile_t;

// Sums of `fours` > 0 times four windows, `step` bytes apart, with `rows` > 0 rows of `pairs` > 0 pairs of taps. `back`
// bytes lead from the end of a row to the next row, `next` bytes from the first of four windows to the next four. 11
// instructions for 8 products, 4 for a row, 18 for four windows. r0, r1: first and last window, r2: step, r3: taps,
// r4-r7: sums, r8: taps' end, r9: rows left, r10: a pair of taps, r11: back, r12, lr: pairs of numbers.
ODT_ASSEMBLY static void sum_windows_apart(int32_t *sums, const int16_t *x, int32_t step, const uint32_t *w,
    int32_t fours, int32_t rows, int32_t pairs, int32_t back, int32_t next, int32_t start) {
    (void)sums, (void)x, (void)step, (void)w, (void)fours, (void)rows, (void)pairs, (void)back, (void)next, (void)start;
    __asm volatile (
        ".syntax unified\n"
        // 0: sums, 4: x, 8: w; 52: fours, 56: rows, 60: pairs, then bytes, 64: back, 68: next, 72: start
        "push {r0, r1, r3, r4-r12, lr}\n"
        "ldr r4, [sp, #60]\n"
        "lsl r4, r4, #2\n"
        "str r4, [sp, #60]\n"
        "ldr r11, [sp, #64]\n"
        "1:\n"
        "ldrd r0, r3, [sp, #4]\n"
        "ldrd r9, r8, [sp, #56]\n"
        "add r1, r0, r2\n"
        "add r1, r1, r2, lsl #1\n"
        "add r8, r8, r3\n"
        "ldr r4, [sp, #72]\n"
        "mov r5, r4\n"
        "mov r6, r4\n"
        "mov r7, r4\n"
        "b 3f\n"
        "2:\n"
        "add r0, r0, r11\n"
        "add r1, r1, r11\n"
        "ldr r12, [sp, #60]\n"
        "add r8, r8, r12\n"
        "3:\n"
        "ldr r10, [r3], #4\n"
        "ldr r12, [r0, r2]\n"
        "ldr lr, [r0, r2, lsl #1]\n"
        "smlad r5, r12, r10, r5\n"
        "smlad r6, lr, r10, r6\n"
        "ldr r12, [r0], #4\n"
        "ldr lr, [r1], #4\n"
        "smlad r4, r12, r10, r4\n"
        "smlad r7, lr, r10, r7\n"
        "cmp r3, r8\n"
        "bne 3b\n"
        "subs r9, r9, #1\n"
        "bne 2b\n"
        "ldrd r0, r1, [sp]\n"
        "ldr r12, [sp, #68]\n"
        "stm r0!, {r4-r7}\n"
        "add r1, r1, r12\n"
        "strd r0, r1, [sp]\n"
        "ldr r12, [sp, #52]\n"
        "subs r12, r12, #1\n"
        "str r12, [sp, #52]\n"
        "bne 1b\n"
        "add sp, sp, #12\n"
        "pop {r4-r12, pc}\n"
        );
}

// Converts `count` sums to outputs, `step` bytes apart.
static __attribute__((noinline)) void finish_apart(const int32_t *sums, int32_t count, const odt_rescaler_t *rescaler,
    int8_t *y, int32_t step, odt_outputs_t *outputs) {
    const odt_rescaler_t q = *rescaler;
    const int32_t *end = sums + count;
    if (q.up == 0 && odt_is_usual(outputs)) {
        odt_limits_t limits = odt_limits_of(outputs);
        int32_t z = outputs->z;
        for (; sums != end; y += step) {
            *y = odt_output_by(&limits, outputs, (odt_add_upper(q.half, *sums++, q.q.m) >> q.shift) + z);
        }
    }
    for (; sums != end; y += step) {
        *y = odt_output(outputs, odt_rescale_by(&q, *sums++));
    }
}

// Computes channel n, `columns` columns at a time.
static void depthwise_channel(
    const odt_depthwise_t *a, int32_t n, int32_t columns, apart_tile_t *t, odt_outputs_t *outputs) {
    const odt_rescaler_t q = odt_rescaler(odt_checked(&a->q[n]));
    int32_t pairs = (a->KW + 1) / 2, start = a->bias ? a->bias[n] : 0;
    for (int32_t kh = 0; kh < a->KH; kh++) {
        const int8_t *w = a->w + n * a->w_n + kh * a->w_kh;
        for (int32_t kw = 0; kw < a->KW; kw += 2, w += 2 * a->w_kw) {
            t->w[kh * pairs + kw / 2] = odt_lower((uint32_t)*w, kw + 1 < a->KW ? (uint32_t)w[a->w_kw] : 0);
        }
    }
    for (int32_t ow = 0; ow < a->OW; ow += columns) {
        int32_t count = odt_min(columns, a->OW - ow), fours = (count + 3) & ~3;
        int32_t width = (fours - 1) * a->SW + 2 * pairs, many = (ROOM / width - a->KH) / a->SH + 1; // rows of outputs
        for (int32_t b = 0; b < a->B; b++) {
            const int8_t *x = a->x + b * a->H * a->W * a->N + n;
            for (int32_t first = 0; first < a->OH; first += many) {
                int32_t rows = odt_min(many, a->OH - first), ih = first * a->SH - a->top;
                odt_poll();
                for (int32_t i = 0; i < (rows - 1) * a->SH + a->KH; i++, ih++) {
                    gather_apart(t->x + i * width, ih < 0 || ih >= a->H ? NULL : x + ih * a->x_h, a->x_w,
                        ow * a->SW - a->left, 1, width, a->W, a->zx);
                }
                for (int32_t oh = 0; oh < rows; oh++) {
                    const int16_t *from = t->x + oh * a->SH * width;
                    sum_windows_apart(t->sums, from, 2 * a->SW, t->w, fours / 4, a->KH, pairs, 2 * (width - 2 * pairs),
                        8 * a->SW, start);
                    finish_apart(t->sums, count, &q, a->y + b * a->y_b + (first + oh) * a->y_oh + ow * a->y_ow + n,
                        a->y_ow, outputs);
                }
            }
        }
    }
}

int odt_depthwise_apart_i8__m4(const odt_depthwise_t *a, int32_t first, int32_t stop, int32_t *peak) {
    odt_depthwise_t turned;
    if (a->KW == 1 && a->KH > 1) {
        turned = odt_turned(a);
        a = &turned;
    }
    int32_t pairs = (a->KW + 1) / 2;
    if (a->KH < 1 || a->KW < 1 || a->KH > PAIRS || pairs > PAIRS / a->KH || a->SW > COLUMNS) {
        return 0;
    }
    int32_t most = ((ROOM / a->KH - 2 * pairs) / a->SW + 1) & ~3,
            columns = odt_min(odt_min(most, COLUMNS), (a->OW + 3) & ~3);
    if (most < 4) {
        return 0;
    }
    odt_outputs_t outputs = odt_outputs_from(a->zy, a->lo, *peak);
    apart_tile_t tile;
    for (int32_t n = first; n < stop; n++) {
        depthwise_channel(a, n, columns, &tile, &outputs);
    }
    *peak = outputs.peak;
    return 1;
}

// The gradient of the filters. A row of x is ordered by the phases of the stride, so that the taps of a phase meet
// words that are one number apart.
typedef struct {
    int16_t x[ROOM], e[COLUMNS + 1];
    int32_t lines[PAIRS]; // the rows of x that are loaded
} apart_products_t;

// dw, `step` apart, += e * x of up to four taps, over pairs of errors: 13 instructions for 8 products.
static inline __attribute__((always_inline)) void add_products(
    int32_t *dw, int32_t step, const int16_t *e, const int16_t *end, const int16_t *x, int32_t taps) {
    int32_t sums[4] = {0};
    for (; e != end; e += 2, x += 2) {
        uint32_t errors = apart_pair_at(e);
        #pragma GCC unroll 4
        for (int32_t i = 0; i < taps; i++) {
            sums[i] = odt_smlad(apart_pair_at(x + i), errors, sums[i]);
        }
    }
    #pragma GCC unroll 4
    for (int32_t i = 0; i < taps; i++) {
        dw[i * step] += sums[i];
    }
}

static void add_taps(int32_t *dw, int32_t step, const int16_t *e, const int16_t *end, const int16_t *x, int32_t taps) {
    for (; taps >= 4; taps -= 4, dw += 4 * step, x += 4) {
        add_products(dw, step, e, end, x, 4);
    }
    if (taps == 3) {
        add_products(dw, step, e, end, x, 3);
    } else if (taps == 2) {
        add_products(dw, step, e, end, x, 2);
    } else if (taps == 1) {
        add_products(dw, step, e, end, x, 1);
    }
}

// A layer or, for filters of one column, its transpose: distances from a row to the next and from a column to the next.
typedef struct {
    odt_depthwise2d_dw_i8_t a;
    int32_t x_h, x_w, e_h, e_w;
} layer_t;

static void gradient_of_channel(const layer_t *l, int32_t n, int32_t columns, apart_products_t *s) {
    const odt_depthwise2d_dw_i8_t *a = &l->a;
    int32_t phases = odt_min(a->SW, a->KW), *dw = a->dw + n * a->KH * a->KW;
    memset(dw, 0, (size_t)(a->KH * a->KW) * sizeof(*dw));
    for (int32_t ow = 0; ow < a->OW; ow += columns) {
        int32_t count = odt_min(columns, a->OW - ow), even = (count + 1) & ~1, length = even + (a->KW - 1) / a->SW;
        for (int32_t b = 0; b < a->B; b++) {
            const int8_t *x = a->x + b * a->H * a->W * a->N + a->at + n,
                         *e = a->e + b * a->OH * a->OW * a->N + a->at + n;
            odt_poll();
            memset(s->lines, 0x80, (size_t)a->KH * sizeof(*s->lines)); // none
            for (int32_t oh = 0; oh < a->OH; oh++) {
                gather_apart(s->e, e + oh * l->e_h, l->e_w, ow, 1, count, a->OW, 0);
                s->e[count] = 0;
                for (int32_t kh = 0; kh < a->KH; kh++) {
                    int32_t row = oh * a->SH - a->PT + kh, slot = (row + a->PT) % a->KH;
                    int16_t *line = s->x + slot * phases * length;
                    if (s->lines[slot] != row) {
                        s->lines[slot] = row;
                        for (int32_t phase = 0; phase < phases; phase++) {
                            gather_apart(line + phase * length, row < 0 || row >= a->H ? NULL : x + row * l->x_h,
                                l->x_w, ow * a->SW - a->PL + phase, a->SW, length, a->W, a->zx);
                        }
                    }
                    for (int32_t phase = 0; phase < phases; phase++, line += length) {
                        add_taps(
                            dw + kh * a->KW + phase, a->SW, s->e, s->e + even, line, (a->KW - 1 - phase) / a->SW + 1);
                    }
                }
            }
        }
    }
}

// The same with strides of 1: errors lie as far from row to row as inputs, with zeros between, so that a tap meets some
// rows as one. Returns whether a few rows fit.
static int gradient_of_rows(const layer_t *l, int32_t n, apart_products_t *s) {
    const odt_depthwise2d_dw_i8_t *a = &l->a;
    int32_t KH = a->KH, KW = a->KW, columns = odt_min(a->OW, COLUMNS), pitch = columns + KW - 1;
    int32_t many = odt_min((ROOM - KW - 2 - (KH - 1) * pitch) / (2 * pitch), a->OH), *dw = a->dw + n * KH * KW;
    if (a->SH != 1 || a->SW != 1 || many < odt_min(a->OH, 4)) {
        return 0;
    }
    int16_t *errors = s->x + (many + KH - 1) * pitch + KW; // beyond what the last tap reads
    memset(dw, 0, (size_t)(KH * KW) * sizeof(*dw));
    for (int32_t ow = 0; ow < a->OW; ow += columns) {
        int32_t stop = odt_min(ow + columns, a->OW);
        for (int32_t b = 0; b < a->B; b++) {
            const int8_t *x = a->x + b * a->H * a->W * a->N + a->at + n,
                         *e = a->e + b * a->OH * a->OW * a->N + a->at + n;
            for (int32_t first = 0; first < a->OH; first += many) {
                int32_t rows = odt_min(many, a->OH - first), ih = first - a->PT;
                int16_t *end = errors + rows * pitch;
                odt_poll();
                for (int32_t i = 0; i < rows + KH - 1; i++, ih++) {
                    gather_apart(s->x + i * pitch, ih < 0 || ih >= a->H ? NULL : x + ih * l->x_h, l->x_w, ow - a->PL, 1,
                        pitch, a->W, a->zx);
                }
                for (int32_t i = 0; i < rows; i++) {
                    gather_apart(errors + i * pitch, e + (first + i) * l->e_h, l->e_w, ow, 1, pitch, stop, 0);
                }
                *end = 0;
                end += rows * pitch & 1;
                for (int32_t kh = 0; kh < KH; kh++) {
                    add_taps(dw + kh * KW, 1, errors, end, s->x + kh * pitch, KW);
                }
            }
        }
    }
    return 1;
}

int odt_depthwise_dw_apart_i8__m4(const odt_depthwise2d_dw_i8_t *a, int32_t first, int32_t stop) {
    layer_t layer = {*a, a->W * a->N, a->N, a->OW * a->N, a->N};
    if (a->KW == 1 && a->KH > 1) { // the taps have the same order
        layer = (layer_t) {*a, layer.x_w, layer.x_h, layer.e_w, layer.e_h};
        layer.a.H = a->W, layer.a.W = a->H, layer.a.KH = 1, layer.a.KW = a->KH, layer.a.SH = a->SW, layer.a.SW = a->SH;
        layer.a.PT = a->PL, layer.a.PL = a->PT, layer.a.OH = a->OW, layer.a.OW = a->OH;
    }
    const odt_depthwise2d_dw_i8_t *l = &layer.a;
    if (l->KH < 1 || l->KW < 1 || l->KH > PAIRS || l->SW > COLUMNS) {
        return 0;
    }
    int32_t phases = odt_min(l->SW, l->KW), most = (ROOM / l->KH / phases - (l->KW - 1) / l->SW) & ~1;
    if (most < 2) {
        return 0;
    }
    apart_products_t s;
    for (int32_t n = first; n < stop; n++) {
        if (ODT_MPY || !gradient_of_rows(&layer, n, &s)) {
            gradient_of_channel(&layer, n, odt_min(most, COLUMNS), &s);
        }
    }
    return 1;
}

#endif
