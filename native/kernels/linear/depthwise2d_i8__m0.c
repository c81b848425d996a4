// Depthwise convolutions on a Cortex-M0+, forward and the gradient of the input, a channel and a tile of its inputs
// (depthwise2d_tile_i8__m0.h) at a time. One MULS makes two products, as in panel_i8__m0.h: a weight times the inputs of two
// outputs beside one another; with strides of 2, two weights times an input, which need no tile. The stack holds 2.9 KB.

#include "../../core.h"
#include "depthwise2d_sum_i8__m0.h"

#if ODT_M0_DEPTHWISE

#include "../../fixed.h"
#include "../common/beyond.h"
#include "../common/registers__m0.h"
#include "../common/window.h"
#include "depthwise2d_tiny_i8.h"
#include "finish_i8__m0.h"

ODT_BESIDE_ASSEMBLY

enum { TAPS = 49 };

// A channel's way from sums to outputs, zy included.
typedef struct {
    int8_t *y;              // 0
    int32_t step;           // 4
    int32_t columns, rows;  // 8, 12: bytes of the sums of a row; rows
    int32_t m_low, m_high;  // 16, 20: 12 bits each
    int32_t shift;          // 24: q.s - 19
    int32_t is_cut;         // 28: off at zy, as after a ReLU
    int32_t high, low;      // 32, 36
    int32_t max, min;       // 40, 44: what there was
    int32_t from, span;     // 48, 52: zy and the largest, each less
    int32_t least;          // 56: the least result that is neither out of range nor a new peak
    int32_t none, skip;     // 60, 64: bytes after a row of sums, and after one of outputs
} output_t;

ODT_FINISH_AT(output_t, high, low, max, min);

// Rows of sums to outputs, o->y[i * o->step]. No sum has more than 19 bits and a sign. 15.75 cycles per output, and 25 per row; where
// they are cut off at zy 16.75, and 12.75 of one that is; an output that is out of range takes 18 more. r0: sums, r8: bytes of the
// sums of a row, r9: their end; the others as in ODT_FINISH_MACROS.
__attribute__((naked, noinline)) static void finish_rows(const int32_t *sums, output_t *o) {
    (void)sums, (void)o;
    __asm volatile (
        ".syntax unified\n"
        ODT_FINISH_MACROS
        ".macro odt_finish_one n, is_cut\n"
        "1\\n:\n"
        "ldmia r0!, {r2}\n"
        "movs r3, r2\n"
        ".if \\is_cut\n"
        "bmi 7\\n\\()f\n"
        ".endif\n"
        "odt_finish \\n\n"
        ".endm\n"
        ".macro odt_finish_else n, is_cut\n"
        ".if \\is_cut\n"
        "odt_finish_cut \\n\n"
        ".endif\n"
        "odt_finish_rare \\n\n"
        ".endm\n"
        ".macro odt_finish_kind a, b, c, d, is_cut\n"
        "5\\a:\n"
        "mov r9, r0\n"
        "add r9, r8\n"
        "mov r2, r8\n" // first what fours leave over
        "lsls r2, r2, #29\n"
        "bcs 9f\n"
        "beq 1\\a\\()f\n"
        "b 1\\d\\()f\n"
        "9:\n"
        "bne 1\\b\\()f\n"
        "b 1\\c\\()f\n"
        "odt_finish_one \\a, \\is_cut\n"
        "odt_finish_one \\b, \\is_cut\n"
        "odt_finish_one \\c, \\is_cut\n"
        "odt_finish_one \\d, \\is_cut\n"
        "cmp r0, r9\n"
        "bne 1\\a\\()b\n"
        "ldr r2, [sp]\n"
        "ldr r3, [r2, #60]\n"
        "adds r0, r0, r3\n"
        "adds r2, #64\n"
        "ldr r3, [r2]\n"
        "adds r1, r1, r3\n"
        "ldr r2, [sp, #4]\n"
        "subs r2, #1\n"
        "str r2, [sp, #4]\n"
        "bne 5\\a\\()b\n"
        "b 83f\n"
        "odt_finish_else \\a, \\is_cut\n"
        "odt_finish_else \\b, \\is_cut\n"
        "odt_finish_else \\c, \\is_cut\n"
        "odt_finish_else \\d, \\is_cut\n"
        ".endm\n"
        ODT_SAVE_REGISTERS
        "movs r7, r1\n"
        "adds r1, #48\n"
        "ldmia r1!, {r4-r6}\n"
        "mov r10, r5\n"
        "mov r11, r6\n"
        "subs r1, #60\n"
        "ldmia r7!, {r2, r3, r5, r6}\n"
        "mov r12, r3\n"
        "mov r8, r5\n"
        "push {r1, r6}\n" // 4: rows
        "movs r1, r2\n"
        "ldmia r7!, {r5, r6}\n"
        "ldmia r7!, {r2, r3}\n"
        "movs r7, r2\n"
        "cmp r3, #0\n"
        "bne 54f\n"
        "odt_finish_kind 0, 1, 2, 3, 0\n"
        "odt_finish_kind 4, 5, 6, 7, 1\n"
        "83:\n"
        "pop {r0, r1}\n"
        "mov r5, r10\n"
        "mov r6, r11\n"
        "adds r0, #48\n"
        "stmia r0!, {r4-r6}\n"
        ODT_RESTORE_REGISTERS
        "81:\n"
        ODT_FINISH_RARE
        ODT_FINISH_PURGE
        ".purgem odt_finish_one\n"
        ".purgem odt_finish_else\n"
        ".purgem odt_finish_kind\n"
        );
}

// A channel, and how load_channel gets to the next one.
typedef struct {
    const int8_t *from; // 0: the first weight, less step
    int32_t *to;        // 4: words
    int32_t step;       // 8: from one weight of a row to the next
    int32_t skip;       // 12: from where a row's next weight would be to the next row's first
    int32_t zx;         // 16
    const int32_t *biases;     // 20: or NULL
    const odt_multiplier_t *q; // 24
    output_t *o;        // 28
    int32_t next;       // 32: from where a filter's next row would be to the next filter
    int32_t offset;     // 36
    int32_t is_long;    // 40: whether finish_rows() does not take it
    int32_t bias;       // 44
    int32_t width;      // 48: bytes of the words of a row
    int32_t gap;        // 52: bytes after them
    int32_t *end;       // 56: where the next row's would be
    int32_t taps;       // 60
} channel_t;

// A channel's filter to words, 33 cycles per row of three weights, of others 12 per weight and 17 per row, and what its sums become
// outputs by: 75. Sums are short unless a scale has run away or a program is wrong, or a filter or a bias is large: no sum of n
// magnitudes is more than the root of n times their squares' sum, and no input, less zx, than 255. Returns whether a weight is -128,
// which none is (numerics.md): two of its products do not fit a lane. r0: sum, r1: from, r2: to, r3: step, r4-r6: weights, r7: all
// squares' bits, r12: their sum, lr: skip; then as they are named. The stack: channel.
__attribute__((naked, noinline)) static int load_channel(channel_t *channel) {
    (void)channel;
    __asm volatile (
        ".syntax unified\n"
        ".macro odt_weight w\n"
        "ldrsb \\w, [r1, r3]\n"
        "adds r1, r1, r3\n"
        ".endm\n"
        ".macro odt_square w\n"
        "adds r0, r0, \\w\n"
        "muls \\w, \\w\n"
        "add r12, \\w\n"
        "orrs r7, \\w\n"
        ".endm\n"
        "push {r0, r4-r7, lr}\n"
        "ldr r5, [r0, #48]\n"
        "ldmia r0!, {r1-r4}\n"
        "mov lr, r4\n"
        "movs r0, #0\n"
        "movs r7, #0\n"
        "mov r12, r0\n"
        "cmp r5, #12\n"
        "bne 2f\n"
        "1:\n"
        "odt_weight r4\n"
        "odt_weight r5\n"
        "odt_weight r6\n"
        "stmia r2!, {r4-r6}\n"
        "odt_square r4\n"
        "odt_square r5\n"
        "odt_square r6\n"
        "add r1, lr\n"
        "ldr r5, [sp]\n"
        "ldr r6, [r5, #56]\n"
        "cmp r2, r6\n"
        "bne 1b\n"
        "b 4f\n"
        "2:\n"
        "ldr r5, [sp]\n"
        "ldr r6, [r5, #48]\n"
        "adds r6, r6, r2\n"
        "3:\n"
        "odt_weight r4\n"
        "stmia r2!, {r4}\n"
        "odt_square r4\n"
        "cmp r2, r6\n"
        "bne 3b\n"
        "add r1, lr\n"
        "ldr r6, [r5, #52]\n"
        "adds r2, r2, r6\n"
        "ldr r6, [r5, #56]\n"
        "cmp r2, r6\n"
        "bne 2b\n"
        "4:\n"
        "movs r2, r5\n"
        "ldr r3, [r2, #32]\n"
        "adds r1, r1, r3\n"
        "str r1, [r2]\n"
        "adds r2, #16\n"
        "ldmia r2!, {r3-r6}\n" // zx, bias, q, o
        "muls r0, r3\n"
        "movs r1, #0\n"
        "cmp r4, #0\n"
        "beq 1f\n"
        "ldmia r4!, {r1}\n"
        "1:\n"
        "subs r0, r1, r0\n" // offset
        "subs r2, #12\n"
        "str r4, [r2]\n"
        "str r1, [r2, #24]\n"
        "cmp r1, #0\n"
        "bpl 2f\n"
        "negs r1, r1\n"
        "2:\n"
        "movs r4, #1\n"
        "lsls r3, r4, #19\n"
        "subs r3, r3, r1\n"
        "bcc 3f\n"
        "lsrs r3, r3, #8\n" // the most that the root may be
        "muls r3, r3\n"
        "ldr r1, [r2, #40]\n"
        "mov r4, r12\n"
        "muls r4, r1\n"
        "subs r4, r4, r3\n"
        "asrs r4, r4, #31\n"
        "adds r4, #1\n"
        "3:\n" // r4: is_long
        "ldmia r5!, {r1, r3}\n" // m: not negative, of 24 bits, s: 33 to 62
        "str r5, [r2, #4]\n"
        "asrs r5, r1, #31\n"
        "orrs r4, r5\n"
        "lsls r5, r1, #25\n"
        "orrs r4, r5\n"
        "lsls r5, r1, #13\n"
        "lsrs r5, r5, #20\n"
        "str r5, [r6, #16]\n"
        "asrs r1, r1, #19\n"
        "str r1, [r6, #20]\n"
        "subs r3, #33\n"
        "cmp r3, #29\n"
        "bls 4f\n"
        "movs r4, #1\n"
        "4:\n"
        "adds r3, #14\n"
        "str r3, [r6, #24]\n"
        "adds r2, #16\n"
        "stmia r2!, {r0, r4}\n"
        "lsrs r0, r7, #14\n"
        "add sp, #4\n"
        "pop {r4-r7, pc}\n"
        ".purgem odt_weight\n"
        ".purgem odt_square\n"
        );
}

// Before the first channel. With `width` above a->KW rows get taps of 0.
static void begin_channels(channel_t *c, const odt_depthwise_t *a, int32_t first, int32_t *w, int32_t width, output_t *o) {
    int32_t KH = a->KH, KW = a->KW;
    c->from = a->w + first * a->w_n - a->w_kw;
    c->to = w;
    c->step = a->w_kw;
    c->skip = a->w_kh - KW * a->w_kw;
    c->zx = a->zx;
    c->biases = a->bias ? a->bias + first : NULL;
    c->q = a->q + first;
    c->o = o;
    c->next = a->w_n - KH * a->w_kh;
    c->width = KW * 4;
    c->gap = (width - KW) * 4;
    c->end = w + KH * width;
    c->taps = KH * KW;
}

// Rows of outputs, of which sums of `even` lie before the next one's.
static void begin_rows(output_t *o, const odt_depthwise_t *a, int32_t rows, int32_t columns, int32_t even) {
    o->none = (even - columns) * 4;
    o->skip = a->y_oh - columns * a->y_ow;
    if (o->skip == 0 && o->none == 0) { // as one
        columns *= rows;
        rows = 1;
    }
    o->columns = columns * 4;
    o->rows = rows;
}

// As finish_rows(), by any multiplier.
static __attribute__((noinline)) void finish_slowly(const odt_depthwise_t *a, int32_t n, const output_t *o,
    const int32_t *sums, int8_t *y) {
    odt_multiplier_t by = odt_checked(&a->q[n]);
    int32_t columns = o->columns / 4, even = columns + o->none / 4;
    if (odt_is_beyond(by, a->zy, a->lo, *a->peak)) {
        odt_beyond_t b = odt_beyond(by, a->zy, a->lo, a->peak);
        for (int32_t rows = o->rows; rows; rows--, y += o->skip + columns * a->y_ow, sums += even) {
            odt_beyond_outputs(&b, sums, 1, 0, columns, y, a->y_ow);
        }
        odt_beyond_peak(&b);
        return;
    }
    odt_rescaler_t q = odt_rescaler(by);
    for (int32_t rows = o->rows; rows; rows--, y += o->skip, sums += even - columns) {
        for (int32_t i = columns; i; i--, y += a->y_ow) {
            *y = odt_clamp_by(odt_rescale_by(&q, *sums++), a->zy, a->lo, a->peak);
        }
    }
}

// Sums to the outputs from y on.
static inline __attribute__((always_inline)) void finish(const odt_depthwise_t *a, int32_t n, const channel_t *c, output_t *o, const int32_t *sums, int8_t *y) {
    if (c->is_long) {
        finish_slowly(a, n, o, sums, y);
    } else {
        o->y = y;
        finish_rows(sums, o);
    }
}

// What outputs leave their range by, and the peak there was; whether a program is not wrong.
static int begin_outputs(output_t *o, const odt_depthwise_t *a) {
    int32_t zy = a->zy, lo = a->lo, peak = *a->peak;
    // Field by field, as a copy of the whole takes long on an RP2040.
    o->step = a->y_ow;
    o->is_cut = lo == zy;
    o->high = 127;
    o->low = lo;
    o->max = zy + peak;
    o->min = zy - (lo == zy ? 1 << 30 : peak); // after a ReLU: no peak
    o->least = odt_max(o->min, o->low);
    o->from = zy - o->least;
    o->span = odt_min(o->max, o->high) - o->least;
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

// Pixels of two images, `step` bytes apart, less zx.
static __attribute__((noinline)) void pair_pixels(int32_t *x, const int32_t *end, const int8_t *at, const int8_t *next,
    int32_t step, int32_t zx) {
    for (int32_t both = zx + zx * 65536; x != end; x++, at += step, next += step) {
        *x = *next * 65536 + *at - both;
    }
}

// Images of a few pixels, two at a time; those that follow one another are finished as one. A single one takes less as a tile.
static int depthwise_tiny(const odt_depthwise_t *a, int32_t first, int32_t stop) {
    int32_t sums[ODT_TILE_SUMS], w[TAPS], x[ODT_TINY], N = a->N;
    odt_tiny_t tiny;
    channel_t c;
    output_t o;
    if (a->KH < 1 || a->KW < 1 || a->zx != (int8_t)a->zx || a->B == 1 || !odt_tiny_plan(&tiny, &a->H) || !begin_outputs(&o, a)) {
        return 0;
    }
    tiny_taps_t taps = {.taps = tiny.taps, .x = x, .w = w};
    begin_channels(&c, a, first, w, a->KW, &o);
    int32_t size = tiny.pixels * N, most = a->y_b == a->OH * a->y_oh ? ODT_TILE_SUMS / tiny.outputs & ~1 : 1; // images
    for (int32_t n = first; n < stop; n++) {
        if (n % 4 == 0 || a->B > most) {
            odt_poll();
        }
        if (load_channel(&c)) {
            return 0;
        }
        for (int32_t b = 0; b < a->B; b += most) {
            const int8_t *from = a->x + b * size + n;
            taps.sums = sums;
            taps.bias = c.bias;
            for (int32_t left = odt_min(a->B - b, most); left > 0; left -= 2, from += 2 * size) {
                pair_pixels(x, x + tiny.pixels, from, left > 1 ? from + size : from, N, a->zx);
                taps.end = taps.sums + tiny.outputs;
                taps.others = left > 1 ? taps.end : taps.sums; // which are written first
                sum_taps(&taps);
                taps.sums = taps.end + tiny.outputs;
            }
            begin_rows(&o, a, a->OH * odt_min(a->B - b, most), a->OW, a->OW);
            finish(a, n, &c, &o, sums, a->y + b * a->y_b + n);
        }
    }
    add_peak(&o, a);
    return 1;
}

// Rows of windows of 3x3, a stride of 2 apart, as sum_strided loads them.
typedef struct {
    const int32_t *w;   // 0
    int32_t zx;         // 4
    int32_t step, row;  // 8, 12: bytes from a column's last row to the next one's first, less a row; from a row to the next
    int32_t *sums;      // 16
    int32_t width;      // 20: bytes of the sums of a row, less the last
    int32_t is_left, is_right; // 24, 28: whether there is padding
    int32_t next;       // 32: bytes from the end of a row of windows to the next
    int32_t *end;       // 36: of the sums
} strided_t;

// Windows of 3x3 in an image as it lies: 48 cycles for 9 products, 41 per row. A pixel of an even column of a window is multiplied by
// the weights of its first column and, in the upper half, its third: these are what it adds to a sum and to the one before. r0: x,
// r1: the first of the odd columns' weights, r2: row, r3: sums, r4: the sum, r5, r6: products, r7: a weight, r8-r10: the even columns'
// weights, r11: step, r12: the bias, less zx times all weights, lr: where the row's last sum lies.
__attribute__((naked, noinline)) static void sum_strided(const strided_t *strided, const int8_t *x, int32_t bias) {
    (void)strided, (void)x, (void)bias;
    __asm volatile (
        ".syntax unified\n"
        ".macro odt_even\n" // r5: both products of two rows, r6: of the third
        "ldrsb r5, [r0, r2]\n"
        "mov r7, r8\n"
        "muls r5, r7\n"
        "adds r0, r0, r2\n"
        "ldrsb r6, [r0, r2]\n"
        "mov r7, r9\n"
        "muls r6, r7\n"
        "adds r5, r5, r6\n"
        "adds r0, r0, r2\n"
        "ldrsb r6, [r0, r2]\n"
        "mov r7, r10\n"
        "muls r6, r7\n"
        "add r0, r11\n"
        ".endm\n"
        ".macro odt_weights even\n"
        "ldmia r1!, {r4-r6}\n"
        "add lr, r4\n"
        "adds r7, r7, r5\n"
        "add r12, r6\n"
        "lsls r6, r6, #16\n"
        "adds r4, r4, r6\n"
        "mov \\even, r4\n"
        ".endm\n"
        ODT_SAVE_REGISTERS
        // 0, 4: the odd columns' weights, 8: strided, 12: x, then what padding is in a row's first sum, 16: in the last, 20: the end of the sums
        "sub sp, #24\n"
        "str r0, [sp, #8]\n"
        "str r1, [sp, #12]\n"
        "ldr r3, [r0, #36]\n"
        "str r3, [sp, #20]\n"
        "ldmia r0!, {r1, r3}\n"
        "movs r7, #0\n" // lr, r7, r12: sums of columns of weights
        "mov lr, r7\n"
        "mov r12, r7\n"
        "odt_weights r8\n"
        "mov r11, r5\n"
        "odt_weights r9\n"
        "str r5, [sp, #4]\n"
        "odt_weights r10\n"
        "str r5, [sp]\n"
        "mov r4, lr\n"
        "mov r5, r12\n"
        "adds r7, r7, r4\n"
        "adds r7, r7, r5\n"
        "muls r7, r3\n"
        "subs r2, r2, r7\n"
        "mov r12, r2\n"
        "muls r4, r3\n"
        "adds r4, r4, r2\n"
        "muls r5, r3\n"
        "movs r7, r0\n"
        "ldr r0, [sp, #12]\n"
        "str r4, [sp, #12]\n"
        "str r5, [sp, #16]\n"
        "mov r1, r11\n"
        "ldmia r7!, {r4}\n"
        "mov r11, r4\n"
        "ldmia r7!, {r2, r3}\n"
        "1:\n"
        "ldr r7, [sp, #8]\n"
        "ldr r4, [r7, #20]\n"
        "adds r4, r4, r3\n"
        "mov lr, r4\n"
        "ldr r4, [sp, #12]\n"
        "ldr r5, [r7, #24]\n"
        "cmp r5, #0\n"
        "bne 3f\n"
        "odt_even\n"
        "sxth r4, r5\n"
        "sxth r6, r6\n"
        "adds r4, r4, r6\n"
        "add r4, r12\n"
        "b 3f\n"
        "2:\n"
        "odt_even\n"
        "sxth r7, r5\n"
        "asrs r5, r5, #16\n"
        "adcs r4, r5\n"
        "sxth r5, r6\n"
        "asrs r6, r6, #16\n"
        "adcs r4, r6\n"
        "stmia r3!, {r4}\n"
        "adds r4, r7, r5\n"
        "add r4, r12\n"
        "3:\n"
        "ldrsb r5, [r0, r2]\n"
        "muls r5, r1\n"
        "adds r4, r4, r5\n"
        "adds r0, r0, r2\n"
        "ldrsb r5, [r0, r2]\n"
        "ldr r7, [sp, #4]\n"
        "muls r5, r7\n"
        "adds r4, r4, r5\n"
        "adds r0, r0, r2\n"
        "ldrsb r5, [r0, r2]\n"
        "ldr r7, [sp]\n"
        "muls r5, r7\n"
        "adds r4, r4, r5\n"
        "add r0, r11\n"
        "cmp r3, lr\n"
        "bne 2b\n"
        "ldr r7, [sp, #8]\n"
        "ldr r5, [sp, #16]\n"
        "ldr r6, [r7, #28]\n"
        "cmp r6, #0\n"
        "bne 4f\n"
        "odt_even\n"
        "asrs r5, r5, #16\n"
        "adcs r4, r5\n"
        "asrs r5, r6, #16\n"
        "adcs r4, r5\n"
        "movs r5, #0\n"
        "ldr r7, [sp, #8]\n"
        "4:\n"
        "adds r4, r4, r5\n"
        "stmia r3!, {r4}\n"
        "ldr r5, [r7, #32]\n"
        "adds r0, r0, r5\n"
        "ldr r5, [sp, #20]\n"
        "cmp r3, r5\n"
        "bne 1b\n"
        "add sp, #24\n"
        ODT_RESTORE_REGISTERS
        ".purgem odt_even\n"
        ".purgem odt_weights\n"
        );
}

// Whether it is a filter of 3x3 with strides, which are 2: an input meets 2.25 products, of which a word of two weights makes two, and
// so takes less as it lies than in a tile. Of padding there is a row and a column at most on each side.
static int is_strided(const odt_depthwise_t *a) {
    return a->KH == 3 && a->KW == 3 && a->SH == 2 && a->SW == 2 && a->H >= 3 && a->zx == (int8_t)a->zx && (a->top | a->left | 1) == 1
        && 2 * a->OH - a->top <= a->H && 2 * a->OW - a->left <= a->W && (uint32_t)a->OW - 1 < ODT_TILE_SUMS;
}

// Rows oh .. of an image: windows that reach over it are taken to lie a row further down, or up, so that a row of 0 lies on the
// padding. w: the filter, between such rows.
static void sum_as_it_lies(strided_t *s, const odt_depthwise_t *a, const int32_t *w, const int8_t *x, int32_t bias, int32_t *sums,
    int32_t oh, int32_t rows) {
    int32_t inside = a->H - 3; // where the last windows begin that do not
    for (int32_t ih = 2 * oh - a->top, count; rows; ih += 2 * count, rows -= count, sums = s->end) {
        int32_t down = (ih < 0) - (ih > inside);
        count = down ? 1 : odt_min(((inside - ih) >> 1) + 1, rows);
        s->w = w + 3 * down;
        s->sums = sums;
        s->end = sums + count * a->OW;
        sum_strided(s, x + (ih + down - 1) * a->x_h, bias);
    }
}

// Images in which it does, a channel at a time.
static __attribute__((noinline)) int depthwise_strided(const odt_depthwise_t *a, int32_t first, int32_t stop) {
    int32_t sums[ODT_TILE_SUMS], w[9 + 2 * 3] = {0};
    channel_t c;
    output_t o;
    if (!is_strided(a) || !begin_outputs(&o, a)) {
        return 0;
    }
    int32_t last = 2 * a->OW - a->left, right = last == a->W; // last: the last window's last column
    int32_t high = odt_min(ODT_TILE_SUMS / a->OW, a->OH), image = a->H * a->W * a->N, unpolled = 0;
    strided_t s = {.zx = a->zx, .step = a->x_w - 2 * a->x_h, .row = a->x_h, .width = a->OW * 4 - 4, .is_left = a->left,
        .is_right = right, .next = 2 * a->x_h - (last + 1 - right) * a->x_w};
    begin_channels(&c, a, first, w + 3, 3, &o);
    begin_rows(&o, a, a->OH, a->OW, a->OW);
    for (int32_t n = first; n < stop; n++) {
        const int8_t *x = a->x + n;
        int8_t *y = a->y + n;
        if (load_channel(&c)) {
            return 0;
        }
        for (int32_t b = a->B; b; b--, x += image, y += a->y_b) {
            for (int32_t oh = 0; oh < a->OH; oh += high) {
                int32_t rows = odt_min(high, a->OH - oh);
                unpolled += rows * a->OW;
                if (unpolled >= ODT_TILE_SUMS) {
                    unpolled = 0;
                    odt_poll();
                }
                if (high < a->OH) {
                    begin_rows(&o, a, rows, a->OW, a->OW);
                }
                sum_as_it_lies(&s, a, w + 3, x, c.bias, sums, oh, rows);
                finish(a, n, &c, &o, sums, y + oh * a->y_oh);
            }
        }
    }
    add_peak(&o, a);
    return 1;
}

// About the cycles of a row of outputs of 3x3, summed in groups of 4 or 2.
static int32_t cost(int32_t columns, int32_t group) {
    return 35 + (columns + group - 1) / group * (group == 4 ? 130 : 73);
}

static int depthwise(const odt_depthwise_t *a, int32_t first, int32_t stop) {
    int32_t words[ODT_TILE_WORDS + 2], sums[ODT_TILE_SUMS];
    int32_t KH = a->KH, KW = a->KW, K = odt_max(KH, KW), is_line = KH == 1 && KW <= 3;
    if (is_line) { // small ones get taps of 0, so that they are 1x3, 2x2 or 3x3
        KW = 3;
    } else if (K <= 3) {
        KH = KW = odt_max(K, 2);
    }
    odt_tile_t t = {.H = a->H, .W = a->W, .x_h = a->x_h, .x_w = a->x_w, .KH = KH, .KW = KW, .SH = a->SH, .SW = a->SW,
        .top = a->top, .left = a->left, .OH = a->OH, .OW = a->OW, .zx = a->zx, .most = ODT_TILE_SUMS, .words = words};
    t.group = K == 3 && !is_line && a->SW == 1 && cost(a->OW, 4) <= cost(a->OW, 2) ? 4 : 2;
    int32_t w[TAPS] = {0};
    channel_t c;
    output_t o;
    if (a->KH < 1 || a->KW < 1 || KH * KW > TAPS || !odt_tile_plan(&t) || !begin_outputs(&o, a)) {
        return 0;
    }
    while (odt_tile_next(&t)) {
        odt_windows_t windows = {.w = w, .x = odt_tile_windows(&t), .sums = sums, .row = (t.pitch - KW) * 4,
            .back = (t.group * t.SW - (KH - 1) * t.pitch - KW) * 4, .even = t.even * 4,
            .skip = (t.SH * t.pitch - t.SW * t.even) * 4, .rows = t.rows};
        int8_t *y = a->y + t.oh * a->y_oh + t.ow * a->y_ow;
        begin_rows(&o, a, t.rows, t.columns, t.even);
        begin_channels(&c, a, first, w, KW, &o);
        for (int32_t n = first; n < stop; n++) {
            if (load_channel(&c)) {
                return 0;
            }
            windows.offset = c.offset;
            for (int32_t b = 0; b < a->B; b++) {
                odt_tile_poll(&t);
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
                finish(a, n, &c, &o, sums, y + b * a->y_b + n);
            }
        }
    }
    add_peak(&o, a);
    return 1;
}

// The squares' sums lie in the image's order; padding, if it is odd, hides a first row and a first column.
int odt_depthwise_dx_i8__m0(const odt_depthwise2d_dx_i8_t *a, int32_t first, int32_t stop, int32_t *peak) {
    int32_t words[ODT_TILE_WORDS + 2], sums[ODT_TILE_SUMS], w[9] = {0}, N = a->N, H = a->H, W = a->W;
    odt_squares_t s;
    if (!odt_find_squares(&s, a)) {
        return 0;
    }
    odt_depthwise_t d = {.w = a->w, .q = a->q, .peak = peak, .KH = a->KH, .KW = a->KW, .lo = -127, .w_n = a->KH * a->KW,
        .w_kh = a->KW, .w_kw = 1, .y_oh = W * N, .y_ow = N};
    odt_tile_t t = {.H = a->OH, .W = a->OW, .x_h = a->OW * N, .x_w = N, .KH = 2, .KW = 2, .SH = 1, .SW = 1, .top = -s.top,
        .left = -s.left, .OH = s.high, .OW = s.wide, .group = 2, .most = ODT_TILE_SUMS / 4, .words = words};
    channel_t c;
    output_t o;
    if (!odt_tile_plan(&t) || !begin_outputs(&o, &d)) {
        return 0;
    }
    while (odt_tile_next(&t)) {
        int32_t even = 2 * t.even, ih = 2 * t.oh - a->PT % 2, iw = 2 * t.ow - a->PL % 2;
        int32_t above = odt_max(-ih, 0), beside = odt_max(-iw, 0);
        int32_t rows = odt_min(2 * t.rows, H - ih) - above, columns = odt_min(2 * t.columns, W - iw) - beside;
        odt_windows_t windows = {.w = w, .x = odt_tile_windows(&t), .sums = sums, .row = t.pitch * 4, .even = even * 4,
            .skip = (t.pitch - t.even) * 4, .rows = t.rows};
        int8_t *y = a->dx + (ih + above) * d.y_oh + (iw + beside) * N;
        begin_rows(&o, &d, rows, columns, even);
        begin_channels(&c, &d, first, w, 3, &o);
        for (int32_t n = first; n < stop; n++) {
            if (load_channel(&c)) {
                return 0;
            }
            for (int32_t b = 0; b < a->B; b++) {
                odt_tile_poll(&t);
                odt_tile_fill(&t, a->e + b * a->OH * a->OW * N + n);
                odt_sum_squares(&windows);
                finish(&d, n, &c, &o, sums + above * even + beside, y + b * H * d.y_oh + n);
            }
        }
    }
    add_peak(&o, &d);
    return 1;
}

int odt_depthwise_i8__m0(const odt_depthwise_t *a, int32_t first, int32_t stop) {
    if (depthwise_tiny(a, first, stop) || depthwise_strided(a, first, stop)) {
        return 1;
    }
    int32_t by_rows = odt_min(cost(a->OW, 4), cost(a->OW, 2)), by_columns = odt_min(cost(a->OH, 4), cost(a->OH, 2));
    if (a->KH == 1 || (a->KW != 1 && a->OW * by_columns >= a->OH * by_rows)) {
        return depthwise(a, first, stop);
    }
    odt_depthwise_t turned = odt_turned(a);
    return depthwise(&turned, first, stop); // columns are longer, go up in groups, or are all of a filter
}

#endif
