// Depthwise convolutions on a Cortex-M0+, forward and the gradient of the input, a channel and a tile of its inputs
// (depthwise2d_tile_i8__m0.h) at a time. One MULS makes two products, as in panel_i8__m0.h: a weight times the inputs of two
// outputs beside one another. The stack holds 2.8 KB.

#include "../../core.h"
#include "depthwise2d_sum_i8__m0.h"

#if ODT_M0_DEPTHWISE

#include <string.h>

#include "../../fixed.h"
#include "../common/beyond.h"
#include "../common/registers__m0.h"
#include "../common/window.h"
#include "depthwise2d_tiny_i8.h"
#include "finish_i8__m0.h"

ODT_BESIDE_ASSEMBLY

enum { TAPS = 49 };

// A channel's way from sums to outputs, zy included. A result above `top` or below `bottom` is out of range or a new
// peak, or both.
typedef struct {
    int8_t *y;              // 0
    int32_t step, twice;    // 4, 8: 2 * zy + 1
    int32_t m_low, m_high;  // 12, 16: 12 bits each
    int32_t high, low;      // 20, 24
    int32_t max, min;       // 28, 32: what there was
    int32_t top, bottom;    // 36, 40
    int32_t shift;          // 44: q.s - 20
} output_t;

ODT_FINISH_AT(output_t, high, low, max, min);

// Rows of sums to outputs, o->y[i * o->step]. `none` bytes follow a row of sums, `skip` one of outputs. No
// sum has more than 18 bits and a sign. 18.5 cycles per output, and 19 per row; an output that leaves its range takes 6
// more. r0: sums, r8: bytes of the sums of a row, r9: their end; the others as in ODT_FINISH.
__attribute__((naked, noinline)) static void finish_rows(const int32_t *sums, output_t *o, int32_t columns,
    int32_t rows, int32_t skip, int32_t none) {
    (void)sums, (void)o, (void)columns, (void)rows, (void)skip, (void)none;
    __asm volatile (
        ".syntax unified\n"
        ".macro odt_finish_one n\n"
        "1\\n:\n"
        "ldmia r0!, {r2}\n"
        "movs r3, r2\n"
        ODT_FINISH
        ".endm\n"
        ".macro odt_finish_rare n\n"
        ODT_FINISH_RARE
        ".endm\n"
        ODT_SAVE_REGISTERS
        "lsls r2, r2, #2\n"
        "mov r8, r2\n"
        "ldr r4, [sp, #36]\n"
        "ldr r5, [sp, #40]\n"
        "push {r1, r3-r5}\n" // 4: rows, 8: skip, 12: none
        "ldr r4, [r1, #32]\n"
        "ldr r3, [r1, #36]\n"
        "mov r10, r3\n"
        "ldr r3, [r1, #40]\n"
        "mov r11, r3\n"
        "ldr r3, [r1, #4]\n"
        "mov r12, r3\n"
        "ldr r3, [r1, #8]\n"
        "mov lr, r3\n"
        "ldr r5, [r1, #12]\n"
        "ldr r6, [r1, #16]\n"
        "ldr r7, [r1, #44]\n"
        "ldr r1, [r1]\n"
        "4:\n"
        "mov r9, r0\n"
        "add r9, r8\n"
        "mov r2, r8\n" // an odd one first
        "lsls r2, r2, #29\n"
        "bmi 11f\n"
        "odt_finish_one 0\n"
        "odt_finish_one 1\n"
        "cmp r0, r9\n"
        "bne 10b\n"
        "ldr r2, [sp, #12]\n"
        "adds r0, r0, r2\n"
        "ldr r2, [sp, #8]\n"
        "adds r1, r1, r2\n"
        "ldr r2, [sp, #4]\n"
        "subs r2, #1\n"
        "str r2, [sp, #4]\n"
        "bne 4b\n"
        "pop {r0-r3}\n"
        "mov r5, r10\n"
        "mov r6, r11\n"
        "adds r0, #32\n"
        "stmia r0!, {r4}\n"
        "stmia r0!, {r5, r6}\n"
        ODT_RESTORE_REGISTERS
        "odt_finish_rare 0\n"
        "odt_finish_rare 1\n"
        ".purgem odt_finish_one\n"
        ".purgem odt_finish_rare\n"
        );
}

// What load_filter loads, and what the weights come to.
typedef struct {
    const int8_t *from; // 0: the first weight, less step
    int32_t *to;        // 4
    int32_t step;       // 8: from one weight of a row to the next
    int32_t width;      // 12: bytes of the words of a row
    int32_t skip;       // 16: from where a row's next weight would be to the next row's first
    int32_t gap;        // 20: bytes after the words of a row
    int32_t rows;       // 24
    int32_t sum, size;  // 28, 32: of the weights and of their magnitudes
    int32_t bits;       // 36: of all the magnitudes
} filter_t;

// A filter to words: 14 cycles per weight, 9 per row. r0: bits, r1: from, r2: to, r3: step, r4: sum, r5: size, r6: the weight,
// r7: its sign, r8: width, r9: skip, r10: gap, r11: the end of the row's words, lr: rows.
__attribute__((naked, noinline)) static void load_filter(filter_t *filter) {
    (void)filter;
    __asm volatile (
        ".syntax unified\n"
        ODT_SAVE_REGISTERS
        "ldmia r0!, {r1-r7}\n"
        "push {r0}\n"
        "mov r8, r4\n"
        "mov r9, r5\n"
        "mov r10, r6\n"
        "mov lr, r7\n"
        "movs r4, #0\n" // sum
        "movs r5, #0\n" // size
        "movs r0, #0\n" // bits
        "1:\n"
        "mov r11, r2\n"
        "add r11, r8\n"
        "2:\n"
        "ldrsb r6, [r1, r3]\n"
        "add r1, r3\n"
        "stmia r2!, {r6}\n"
        "adds r4, r4, r6\n"
        "asrs r7, r6, #31\n"
        "adds r6, r6, r7\n"
        "eors r6, r7\n"
        "adds r5, r5, r6\n"
        "orrs r0, r6\n"
        "cmp r2, r11\n"
        "bne 2b\n"
        "add r1, r9\n"
        "add r2, r10\n"
        "mov r7, lr\n"
        "subs r7, #1\n"
        "mov lr, r7\n"
        "bne 1b\n"
        "pop {r1}\n"
        "stmia r1!, {r4, r5}\n"
        "str r0, [r1]\n"
        ODT_RESTORE_REGISTERS
        );
}

// A channel.
typedef struct {
    odt_multiplier_t q;
    int32_t offset;
    int is_short; // whether finish_rows() takes it
} channel_t;

// Returns whether two of its products fit a lane. o is that of the channel before.
static __attribute__((noinline)) int load_channel(channel_t *c, const odt_depthwise_t *a, int32_t n, filter_t *f,
    output_t *o) {
    int32_t bias = a->bias ? a->bias[n] : 0;
    odt_multiplier_t q = odt_checked(&a->q[n]);
    f->from = a->w + n * a->w_n - a->w_kw;
    load_filter(f);
    if (f->bits & 128) { // one is -128, which no weight is (numerics.md)
        return 0;
    }
    c->q = q;
    c->offset = odt_wrap_sub(bias, odt_wrap_mul(a->zx, f->sum));
    // As they are, unless a scale has run away or a program is wrong, or a filter is large.
    c->is_short = q.s >= 33 && ((uint32_t)q.m & 0x8000007F) == 0
        && (uint32_t)(255 * f->size) + odt_magnitude(bias) < 1 << 18;
    o->m_low = q.m >> 7 & 4095;
    o->m_high = q.m >> 19;
    o->shift = q.s - 20;
    return 1;
}

// Sums of rows, of which `even` lie before the next one's, to the outputs from y on.
static __attribute__((noinline)) void finish(const odt_depthwise_t *a, int32_t rows, int32_t columns, int32_t even,
    const channel_t *c, output_t *o, const int32_t *sums, int8_t *y) {
    int32_t skip = a->y_oh - columns * a->y_ow, none = even - columns;
    if (c->is_short) {
        if (skip == 0 && none == 0) { // as one
            columns *= rows;
            rows = 1;
        }
        o->y = y;
        finish_rows(sums, o, columns, rows, skip, none * 4);
        return;
    }
    if (odt_is_beyond(c->q, a->zy, a->lo, *a->peak)) {
        odt_beyond_t b = odt_beyond(c->q, a->zy, a->lo, a->peak);
        for (; rows; rows--, y += a->y_oh, sums += even) {
            odt_beyond_outputs(&b, sums, 1, 0, columns, y, a->y_ow);
        }
        odt_beyond_peak(&b);
        return;
    }
    odt_rescaler_t q = odt_rescaler(c->q);
    for (; rows; rows--, y += skip, sums += none) {
        for (int32_t i = columns; i; i--, y += a->y_ow) {
            *y = odt_clamp_by(odt_rescale_by(&q, *sums++), a->zy, a->lo, a->peak);
        }
    }
}

// What outputs leave their range by, and the peak there was; whether a program is not wrong.
static int begin_outputs(output_t *o, const odt_depthwise_t *a) {
    int32_t zy = a->zy, lo = a->lo, peak = *a->peak;
    // Field by field, as a copy of the whole takes long on an RP2040.
    o->step = a->y_ow;
    o->twice = 2 * zy + 1;
    o->high = 127;
    o->low = lo;
    o->max = zy + peak;
    o->min = zy - (lo == zy ? 1 << 30 : peak); // after a ReLU: no peak
    o->top = odt_min(o->max, o->high);
    o->bottom = odt_max(o->min, o->low);
    return zy == (int8_t)zy && lo == (int8_t)lo && lo <= zy && peak >= 0 && peak < 1 << 30;
}

static void add_peak(const output_t *o, const odt_depthwise_t *a) {
    int32_t zy = a->zy;
    *a->peak = odt_max(*a->peak, a->lo == zy ? o->max - zy : odt_max(o->max - zy, zy - o->min));
}

// What sum_taps loads.
typedef struct {
    const uint8_t *taps; // 0: of odt_tiny_t
    const int32_t *x;    // 4: pixels of two images, less zx, one in each half
    const int32_t *w;    // 8
    int32_t *sums;       // 12: of the lower halves; 16: of the upper
    int32_t *others;
    int32_t *end;        // 20: of sums
    int32_t bias;        // 24
} tiny_taps_t;

// Outputs of two images: 16 cycles for 2 products, 27 around those of an output. r0: taps, r1: x, r2: w, r3: sums, r4: the upper
// halves, r5: a word, r6: a weight, r7: where the output's taps end, r8: all, r9: others, r10: end, r11: bias.
__attribute__((naked, noinline)) static void sum_taps(const tiny_taps_t *taps) {
    (void)taps;
    __asm volatile (
        ".syntax unified\n"
        ODT_SAVE_REGISTERS
        "ldmia r0!, {r1-r7}\n"
        "mov r9, r5\n"
        "mov r10, r6\n"
        "mov r11, r7\n"
        "movs r0, r1\n"
        "movs r1, r2\n"
        "movs r2, r3\n"
        "movs r3, r4\n"
        "1:\n"
        "ldrb r7, [r0]\n"
        "adds r0, r0, #1\n"
        "adds r7, r7, r0\n"
        "movs r4, #0\n"
        "mov r8, r4\n"
        "b 3f\n"
        "2:\n"
        "ldrb r5, [r0]\n"
        "ldrb r6, [r0, #1]\n"
        "adds r0, r0, #2\n"
        "ldr r5, [r1, r5]\n"
        "ldr r6, [r2, r6]\n"
        "muls r5, r6\n"
        "add r8, r5\n"
        "asrs r5, r5, #16\n"
        "adcs r4, r5\n"
        "3:\n"
        "cmp r0, r7\n"
        "bne 2b\n"
        "mov r5, r8\n"
        "lsls r6, r4, #16\n"
        "subs r5, r5, r6\n"
        "add r5, r11\n"
        "add r4, r11\n"
        "mov r6, r9\n"
        "stmia r6!, {r4}\n"
        "mov r9, r6\n"
        "stmia r3!, {r5}\n"
        "cmp r3, r10\n"
        "bne 1b\n"
        ODT_RESTORE_REGISTERS
        );
}

// Images of a few pixels, two at a time; those that follow one another are finished as one. A single one takes less as a tile.
static int depthwise_tiny(const odt_depthwise_t *a, int32_t first, int32_t stop) {
    int32_t sums[ODT_TILE_SUMS], w[TAPS], x[ODT_TINY], N = a->N;
    odt_tiny_t tiny;
    filter_t f = {.to = w, .step = a->w_kw, .width = a->KW * 4, .skip = a->w_kh - a->KW * a->w_kw, .rows = a->KH};
    channel_t c;
    output_t o;
    if (a->KH < 1 || a->KW < 1 || a->zx != (int8_t)a->zx || a->B == 1 || !odt_tiny_plan(&tiny, &a->H) || !begin_outputs(&o, a)) {
        return 0;
    }
    tiny_taps_t taps = {.taps = tiny.taps, .x = x, .w = w};
    int32_t size = tiny.pixels * N, pixels = tiny.pixels, zx = a->zx, most = a->y_b == a->OH * a->y_oh ? ODT_TILE_SUMS / tiny.outputs & ~1 : 1; // images
    for (int32_t n = first; n < stop; n++) {
        if (!load_channel(&c, a, n, &f, &o)) {
            return 0;
        }
        for (int32_t b = 0; b < a->B; b += most) {
            const int8_t *from = a->x + b * size + n;
            taps.sums = sums;
            taps.bias = a->bias ? a->bias[n] : 0;
            odt_poll();
            for (int32_t left = odt_min(a->B - b, most); left > 0; left -= 2, from += 2 * size) {
                const int8_t *at = from, *next = left > 1 ? from + size : from;
                for (int32_t i = 0; i < pixels; i++, at += N, next += N) {
                    x[i] = (int32_t)((uint32_t)(*next - zx) << 16) + (*at - zx);
                }
                taps.end = taps.sums + tiny.outputs;
                taps.others = left > 1 ? taps.end : taps.sums; // which are written first
                sum_taps(&taps);
                taps.sums = taps.end + tiny.outputs;
            }
            finish(a, a->OH * odt_min(a->B - b, most), a->OW, a->OW, &c, &o, sums, a->y + b * a->y_b + n);
        }
    }
    add_peak(&o, a);
    return 1;
}

// About the cycles of a row of outputs of 3x3, summed in groups of 4 or 2.
static int32_t cost(int32_t columns, int32_t group) {
    return 35 + (columns + group - 1) / group * (group == 4 ? 130 : 73);
}

// Rows and columns of x are x_h and x_w apart.
static int depthwise(const odt_depthwise_t *a, int32_t first, int32_t stop, int32_t x_h, int32_t x_w) {
    int32_t words[ODT_TILE_WORDS + 2], sums[ODT_TILE_SUMS];
    int32_t KH = a->KH, KW = a->KW, K = odt_max(KH, KW), is_line = KH == 1 && KW <= 3;
    if (is_line) { // small ones get taps of 0, so that they are 1x3, 2x2 or 3x3
        KW = 3;
    } else if (K <= 3) {
        KH = KW = odt_max(K, 2);
    }
    odt_tile_t t = {.H = a->H, .W = a->W, .x_h = x_h, .x_w = x_w, .KH = KH, .KW = KW, .SH = a->SH, .SW = a->SW,
        .top = a->top, .left = a->left, .OH = a->OH, .OW = a->OW, .zx = a->zx, .words = words};
    t.group = K == 3 && !is_line && a->SW == 1 && cost(a->OW, 4) <= cost(a->OW, 2) ? 4 : 2;
    int32_t w[TAPS] = {0};
    filter_t f = {.to = w, .step = a->w_kw, .width = a->KW * 4, .skip = a->w_kh - a->KW * a->w_kw,
        .gap = (KW - a->KW) * 4, .rows = a->KH};
    channel_t c;
    output_t o;
    if (a->KH < 1 || a->KW < 1 || KH * KW > TAPS || !odt_tile_plan(&t) || !begin_outputs(&o, a)) {
        return 0;
    }
    while (odt_tile_next(&t)) {
        odt_windows_t windows = {.w = w, .x = odt_tile_windows(&t), .sums = sums, .row = (t.pitch - KW) * 4,
            .back = (t.group * t.SW - (KH - 1) * t.pitch - KW) * 4, .even = t.even * 4,
            .skip = (t.SH * t.pitch - t.SW * t.even) * 4, .rows = t.rows};
        for (int32_t n = first; n < stop; n++) {
            if (!load_channel(&c, a, n, &f, &o)) {
                return 0;
            }
            windows.offset = c.offset;
            for (int32_t b = 0; b < a->B; b++) {
                odt_poll();
                odt_tile_fill(&t, a->x + b * a->H * a->W * a->N + n);
                if (is_line) {
                    odt_sum_lines(&windows);
                } else if (t.group == 4) {
                    odt_sum_fours(&windows);
                } else if (K == 3) {
                    odt_sum_pairs(&windows);
                } else if (K < 3) {
                    odt_sum_small(&windows);
                } else {
                    odt_sum_any(&windows, KH, KW);
                }
                finish(a, t.rows, t.columns, t.even, &c, &o, sums, a->y + b * a->y_b + t.oh * a->y_oh + t.ow * a->y_ow + n);
            }
        }
    }
    add_peak(&o, a);
    return 1;
}

// A phase of the gradient of a strided layer's input, and what is done for it in a tile of the errors that all share.
typedef struct {
    const odt_depthwise_t *a;
    filter_t f;
    channel_t c;
    odt_windows_t windows;
    int32_t w[4], rows, columns, even;
    int8_t *y;
} phase_t;

int odt_depthwise_phases_i8__m0(const odt_depthwise_t *a, int32_t count, int32_t first, int32_t stop) {
    int32_t words[ODT_TILE_WORDS + 2], sums[ODT_TILE_SUMS];
    odt_tile_t t = {.H = a->H, .W = a->W, .x_h = a->W * a->N, .x_w = a->N, .SH = 1, .SW = 1, .zx = a->zx, .group = 2,
        .words = words};
    phase_t phases[4], *end = phases + count;
    output_t o;
    for (int32_t i = 0; i < count; i++) {
        if (a[i].KH < 1 || a[i].KH > 2 || a[i].KW < 1 || a[i].KW > 2) {
            return 0;
        }
        t.top = odt_max(t.top, a[i].top);
        t.left = odt_max(t.left, a[i].left);
        t.OH = odt_max(t.OH, a[i].OH);
        t.OW = odt_max(t.OW, a[i].OW);
    }
    for (phase_t *p = phases; p != end; p++, a++) { // with taps of 0, filters are 1x3 or 2x2
        int32_t KW = a->KH == 1 ? 3 : 2;
        p->a = a;
        p->f = (filter_t) {.to = p->w, .step = a->w_kw, .width = a->KW * 4, .skip = a->w_kh - a->KW * a->w_kw,
            .gap = (KW - a->KW) * 4, .rows = a->KH};
        memset(p->w, 0, sizeof(p->w));
        t.KH = odt_max(t.KH, t.top - a->top + a->KH);
        t.KW = odt_max(t.KW, t.left - a->left + KW);
    }
    a = phases[0].a;
    if (!odt_tile_plan(&t) || !begin_outputs(&o, a)) {
        return 0;
    }
    while (odt_tile_next(&t)) {
        for (phase_t *p = phases; p != end; p++) {
            const odt_depthwise_t *b = p->a;
            int32_t KH = b->KH, KW = KH == 1 ? 3 : 2;
            p->rows = odt_min(t.rows, b->OH - t.oh);
            p->columns = odt_min(t.columns, b->OW - t.ow);
            p->even = (p->columns + 1) & ~1;
            p->y = b->y + t.oh * b->y_oh + t.ow * b->y_ow;
            p->windows = (odt_windows_t) {.w = p->w,
                .x = odt_tile_windows(&t) + (t.top - b->top) * t.pitch + t.left - b->left, .sums = sums,
                .row = (t.pitch - KW) * 4, .back = (2 - (KH - 1) * t.pitch - KW) * 4, .even = p->even * 4,
                .skip = (t.pitch - p->even) * 4, .rows = p->rows};
        }
        for (int32_t n = first; n < stop; n++) {
            for (phase_t *p = phases; p != end; p++) {
                if (!load_channel(&p->c, p->a, n, &p->f, &o)) {
                    return 0;
                }
                p->windows.offset = p->c.offset;
            }
            for (int32_t b = 0; b < a->B; b++) {
                odt_poll();
                odt_tile_fill(&t, a->x + b * a->H * a->W * a->N + n);
                for (phase_t *p = phases; p != end; p++) {
                    if (p->rows <= 0 || p->columns <= 0) {
                        continue;
                    }
                    (p->a->KH == 1 ? odt_sum_lines : odt_sum_small)(&p->windows);
                    finish(p->a, p->rows, p->columns, p->even, &p->c, &o, sums, p->y + b * a->y_b + n);
                }
            }
        }
    }
    add_peak(&o, a);
    return 1;
}

int odt_depthwise_i8__m0(const odt_depthwise_t *a, int32_t first, int32_t stop) {
    int32_t x_h = a->W * a->N, x_w = a->N;
    if (depthwise_tiny(a, first, stop)) {
        return 1;
    }
    int32_t by_rows = odt_min(cost(a->OW, 4), cost(a->OW, 2)), by_columns = odt_min(cost(a->OH, 4), cost(a->OH, 2));
    if (a->KH == 1 || (a->KW != 1 && a->OW * by_columns >= a->OH * by_rows)) {
        return depthwise(a, first, stop, x_h, x_w);
    }
    odt_depthwise_t turned = {.x = a->x, .w = a->w, .bias = a->bias, .q = a->q, .y = a->y, .peak = a->peak,
        .B = a->B, .H = a->W, .W = a->H, .N = a->N, .KH = a->KW, .KW = a->KH, .SH = a->SW, .SW = a->SH,
        .top = a->left, .left = a->top, .OH = a->OW, .OW = a->OH, .zx = a->zx, .zy = a->zy, .lo = a->lo,
        .w_n = a->w_n, .w_kh = a->w_kw, .w_kw = a->w_kh, .y_b = a->y_b, .y_oh = a->y_ow, .y_ow = a->y_oh};
    return depthwise(&turned, first, stop, x_w, x_h); // columns are longer, go up in groups, or are all of a filter
}

#endif
