// Depthwise convolutions on a Cortex-M0+, forward and the gradient of the input. One channel and one tile of its inputs
// (depthwise2d_tile_i8__m0.h) are processed at a time. One MULS makes two products, as in panel_i8__m0.inc: a weight
// times the inputs of two adjacent outputs. With a stride of 2 it multiplies two weights by an input, which needs no
// tile. The stack holds 3.1 KB.

#include "../../core.h"
#include "depthwise2d_sum_i8__m0.h"

#if ODT_M0_DEPTHWISE

#include <string.h>

#include "../../fixed.h"
#include "../../common/saturated.h"
#include "registers__m0.h"
#include "../../common/window.h"
#include "finish_i8__m0.h"

ODT_BESIDE_ASSEMBLY

enum { TAPS = 81 }; // of a filter, whose words the stack holds

_Static_assert(offsetof(odt_depthwise_t, w) == offsetof(odt_correlation_t, w)
        && offsetof(odt_depthwise_t, B) == offsetof(odt_correlation_t, B)
        && offsetof(odt_depthwise_t, y_ow) == offsetof(odt_correlation_t, y_ow),
    "as odt_correlate_one_i8__m0() copies them");

// How a channel's sums become outputs, including zy.
typedef struct {
    int32_t none;           // 0: bytes after a row of sums
    int32_t step;           // 4
    int32_t columns, rows;  // 8, 12: bytes of the sums of a row; rows
    int32_t m_low, m_high;  // 16, 20: 12 bits each
    int32_t shift;          // 24: q.s - 19
    int32_t is_cut;         // 28: whether outputs are clamped at zy, as after a ReLU
    int32_t high, low;      // 32, 36
    int32_t max, min;       // 40, 44: the peaks so far
    int32_t from, span;     // 48, 52: zy - least, and the largest result - least
    int32_t least;          // 56: the least result that is neither out of range nor a new peak
    int32_t skip;           // 60: bytes after a row of outputs
} output_t;

ODT_FINISH_AT(output_t, high, low, max, min);

// A channel, and the steps by which run_planes() advances to the next one.
typedef struct {
    const int8_t *from; // 0: the first weight - step
    int32_t *to;        // 4: words
    int32_t step;       // 8: from one weight of a row to the next
    int32_t skip;       // 12: from the end of a row of weights to the next row
    int32_t *end;       // 16: the end of the words of the last row
    // 20: the bias's magnitude below which sums are short; 0: filters are large or do not have three columns
    int32_t limit;
    int32_t zx;         // 24
    const int32_t *biases;     // 28: or NULL
    const odt_multiplier_t *q; // 32
    output_t *o;        // 36
    int32_t next;       // 40: from the end of a filter's last row to the next filter
    int32_t is_long;    // 44: whether finish_slowly() must be used
    int32_t bias;       // 48
    int32_t width;      // 52: bytes of the words of a row
    int32_t gap;        // 56: bytes between rows of words
    int32_t taps;       // 60
} channel_t;

// The outputs of a tile: for all images of a channel, then for the next channel.
typedef struct planes {
    channel_t c;           // 0
    odt_windows_t windows; // 64
    int32_t unpolled;      // 108: outputs since poll() was called
    int32_t outputs;       // 112: of an image
    const int8_t *x;       // 116: an image; y: its outputs
    int8_t *y;             // 120
    const int32_t *sums;   // 124: the first sum that becomes an output
    odt_tile_rows_t *fill; // 128
    int32_t at;            // 132: from x to the tile's first input
    odt_tile_fill_t *fill_by;                                         // 136
    void (*sum_by)(const odt_windows_t *);                            // 140
    int32_t left;          // 144: images
    int32_t x_b, y_b;      // 148, 152: from an image to the next image
    int32_t x_n, y_n;      // 156, 160: from the last image to the first of the next channel
    int32_t B;             // 164
    int32_t channels;      // 168
    void (*poll)(void);    // 172
    void (*finish_slowly)(const struct planes *); // 176
    const odt_depthwise_t *a;
} planes_t;

_Static_assert(offsetof(planes_t, windows) == 64 && offsetof(planes_t, unpolled) == 108
        && offsetof(planes_t, finish_slowly) == 176,
    "as run_planes() loads them");

// Channels first .. stop - 1 of a tile. First the channel's filter is converted to words, 26 cycles per row of three
// weights, otherwise 13 per weight and 8 per row, and the parameters of its outputs are computed: 65. Sums are short
// unless a scale has diverged, a program is wrong, or a filter or a bias is large: a sum of n magnitudes is at most
// sqrt(n * the sum of their squares), and |x - zx| is at most 255. Returns whether a weight is -128, two of whose
// products do not fit a lane (never: numerics.md). r0: sum, r1: from, r2: to, r3: step, r4-r6: weights, r7: all
// squares' bits, r8: end, r9: skip, r10: gap, r11: width, r12: the squares' sum.
//
// Then rows of sums are converted to outputs, o->y[i * o->step]. Sums have at most 19 bits and a sign. 15.75 cycles per
// output, and 24 per row; if outputs are clamped at zy 16.75, or 12.75 for a clamped one; an output out of range takes
// 18 more. r0: sums, r8: bytes of the sums of a row, r9: their end; the others as in ODT_FINISH_MACROS. On the stack:
// 0: o, 4: rows; planes.
__attribute__((naked, noinline)) static int run_planes(planes_t *planes) {
    (void)planes;
    __asm volatile (
        ".syntax unified\n"
        ODT_FINISH_MACROS
        ".macro odt_weight w\n"
        "ldrsb \\w, [r1, r3]\n"
        "adds r1, r1, r3\n"
        ".endm\n"
        ".macro odt_bits w\n"
        "adds r0, r0, \\w\n"
        "muls \\w, \\w\n"
        "orrs r7, \\w\n"
        ".endm\n"
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
        "mov r2, r8\n" // first the remainder of groups of four
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
        "ldr r3, [r2]\n"
        "adds r0, r0, r3\n"
        "ldr r3, [r2, #60]\n"
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
        "push {r0}\n"
        // The channel.
        "100:\n"
        "ldr r0, [sp]\n"
        "ldmia r0!, {r1-r6}\n"
        "mov r9, r4\n"
        "mov r8, r5\n"
        "movs r7, #0\n"
        "movs r0, #0\n"
        "cmp r6, #0\n"
        "bne 101f\n"
        "b 102f\n"
        "101:\n"
        "odt_weight r4\n"
        "odt_weight r5\n"
        "odt_weight r6\n"
        "stmia r2!, {r4-r6}\n"
        "odt_bits r4\n"
        "odt_bits r5\n"
        "odt_bits r6\n"
        "add r1, r9\n"
        "cmp r2, r8\n"
        "bne 101b\n"
        "105:\n"
        "lsrs r7, r7, #14\n"
        "beq 106f\n"
        "movs r0, r7\n"
        "b 125f\n"
        "106:\n"
        "ldr r2, [sp]\n"
        "ldr r3, [r2, #40]\n"
        "adds r1, r1, r3\n"
        "str r1, [r2]\n"
        "movs r1, r2\n"
        "adds r1, #20\n"
        "ldmia r1!, {r3-r7}\n" // limit, zx, bias, q, o
        "muls r0, r4\n"
        "movs r1, #0\n"
        "cmp r5, #0\n"
        "beq 107f\n"
        "ldmia r5!, {r1}\n"
        "str r5, [r2, #28]\n"
        "107:\n"
        "str r1, [r2, #48]\n"
        "subs r0, r1, r0\n"
        "str r0, [r2, #76]\n"
        "asrs r4, r1, #31\n"
        "adds r1, r1, r4\n"
        "eors r1, r4\n"
        "cmp r3, #0\n"
        "bne 108f\n"
        "movs r4, #1\n"
        "lsls r3, r4, #19\n"
        "subs r3, r3, r1\n"
        "bcc 109f\n"
        "lsrs r3, r3, #8\n" // the largest possible root
        "muls r3, r3\n"
        "ldr r1, [r2, #60]\n"
        "mov r4, r12\n"
        "muls r4, r1\n"
        "subs r4, r4, r3\n"
        "asrs r4, r4, #31\n"
        "adds r4, #1\n"
        "b 109f\n"
        "108:\n"
        "cmp r3, r1\n"
        "sbcs r4, r4\n"
        "109:\n" // r4: is_long
        "ldmia r6!, {r1, r3}\n" // m: not negative, of 24 bits, s: 33 to 62
        "str r6, [r2, #32]\n"
        "asrs r5, r1, #31\n"
        "orrs r4, r5\n"
        "lsls r5, r1, #25\n"
        "orrs r4, r5\n"
        "lsls r0, r1, #13\n"
        "lsrs r0, r0, #20\n"
        "asrs r1, r1, #19\n"
        "subs r3, #33\n"
        "cmp r3, #29\n"
        "bls 110f\n"
        "movs r4, #1\n"
        "110:\n"
        "adds r3, #14\n"
        "adds r7, #16\n"
        "stmia r7!, {r0, r1, r3}\n"
        "str r4, [r2, #44]\n"
        // An image.
        "120:\n"
        "ldr r7, [sp]\n"
        "adds r7, #108\n"
        "ldmia r7!, {r0, r1, r2}\n"
        "adds r0, r0, r1\n"
        "lsrs r1, r0, #8\n"
        "beq 121f\n"
        "ldr r1, [r7, #52]\n"
        "blx r1\n"
        "movs r0, #0\n"
        "121:\n"
        "subs r7, #12\n"
        "stmia r7!, {r0}\n"
        "ldr r2, [r7, #4]\n"
        "ldr r0, [r7, #16]\n"
        "ldr r1, [r7, #20]\n"
        "adds r2, r2, r1\n"
        "str r2, [r0, #4]\n"
        "ldr r1, [r7, #24]\n"
        "blx r1\n"
        "ldr r0, [sp]\n"
        "adds r0, #64\n"
        "ldr r1, [r0, #76]\n"
        "blx r1\n"
        "ldr r0, [sp]\n"
        "ldr r1, [r0, #44]\n"
        "cmp r1, #0\n"
        "beq 122f\n"
        "movs r7, r0\n"
        "adds r7, #176\n"
        "ldr r1, [r7]\n"
        "blx r1\n"
        "b 123f\n"
        "122:\n"
        "ldr r7, [r0, #36]\n"
        "ldr r2, [r0, #120]\n"
        "ldr r0, [r0, #124]\n"
        "movs r1, r7\n"
        "adds r7, #4\n"
        "ldmia r7!, {r3, r5, r6}\n"
        "mov r12, r3\n"
        "mov r8, r5\n"
        "push {r1, r6}\n"
        "adds r1, #48\n"
        "ldmia r1!, {r4-r6}\n"
        "mov r10, r5\n"
        "mov r11, r6\n"
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
        "123:\n"
        "ldr r7, [sp]\n"
        "adds r7, #116\n"
        "ldmia r7!, {r0, r1}\n"
        "movs r6, r7\n"
        "adds r6, #20\n" // 144
        "ldmia r6!, {r2-r4}\n"
        "subs r2, #1\n"
        "beq 124f\n"
        "str r2, [r7, #20]\n"
        "adds r0, r0, r3\n"
        "adds r1, r1, r4\n"
        "subs r7, #8\n"
        "stmia r7!, {r0, r1}\n"
        "b 120b\n"
        "124:\n"
        "ldmia r6!, {r2-r5}\n" // 156
        "str r4, [r7, #20]\n"
        "adds r0, r0, r2\n"
        "adds r1, r1, r3\n"
        "subs r7, #8\n"
        "stmia r7!, {r0, r1}\n"
        "subs r5, #1\n"
        "str r5, [r7, #44]\n"
        "beq 126f\n"
        "b 100b\n"
        "126:\n"
        "movs r0, #0\n"
        "125:\n" // r0: not 0 if a weight is -128
        "add sp, #4\n"
        ODT_RESTORE_REGISTERS
        "102:\n"
        "mov r12, r6\n"
        "ldr r4, [sp]\n"
        "adds r4, #52\n"
        "ldmia r4!, {r5, r6}\n"
        "mov r11, r5\n"
        "mov r10, r6\n"
        "103:\n"
        "movs r6, r2\n"
        "add r6, r11\n"
        "104:\n"
        "odt_weight r4\n"
        "stmia r2!, {r4}\n"
        "odt_bits r4\n"
        "add r12, r4\n"
        "cmp r2, r6\n"
        "bne 104b\n"
        "add r1, r9\n"
        "add r2, r10\n"
        "cmp r2, r8\n"
        "bne 103b\n"
        "b 105b\n"
        "81:\n"
        ODT_FINISH_RARE
        ODT_FINISH_PURGE
        ".purgem odt_weight\n"
        ".purgem odt_bits\n"
        ".purgem odt_finish_one\n"
        ".purgem odt_finish_else\n"
        ".purgem odt_finish_kind\n"
        );
}

static inline const planes_t *planes_of(const odt_windows_t *windows) {
    return (const planes_t *)((const char *)windows - offsetof(planes_t, windows));
}

static void poll(void) {
    odt_poll();
}

// Computes outputs like run_planes(), with any multiplier.
static void finish_slowly(const planes_t *p) {
    const odt_depthwise_t *a = p->a;
    const output_t *o = p->c.o;
    const int32_t *sums = p->sums;
    int8_t *y = p->y;
    odt_multiplier_t by = odt_checked(p->c.q - 1);
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

// Prepares the filters before the first channel. If `width` is above a->KW, rows get taps of 0.
static void begin_channels(
    planes_t *p, const odt_depthwise_t *a, int32_t first, int32_t *w, int32_t width, output_t *o) {
    int32_t KH = a->KH, KW = a->KW;
    channel_t *c = &p->c;
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
    c->limit = KW == 3 && width == 3 && KH <= 3 ? (1 << 19) - 3 * 127 * 255 * KH : 0;
    p->windows.w = w;
    p->a = a;
    p->poll = poll;
    p->finish_slowly = finish_slowly;
}

// Prepares the layout of the inputs.
static void begin_tile(planes_t *p, odt_tile_t *t) {
    p->outputs = t->rows * t->even;
    p->fill = &t->fill;
    p->at = t->from;
    p->fill_by = odt_tile_filler(t);
}

static void begin_no_tile(planes_t *p, odt_tile_t *none, int32_t outputs) {
    none->fill.rows = none->from = 0;
    none->rows = outputs;
    none->even = 1;
    begin_tile(p, none);
}

// Prepares the images, of `size` inputs.
static void begin_images(
    planes_t *p, int32_t B, const int8_t *x, int32_t size, int8_t *y, int32_t y_b, int32_t channels) {
    p->x = x;
    p->y = y;
    p->x_b = size;
    p->y_b = y_b;
    p->x_n = 1 - (B - 1) * size;
    p->y_n = 1 - (B - 1) * y_b;
    p->B = p->left = B;
    p->channels = channels;
}

// Prepares rows of outputs; the sums of a row take the room of `even` sums.
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

// Sets the bounds of outputs and the peak so far; returns whether the program is valid.
static int begin_outputs(output_t *o, const odt_depthwise_t *a) {
    int32_t zy = a->zy, lo = a->lo, peak = *a->peak;
    // Field by field, because a copy of the whole struct is slow on an RP2040.
    o->step = a->y_ow;
    o->is_cut = lo == zy;
    o->high = 127;
    o->low = lo;
    o->max = zy + peak;
    o->min = zy - (lo == zy ? 1 << 30 : peak); // after a ReLU: no negative peak
    o->least = odt_max(o->min, o->low);
    o->from = zy - o->least;
    o->span = odt_min(o->max, o->high) - o->least;
    return zy == (int8_t)zy && lo == (int8_t)lo && lo <= zy && peak >= 0 && peak < 1 << 30;
}

static void add_peak(const output_t *o, const odt_depthwise_t *a) {
    int32_t zy = a->zy;
    *a->peak = odt_max(*a->peak, a->lo == zy ? o->max - zy : odt_max(o->max - zy, zy - o->min));
}

// The arguments of sum_strided: rows of 3x3 windows, a stride of 2 apart.
typedef struct {
    const int32_t *w;   // 0
    int32_t zx;         // 4
    // 8, 12: bytes from a column's last row to the next column's first, minus a row; from a row to the next
    int32_t step, row;
    int32_t *sums;      // 16
    int32_t width;      // 20: bytes of the sums of a row, without the last
    int32_t is_left, is_right; // 24, 28: whether there is padding
    int32_t next;       // 32: bytes from the end of a row of windows to the next
    const int32_t *end; // 36: of the sums
} strided_t;

// Sums 3x3 windows of an image in place: 48 cycles for 9 products, 41 per row. A pixel in an even column is multiplied
// by the weights of a window's first column and, in the upper half, of its third: the products for one sum and for the
// sum before it. r0: x, r1: the first of the odd columns' weights, r2: row, r3: sums, r4: the sum, r5, r6: products,
// r7: a weight, r8-r10: the even columns' weights, r11: step, r12: the bias - zx times all weights, lr: the address of
// the row's last sum.
__attribute__((naked, noinline)) static void sum_strided(const strided_t *strided, const int8_t *x, int32_t bias) {
    (void)strided, (void)x, (void)bias;
    __asm volatile (
        ".syntax unified\n"
        ".macro odt_even\n" // r5: both products of two rows, r6: those of the third
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
        // 0, 4: the odd columns' weights, 8: strided, 12: x, then the padding's part of a row's first sum, 16: of the
        // last, 20: end
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

// Whether it is a 3x3 filter with strides of 2. An input is in 2.25 products, and a word of two weights makes two of
// them at once, so reading in place is faster than a tile. There is at most one row and column of padding on each side.
static int is_strided(const odt_depthwise_t *a) {
    return a->KH == 3 && a->KW == 3 && a->SH == 2 && a->SW == 2 && a->H >= 3 && a->zx == (int8_t)a->zx
        && (a->top | a->left | 1) == 1 && 2 * a->OH - a->top <= a->H && 2 * a->OW - a->left <= a->W
        && (uint32_t)a->OW - 1 < ODT_TILE_SUMS;
}

// Processes an image, or consecutive parts of it, with as many rows of outputs as fit.
typedef struct {
    planes_t p;
    strided_t s;
    int32_t high, parts;
} strided_planes_t;

// Windows that cross the border of an image are moved down or up by a row, so that a zero row of the filter meets the
// padding. The filter has zero rows on both sides.
static void sum_as_it_lies(const odt_windows_t *windows) {
    strided_planes_t *v = (strided_planes_t *)planes_of(windows);
    strided_t *s = &v->s;
    const odt_depthwise_t *a = v->p.a;
    // inside: the last row where a window begins and does not cross the border
    int32_t inside = a->H - 3, OW = a->OW, ih = -a->top, rows = v->high;
    if (v->parts > 1) {
        int32_t oh = (v->p.B - v->p.left) * v->high;
        ih += 2 * oh;
        rows = odt_min(rows, a->OH - oh);
        begin_rows(v->p.c.o, a, rows, OW, OW);
    }
    s->sums = windows->sums;
    while (rows) {
        int32_t down = (ih < 0) - (ih > inside), count = down ? 1 : odt_min(((inside - ih) >> 1) + 1, rows);
        s->w = windows->w + 3 * down;
        s->end = s->sums + count * OW;
        sum_strided(s, v->p.x + (ih + down - 1) * a->x_h, v->p.c.bias);
        s->sums += count * OW;
        ih += 2 * count;
        rows -= count;
    }
}

static int depthwise_strided(const odt_depthwise_t *a, int32_t first, int32_t stop) {
    int32_t sums[ODT_TILE_SUMS], w[9 + 2 * 3] = {0};
    odt_tile_t none;
    output_t o;
    if (!is_strided(a) || !begin_outputs(&o, a)) {
        return 0;
    }
    // last: the last window's last column
    int32_t last = 2 * a->OW - a->left, right = last == a->W, image = a->H * a->W * a->N;
    int32_t high = odt_min(ODT_TILE_SUMS / a->OW, a->OH), parts = (a->OH + high - 1) / high;
    strided_planes_t v = {.s = {.zx = a->zx,
                              .step = a->x_w - 2 * a->x_h,
                              .row = a->x_h,
                              .width = a->OW * 4 - 4,
                              .is_left = a->left,
                              .is_right = right,
                              .next = 2 * a->x_h - (last + 1 - right) * a->x_w},
        .high = high,
        .parts = parts,
        .p = {.windows.sums = sums, .sums = sums, .sum_by = sum_as_it_lies}};
    begin_no_tile(&v.p, &none, high * a->OW);
    begin_rows(&o, a, high, a->OW, a->OW);
    int32_t count = parts > 1 ? 1 : a->B; // images processed per channel
    for (int32_t b = 0; b < a->B; b += count) {
        begin_channels(&v.p, a, first, w + 3, 3, &o);
        begin_images(&v.p, count * parts, a->x + b * image + first, parts > 1 ? 0 : image, a->y + b * a->y_b + first,
            parts > 1 ? high * a->y_oh : a->y_b, stop - first);
        if (run_planes(&v.p)) {
            return 0;
        }
    }
    add_peak(&o, a);
    return 1;
}

// The approximate cycles of a row of 3x3 outputs, summed in groups of 4 or 2.
static int32_t cost(int32_t columns, int32_t group) {
    return 35 + (columns + group - 1) / group * (group == 4 ? 130 : 73);
}

// Prepares tiles of up to t->most outputs, and what sums their windows; returns whether this is possible.
static int plan_sums(planes_t *p, odt_tile_t *t, const odt_depthwise_t *a) {
    int32_t KH = a->KH, KW = a->KW, K = odt_max(KH, KW), is_line = KH == 1 && KW <= 3;
    if (is_line) { // small filters get taps of 0, so that they are 1x3, 2x2 or 3x3
        KW = 3;
    } else if (K <= 3) {
        KH = KW = odt_max(K, 2);
    }
    // Field by field, because a copy of the whole struct is slow on an RP2040.
    t->H = a->H, t->W = a->W, t->KH = KH, t->KW = KW, t->SH = a->SH, t->SW = a->SW, t->top = a->top, t->left = a->left;
    t->OH = a->OH, t->OW = a->OW, t->zx = a->zx, t->x_h = a->x_h, t->x_w = a->x_w;
    p->unpolled = 0;
    t->group = K == 3 && !is_line && a->SW == 1 && cost(a->OW, 4) <= cost(a->OW, 2) ? 4 : 2;
    p->sum_by = is_line     ? odt_sum_lines
        : t->group == 4 ? odt_sum_fours
        : K == 3        ? odt_sum_pairs
        : K < 3         ? odt_sum_small
                        : odt_sum_any;
    return a->KH >= 1 && a->KW >= 1 && KH * KW <= TAPS && odt_tile_plan(t);
}

// The windows of a tile.
static void begin_windows(planes_t *p, const odt_tile_t *t, int32_t *sums) {
    int32_t KH = t->KH, KW = t->KW, pitch = t->pitch, even = t->even, SW = t->SW;
    odt_windows_t *v = &p->windows;
    v->x = odt_tile_windows(t);
    v->sums = sums;
    p->sums = sums;
    v->row = (pitch - KW) * 4;
    v->back = (t->group * SW - (KH - 1) * pitch - KW) * 4;
    v->even = even * 4;
    v->skip = (t->SH * pitch - SW * even) * 4;
    v->rows = t->rows;
    v->KH = KH;
    v->KW = KW;
}

static int depthwise(const odt_depthwise_t *a, int32_t first, int32_t stop) {
    int32_t words[ODT_TILE_WORDS + 2], sums[ODT_TILE_SUMS], w[TAPS] = {0};
    odt_tile_t t;
    output_t o;
    planes_t p;
    t.words = words;
    t.most = ODT_TILE_SUMS;
    if (!plan_sums(&p, &t, a) || !begin_outputs(&o, a)) {
        return 0;
    }
    int32_t is_one = a->is_one, count = is_one ? 1 : a->B, image = a->H * a->W * (is_one ? 1 : a->N);
    while (odt_tile_next(&t)) {
        begin_windows(&p, &t, sums);
        begin_rows(&o, a, t.rows, t.columns, t.even);
        for (int32_t b = 0; b < a->B; b += count) {
            const int8_t *x = a->x + b * image + first;
            begin_channels(&p, a, first, w, t.KW, &o);
            begin_tile(&p, &t);
            begin_images(
                &p, count, x, image, a->y + b * a->y_b + t.oh * a->y_oh + t.ow * a->y_ow + first, a->y_b, stop - first);
            if (is_one) { // filled once, for all filters
                odt_tile_fill(&t, x);
                p.fill_by = odt_tile_fill_nothing;
            }
            if (run_planes(&p)) {
                return 0;
            }
        }
    }
    add_peak(&o, a);
    return 1;
}

int odt_correlate_one_i8__m0(const odt_correlation_t *a) {
    if (a->C != 1 || a->x_skip || a->KH != 3 || a->KW != 3 || a->SH != 1 || a->SW != 1 || !a->q_step
        || a->OH < ODT_ONE_SIZE || a->OW < ODT_ONE_SIZE) {
        return 0;
    }
    odt_depthwise_t d;
    memcpy(&d, a, offsetof(odt_depthwise_t, x_h));
    d.x_h = a->W;
    d.x_w = 1;
    d.is_one = 1;
    return depthwise(&d, 0, a->N);
}

// Squares (ODT_IS_SQUARES): d describes errors as inputs, and the gradient of the input as outputs.
static int plan_squares(odt_tile_t *t, const odt_depthwise_t *d) {
    // Field by field, because a copy of the whole struct is slow on an RP2040.
    t->H = d->H, t->W = d->W, t->KH = t->KW = 2, t->SH = t->SW = 1, t->top = 1 - d->top / 2, t->left = 1 - d->left / 2;
    t->OH = (d->top + d->OH - 1) / 2 + t->top, t->OW = (d->left + d->OW - 1) / 2 + t->left;
    t->zx = 0, t->x_h = d->x_h, t->x_w = d->x_w, t->group = 2, t->most /= 4;
    return odt_tile_plan(t);
}

// The squares of a tile. Their sums lie in the order of the image; with odd padding the first row and column are
// skipped. Returns where the first output lies.
static int32_t begin_squares(planes_t *p, const odt_tile_t *t, output_t *o, const odt_depthwise_t *d, int32_t *sums) {
    int32_t even = 2 * t->even, oh = 2 * t->oh - d->top % 2, ow = 2 * t->ow - d->left % 2;
    int32_t above = odt_max(-oh, 0), beside = odt_max(-ow, 0);
    p->windows = (odt_windows_t) {.x = odt_tile_windows(t), .sums = sums, .row = t->pitch * 4, .even = even * 4,
        .skip = (t->pitch - t->even) * 4, .rows = t->rows};
    p->sums = sums + above * even + beside;
    begin_rows(o, d, odt_min(2 * t->rows, d->OH - oh) - above, odt_min(2 * t->columns, d->OW - ow) - beside, even);
    return (oh + above) * d->y_oh + (ow + beside) * d->y_ow;
}

int odt_depthwise_dx_i8__m0(const odt_depthwise2d_dx_i8_t *a, int32_t first, int32_t stop, int32_t *peak) {
    int32_t words[ODT_TILE_WORDS + 2], sums[ODT_TILE_SUMS], w[9] = {0}, N = a->N;
    odt_depthwise_t d = {.w = a->w, .q = a->q, .peak = peak, .KH = a->KH, .KW = a->KW, .lo = -127, .w_n = a->KH * a->KW,
        .w_kh = a->KW, .w_kw = 1, .y_oh = a->W * N, .y_ow = N, .H = a->OH, .W = a->OW, .top = a->PT, .left = a->PL,
        .OH = a->H, .OW = a->W, .x_h = a->OW * N, .x_w = N};
    odt_tile_t t = {.most = ODT_TILE_SUMS, .words = words};
    planes_t p = {.sum_by = odt_sum_squares};
    output_t o;
    if (!ODT_IS_SQUARES(a) || !plan_squares(&t, &d) || !begin_outputs(&o, &d)) {
        return 0;
    }
    while (odt_tile_next(&t)) {
        int8_t *dx = a->dx + begin_squares(&p, &t, &o, &d, sums) + first;
        begin_channels(&p, &d, first, w, 3, &o);
        begin_tile(&p, &t);
        begin_images(&p, a->B, a->e + first, a->OH * d.x_h, dx, a->H * d.y_oh, stop - first);
        if (run_planes(&p)) {
            return 0;
        }
    }
    add_peak(&o, &d);
    return 1;
}

// Whether columns are longer, divide into groups, or are the whole filter.
static int is_turned(const odt_depthwise_t *a) {
    int32_t by_rows = odt_min(cost(a->OW, 4), cost(a->OW, 2)), by_columns = odt_min(cost(a->OH, 4), cost(a->OH, 2));
    return a->KH != 1 && (a->KW == 1 || a->OW * by_columns < a->OH * by_rows);
}

int odt_depthwise_i8__m0(const odt_depthwise_t *a, int32_t first, int32_t stop) {
    if (depthwise_strided(a, first, stop)) {
        return 1;
    }
    odt_depthwise_t turned;
    if (is_turned(a)) {
        turned = odt_turned(a);
        a = &turned;
    }
    return depthwise(a, first, stop);
}

#include "group_conv2d_i8__m0.inc"

#endif
