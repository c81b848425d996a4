// Gradients of the filters of depthwise convolutions on a Cortex-M0+, for one channel and one tile of its inputs
// (depthwise2d_tile_i8__m0.h) at a time. One MULS computes the sum of two products. The words x[p] + x[p + S] * 65536
// and e[i + 1] + e[i] * 65536 give, modulo 2^32, e[i + 1] * x[p] + (e[i] * x[p] + e[i + 1] * x[p + S]) * 65536. |e| <=
// 127, so the first term is below 2^15 and the bracket fits 16 bits. The bracket is the word / 65536 rounded to
// nearest: ASRS leaves it in a register and the carry. The stack holds 2 KB. If each input is in few products, or the
// image is small, there is no tile, and one MULS is one product.

#include "../../core.h"
#include "depthwise2d_tile_i8__m0.h"

#if ODT_M0_DEPTHWISE

#include <string.h>

#include "../../fixed.h"
#include "registers__m0.h"
#include "../../common/window.h"

ODT_BESIDE_ASSEMBLY

enum {
    K = 3,    // taps of a filter's row
    ROWS = 7, // rows of taps whose sums are stored on the stack first, or whose inputs are read in place
    SMALL = 7 // rows and columns of outputs for which this is faster than a tile
};

// The arguments of pack_errors, and its results.
typedef struct {
    int32_t *to;        // 0
    const int8_t *from; // 4: the first error - N
    int32_t N;          // 8
    int32_t pairs;      // 12: bytes of a row's pairs as words
    int32_t from_skip;  // 16
    int32_t odd, rows;  // 20, 24: whether a row has one more error; rows
    int32_t sum;        // 28: of the words
    uint32_t extreme;   // 32: has bit 15 or 31 set if an error is -128
} errors_t;

// Packs rows of errors as words of two, an odd error with 0: 15 cycles per word. r0: to, r1: from, r2: N, r3: 2 * N,
// r4, r5: errors, r6: sum, r7: extreme, r8: pairs, r9: 127 + 127 * 65536, r10: from_skip, r11: odd, r12: the end of the
// row's words, lr: rows.
__attribute__((naked, noinline)) static void pack_errors(errors_t *errors) {
    (void)errors;
    __asm volatile (
        ".syntax unified\n"
        ODT_SAVE_REGISTERS
        "push {r0}\n"
        "ldmia r0!, {r1-r7}\n"
        "mov r8, r4\n"
        "mov r10, r5\n"
        "mov r11, r6\n"
        "mov lr, r7\n"
        "movs r0, r1\n"
        "movs r1, r2\n"
        "movs r2, r3\n"
        "adds r3, r3, r3\n"
        "movs r6, #127\n" // added to both errors, it leaves only -128 negative
        "lsls r7, r6, #16\n"
        "adds r6, r6, r7\n"
        "mov r9, r6\n"
        "movs r6, #0\n" // sum
        "movs r7, #0\n" // extreme
        "1:\n"
        "mov r12, r0\n"
        "add r12, r8\n"
        "cmp r0, r12\n"
        "beq 3f\n"
        "2:\n"
        "ldrsb r4, [r1, r2]\n"
        "ldrsb r5, [r1, r3]\n"
        "add r1, r3\n"
        "lsls r4, r4, #16\n"
        "adds r4, r4, r5\n"
        "stmia r0!, {r4}\n"
        "adds r6, r6, r4\n"
        "add r4, r9\n"
        "orrs r7, r4\n"
        "cmp r0, r12\n"
        "bne 2b\n"
        "3:\n"
        "mov r4, r11\n"
        "cmp r4, #0\n"
        "beq 4f\n"
        "ldrsb r4, [r1, r2]\n"
        "add r1, r2\n"
        "lsls r4, r4, #16\n"
        "stmia r0!, {r4}\n"
        "adds r6, r6, r4\n"
        "add r4, r9\n"
        "orrs r7, r4\n"
        "4:\n"
        "add r1, r10\n"
        "mov r4, lr\n"
        "subs r4, #1\n"
        "mov lr, r4\n"
        "bne 1b\n"
        "pop {r0}\n"
        "str r6, [r0, #28]\n"
        "str r7, [r0, #32]\n"
        ODT_RESTORE_REGISTERS
        );
}

// The arguments of sum_taps, which advances x.
typedef struct {
    const int32_t *x;   // 0
    const int32_t *e;   // 4
    int32_t rows;       // 8: of outputs
    int32_t zeros;      // 12: subtracted from each tap's sum
    int32_t *dw;        // 16: the destination
    int32_t pairs;      // 20: bytes of the errors of a row
    int32_t skip;       // 24: in x, from the end of a row's pairs to the next row
    int32_t pitch;      // 28: bytes of x from a row of taps to the next row
    int32_t KH;         // 32: rows of three taps
    int32_t step, next; // 36, 40: bytes from a tap to the next, from a row of taps to the next
    int32_t SW;         // 44
} taps_t;

// Sums rows of three taps of a filter: 16.5 cycles for 6 products (the last word of a pair is the first of the next),
// 18.5 with a stride; 13 per row of outputs, and 52 per row of taps. r0: x, r1: e, r2-r4: the taps' sums, r5, r6: words
// of x, r7: a word of e, r8: dw, r9: the end of the row's errors, r10: pairs, r11: skip, r12: rows, lr: rows of taps.
__attribute__((naked, noinline)) static void sum_taps(taps_t *taps) {
    (void)taps;
    __asm volatile (
        ".syntax unified\n"
        ".macro odt_tap x, sum\n"
        "muls \\x, r7\n"
        "asrs \\x, \\x, #16\n"
        "adcs \\sum, \\x\n"
        ".endm\n"
        ".macro odt_pair is_strided\n"
        "ldmia r1!, {r7}\n"
        ".if \\is_strided\n"
        "ldmia r0!, {r5, r6}\n"
        "odt_tap r5, r2\n"
        "odt_tap r6, r3\n"
        "ldr r6, [r0]\n"
        "adds r0, #8\n"
        ".else\n"
        "odt_tap r5, r2\n"
        "ldmia r0!, {r5, r6}\n"
        "odt_tap r5, r3\n"
        "movs r5, r6\n"
        ".endif\n"
        "odt_tap r6, r4\n"
        ".endm\n"
        ".macro odt_rows row, two, one, is_strided\n"
        "\\row:\n"
        "mov r9, r1\n"
        "add r9, r10\n"
        ".if \\is_strided == 0\n"
        "ldmia r0!, {r5}\n"
        ".endif\n"
        "mov r6, r10\n" // an odd error first
        "lsls r6, r6, #29\n"
        "bmi \\one\\()f\n"
        "\\two:\n"
        "odt_pair \\is_strided\n"
        "\\one:\n"
        "odt_pair \\is_strided\n"
        "cmp r1, r9\n"
        "bne \\two\\()b\n"
        "add r0, r11\n"
        "mov r6, r12\n"
        "subs r6, #1\n"
        "mov r12, r6\n"
        "bne \\row\\()b\n"
        ".endm\n"
        ODT_SAVE_REGISTERS
        "push {r0}\n"
        "ldr r1, [r0, #20]\n"
        "mov r10, r1\n"
        "ldr r1, [r0, #24]\n"
        "mov r11, r1\n"
        "ldr r1, [r0, #32]\n"
        "mov lr, r1\n"
        "ldr r5, [r0, #16]\n"
        "1:\n"
        "mov r8, r5\n"
        "ldr r7, [sp]\n"
        "ldmia r7!, {r0, r1, r4, r6}\n"
        "mov r12, r4\n"
        "ldr r3, [r7, #20]\n"
        "lsls r4, r3, #1\n"
        "ldr r2, [r5]\n"
        "ldr r3, [r5, r3]\n"
        "ldr r4, [r5, r4]\n"
        "subs r2, r2, r6\n"
        "subs r3, r3, r6\n"
        "subs r4, r4, r6\n"
        "ldr r7, [r7, #28]\n"
        "cmp r7, #1\n"
        "bne 5f\n"
        "odt_rows 2, 3, 4, 0\n"
        "b 8f\n"
        "odt_rows 5, 6, 7, 1\n"
        "8:\n"
        "ldr r7, [sp]\n"
        "ldr r6, [r7, #36]\n"
        "mov r5, r8\n"
        "str r2, [r5]\n"
        "str r3, [r5, r6]\n"
        "lsls r6, r6, #1\n"
        "str r4, [r5, r6]\n"
        "ldr r6, [r7, #40]\n"
        "adds r5, r5, r6\n"
        "ldr r3, [r7]\n"
        "ldr r4, [r7, #28]\n"
        "adds r3, r3, r4\n"
        "str r3, [r7]\n"
        "mov r3, lr\n"
        "subs r3, #1\n"
        "mov lr, r3\n"
        "bne 1b\n"
        "add sp, #4\n"
        ODT_RESTORE_REGISTERS
        ".purgem odt_tap\n"
        ".purgem odt_pair\n"
        ".purgem odt_rows\n"
        );
}

// A layer, or its transpose if its filters have longer columns than rows: distances from a row to the next and from a
// column to the next.
typedef struct {
    int32_t KH, KW, x_h, x_w, e_h, e_w, dw_h, dw_w;
} axes_t;

// Adds to dw the products of a channel's packed errors and its inputs in a tile.
static void add_taps(const odt_tile_t *t, const axes_t *v, taps_t *taps, int32_t *dw) {
    const int32_t *row = odt_tile_windows(t);
    if (v->KW == K) {
        taps->x = row;
        taps->dw = dw;
        taps->KH = v->KH;
        taps->step = v->dw_w * 4;
        taps->next = v->dw_h * 4;
        sum_taps(taps);
        return;
    }
    for (int32_t kh = 0; kh < v->KH; kh += ROWS, row += ROWS * t->pitch, dw += ROWS * v->dw_h) {
        for (int32_t kw = 0; kw < v->KW; kw += K) {
            // the last taps overlap earlier ones
            int32_t rows = odt_min(v->KH - kh, ROWS), from = odt_limit(v->KW - K, 0, kw);
            int32_t sums[ROWS * K] = {0}, *to = dw + kw * v->dw_w;
            taps->x = row + from;
            taps->dw = sums;
            taps->KH = rows;
            taps->step = 4;
            taps->next = K * 4;
            sum_taps(taps);
            for (const int32_t *three = sums; rows; rows--, three += K, to += v->dw_h) {
                for (int32_t i = kw - from; i < K && from + i < v->KW; i++) {
                    to[(from + i - kw) * v->dw_w] += three[i];
                }
            }
        }
    }
}

// A row of three taps: offsets in the image of its first input - N, of the first error - N, and of the end of the last
// row of errors - N.
typedef struct {
    int32_t x, e, end;
} line_t;

// The arguments of sum_lines.
typedef struct {
    const line_t *line;  // 0
    const int8_t *x, *e; // 4, 8
    int32_t *dw;         // 12: the destination
    int32_t N;           // 16
    int32_t zx;          // 20
    int32_t errors;      // 24: bytes of a row's errors, without one whose last tap is padding
    int32_t skip;        // 28: from a row's last input to the next row's first, minus N
    int32_t begin;       // 32: whether there is padding, and in bit 1 whether the errors are odd
    int32_t is_right;    // 36: whether there is padding
    int32_t SW;          // 40
    const line_t *end;   // 44
} lines_t;

// Sums rows of three taps over inputs and errors in place: 15.5 cycles for 3 products, 16.5 with a stride; 22 per row
// of errors, 14 more if the last tap is padding, and 50 per row of taps. r0: x, r1: N, r2: 2 * N with a stride, or an
// input, r3: e, r4: an error, r5: their sum, r6: an input and products, r7: lines, r8-r10: the taps' sums, r11: the end
// of the row's errors, r12: errors, lr: skip.
__attribute__((naked, noinline)) static void sum_lines(const lines_t *lines) {
    (void)lines;
    __asm volatile (
        ".syntax unified\n"
        ".macro odt_error x, y, is_strided\n" // the inputs x and, without a stride, y, then the next one or two
        "ldrsb r4, [r3, r1]\n"
        "adds r3, r3, r1\n"
        "adds r5, r5, r4\n"
        "muls \\x, r4\n"
        "add r8, \\x\n"
        ".if \\is_strided\n"
        "ldrsb \\x, [r0, r1]\n"
        ".else\n"
        "movs \\x, \\y\n"
        ".endif\n"
        "muls \\x, r4\n"
        "add r9, \\x\n"
        ".endm\n"
        ".macro odt_inside x, y, is_strided\n"
        "odt_error \\x, \\y, \\is_strided\n"
        ".if \\is_strided\n"
        "ldrsb \\x, [r0, r2]\n"
        "adds r0, r0, r2\n"
        ".else\n"
        "ldrsb \\x, [r0, r1]\n"
        "adds r0, r0, r1\n"
        ".endif\n"
        "muls r4, \\x\n"
        "add r10, r4\n"
        ".endm\n"
        ".macro odt_line row, left, first, two, one, last, y, is_strided\n"
        "\\row:\n"
        "mov r11, r3\n"
        "add r11, r12\n"
        "ldr r4, [r7, #32]\n"
        "lsrs r4, r4, #1\n" // C: padding, Z: not odd
        "bcs \\left\\()f\n"
        "ldrsb r6, [r0, r1]\n"
        "add r0, r1\n"
        "\\first:\n"
        ".if \\is_strided == 0\n"
        "ldrsb r2, [r0, r1]\n"
        "add r0, r1\n"
        ".endif\n"
        "beq \\two\\()f\n"
        ".if \\is_strided == 0\n"
        "mov r4, r6\n"
        "mov r6, r2\n"
        "mov r2, r4\n"
        ".endif\n"
        "b \\one\\()f\n"
        "\\left:\n"
        "ldr r6, [r7, #20]\n"
        "b \\first\\()b\n"
        "\\two:\n"
        "odt_inside r6, r2, \\is_strided\n"
        "\\one:\n"
        "odt_inside \\y, r6, \\is_strided\n"
        "cmp r3, r11\n"
        "bne \\two\\()b\n"
        "ldr r4, [r7, #36]\n"
        "cmp r4, #0\n"
        "beq \\last\\()f\n"
        "odt_error r6, r2, \\is_strided\n"
        "ldr r6, [r7, #20]\n"
        "muls r4, r6\n"
        "add r10, r4\n"
        "\\last:\n"
        "add r0, lr\n"
        "ldr r4, [sp]\n"
        "cmp r3, r4\n"
        "bne \\row\\()b\n"
        ".endm\n"
        ODT_SAVE_REGISTERS
        "movs r7, r0\n"
        "ldmia r0!, {r2-r6}\n"
        "movs r1, r6\n"
        "ldr r6, [r7, #24]\n"
        "mov r12, r6\n"
        "ldr r6, [r7, #28]\n"
        "mov lr, r6\n"
        "push {r1, r2, r5}\n" // 0: the end of the errors, 4: line, 8: dw
        "1:\n"
        "ldr r4, [sp, #4]\n"
        "ldmia r4!, {r0, r3, r6}\n"
        "str r4, [sp, #4]\n"
        "ldr r4, [r7, #4]\n"
        "adds r0, r0, r4\n"
        "ldr r4, [r7, #8]\n"
        "adds r3, r3, r4\n"
        "adds r6, r6, r4\n"
        "str r6, [sp]\n"
        "movs r5, #0\n"
        "mov r8, r5\n"
        "mov r9, r5\n"
        "mov r10, r5\n"
        "cmp r3, r6\n"
        "beq 9f\n"
        "ldr r4, [r7, #40]\n"
        "lsls r2, r1, #1\n"
        "cmp r4, #1\n"
        "bne 10f\n"
        "odt_line 2, 3, 4, 5, 6, 7, r2, 0\n"
        "9:\n"
        "ldr r4, [r7, #20]\n"
        "muls r5, r4\n"
        "ldr r6, [sp, #8]\n"
        "ldmia r6!, {r0, r2, r3}\n"
        "add r0, r8\n"
        "add r2, r9\n"
        "add r3, r10\n"
        "subs r0, r0, r5\n"
        "subs r2, r2, r5\n"
        "subs r3, r3, r5\n"
        "subs r6, #12\n"
        "stmia r6!, {r0, r2, r3}\n"
        "str r6, [sp, #8]\n"
        "ldr r4, [sp, #4]\n"
        "ldr r6, [r7, #44]\n"
        "cmp r4, r6\n"
        "bne 1b\n"
        "add sp, #12\n"
        ODT_RESTORE_REGISTERS
        "odt_line 10, 3, 4, 5, 6, 7, r6, 1\n"
        "b 9b\n"
        ".purgem odt_error\n"
        ".purgem odt_inside\n"
        ".purgem odt_line\n"
        );
}

// Filters with rows of three taps for which reading inputs in place is faster than a tile: those with a stride, where
// an input is in 2.25 of the 3x3 products, and narrow images. There is at most one column of padding on each side. dw
// is 0.
static __attribute__((noinline)) int depthwise_dw_lines(const odt_depthwise2d_dw_i8_t *a, int32_t first, int32_t stop) {
    int32_t N = a->N, W = a->W, KH = a->KH, SW = a->SW, OW = a->OW, filter = KH * K;
    int32_t last = (OW - 1) * SW - a->PL + K, right = last > W; // last: the end of the last window
    if (a->KW != K || KH < 1 || KH > ROWS || SW < 1 || SW > 2 || a->SH < 1 || (SW == 1 && odt_max(a->OH, OW) > SMALL)
        || (a->PL | 1) != 1 || last > W + 1 || OW <= right) {
        return 0;
    }
    line_t line[ROWS];
    // rows between polls
    int32_t image = a->H * W * N, outputs = a->OH * OW * N, high = odt_min(odt_max(ODT_TILE_SUMS / OW, 1), a->OH);
    lines_t lines = {.line = line,
        .N = N,
        .zx = a->zx,
        .errors = (OW - right) * N,
        .skip = (a->SH * W - (last - right - (right && SW == 2))) * N,
        .begin = a->PL | ((OW - right) & 1) << 1,
        .is_right = right,
        .SW = SW,
        .end = line + KH};
    for (int32_t oh = 0; oh < a->OH; oh += high) {
        for (int32_t kh = 0; kh < KH; kh++) {
            odt_taps_t o = odt_outputs(kh, a->PT, a->SH, a->H, a->OH);
            int32_t from = odt_max(o.from, oh);
            int32_t to = odt_max(odt_min(o.to, oh + high), from);
            line[kh] = (line_t) {((from * a->SH - a->PT + kh) * W - 1) * N, (from * OW - 1) * N, (to * OW - 1) * N};
        }
        int32_t unpolled = 0;
        for (int32_t n = first; n < stop; n++) {
            lines.dw = a->dw + n * filter;
            lines.x = a->x + a->at + n;
            lines.e = a->e + a->at + n;
            for (int32_t b = a->B; b; b--, lines.x += image, lines.e += outputs) {
                unpolled += high * OW;
                if (unpolled >= ODT_TILE_SUMS) {
                    unpolled = 0;
                    odt_poll();
                }
                sum_lines(&lines);
            }
        }
    }
    return 1;
}

// The approximate cycles of these outputs for a row of taps.
static int32_t cost(int32_t rows, int32_t columns) {
    return rows * (13 + (columns + 1) / 2 * 16);
}

// By tiles. dw of channels first .. stop - 1 is 0.
int odt_sum_groups_dw_i8__m0(const odt_groups_dw_t *g, int32_t first, int32_t stop) {
    const odt_depthwise2d_dw_i8_t *a = &g->d;
    int32_t words[ODT_TILE_WORDS + 2], pairs[ODT_TILE_SUMS / 2], x_w = g->x_w, e_w = g->e_w, dw_w = g->dw_w;
    axes_t v = {.KH = a->KH, .KW = a->KW, .x_h = a->W * x_w, .x_w = x_w, .e_h = a->OW * e_w, .e_w = e_w,
        .dw_h = a->KW * dw_w, .dw_w = dw_w};
    odt_tile_t t = {.H = a->H,
        .W = a->W,
        .SH = a->SH,
        .SW = a->SW,
        .top = a->PT,
        .left = a->PL,
        .OH = a->OH,
        .OW = a->OW,
        .zx = a->zx,
        .group = 2,
        .most = ODT_TILE_SUMS,
        .words = words};
    if (a->KW < K ? a->KW < a->KH : a->KW == a->KH && cost(a->OW, a->OH) < cost(a->OH, a->OW)) {
        v = (axes_t){.KH = a->KW, .KW = a->KH, .x_h = v.x_w, .x_w = v.x_h, .e_h = v.e_w, .e_w = v.e_h, .dw_h = v.dw_w,
            .dw_w = v.dw_h};
        t.H = a->W, t.W = a->H, t.SH = a->SW, t.SW = a->SH, t.top = a->PL, t.left = a->PT, t.OH = a->OW, t.OW = a->OH;
    }
    int32_t image = a->H * a->W * x_w, outputs = a->OH * a->OW * e_w;
    t.x_h = v.x_h;
    t.x_w = v.x_w;
    t.KH = v.KH;
    t.KW = odt_max(v.KW, K);
    if (v.KH < 1 || v.KW < 1 || !odt_tile_plan(&t)) {
        return 0;
    }
    while (odt_tile_next(&t)) {
        int32_t odd = t.columns & 1;
        errors_t errors = {.to = pairs, .N = v.e_w, .pairs = t.columns / 2 * 4, .from_skip = v.e_h - t.columns * v.e_w,
            .odd = odd, .rows = t.rows};
        if (errors.from_skip == 0 && !odd) { // as one row
            errors.pairs *= t.rows;
            errors.rows = 1;
        }
        taps_t taps = {.e = pairs, .pairs = t.even * 2, .skip = (t.SH * t.pitch - t.SW * t.even - (t.SW == 1)) * 4,
            .pitch = t.pitch * 4, .rows = t.rows, .SW = t.SW};
        const int8_t *from = a->e + t.oh * v.e_h + (t.ow - 1) * v.e_w + a->at, *filled = NULL;
        for (int32_t n = first; n < stop; n++) {
            const int8_t *x = a->x + (a->at + n) / g->outputs * g->inputs;
            errors.from = from + n;
            for (int32_t b = a->B; b; b--, x += image, errors.from += outputs) {
                pack_errors(&errors);
                if (errors.extreme & 0x80008000) { // errors are never -128 (numerics.md)
                    return 0;
                }
                taps.zeros = odt_wrap_mul(a->zx, (int16_t)errors.sum + ((errors.sum + 0x8000) >> 16));
                for (int32_t c = 0; c < g->inputs; c++) {
                    odt_tile_poll(&t);
                    if (filled != x + c) {
                        filled = x + c;
                        odt_tile_fill(&t, filled);
                    }
                    add_taps(&t, &v, &taps, a->dw + n * g->dw_n + c);
                }
            }
        }
    }
    return 1;
}

int odt_depthwise_dw_i8__m0(const odt_depthwise2d_dw_i8_t *a, int32_t first, int32_t stop) {
    int32_t filter = a->KH * a->KW;
    if (filter > 0) {
        memset(a->dw + first * filter, 0, (size_t)((stop - first) * filter) * sizeof(int32_t));
    }
    if (depthwise_dw_lines(a, first, stop)) {
        return 1;
    }
    odt_groups_dw_t g = {.d = *a, .x_w = a->N, .e_w = a->N, .inputs = 1, .outputs = 1, .dw_n = filter, .dw_w = 1};
    return odt_sum_groups_dw_i8__m0(&g, first, stop);
}

#endif
