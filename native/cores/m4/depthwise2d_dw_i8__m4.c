// Gradients of the filters of depthwise convolutions (depthwise.h) on cores with SMLAD, a Cortex-M4 and later. For four
// channels at a time, errors of two rows are multiplied by the pixels that a tap meets there. The stack holds 2.1 KB.

#include "../../core.h"
#include "../depthwise.h"

#if ODT_M4

#include <string.h>

#include "../../fixed.h"
#include "words__m4.h"
#include "depthwise2d_lines_i8__m4.h"
#include "depthwise2d_tiny_i8__m4.h"

enum {
    POSITIONS = 64, // of pairs of rows of x
    OUTPUTS = 32,   // errors in a row
    TAPS = 32,
    LINES = 9,      // rows of taps
};

// acc += e * x over `count` > 0 pixels. 27 instructions for 32 products. In the loop r0: e, r1: x, r4-r7: acc, r8-r11:
// pixels of e, r2, r3, r12, lr: of x.
ODT_ASSEMBLY static void add_products(int32_t *acc, const odt_pixel_t *e, const odt_pixel_t *x,
    int32_t count) {
    (void)acc, (void)e, (void)x, (void)count;
    __asm volatile (
        ".syntax unified\n"
        "push {r0, r3, r4-r12, lr}\n" // 0: acc, 4: the end of e
        "ldm r0, {r4-r7}\n"
        "mov r0, r1\n"
        "mov r1, r2\n"
        "add r2, r0, r3, lsl #4\n"
        "str r2, [sp, #4]\n"
        "rsb r3, r3, #0\n" // enters the loop so that the remainder modulo 4 comes first
        "and r3, r3, #3\n"
        "mov r2, #24\n"
        "adr.w r12, 1f\n"
        "mla r3, r3, r2, r12\n"
        "add r3, r3, #1\n"
        "bx r3\n"
        "1:\n"
        ODT_PIXELS ODT_PIXELS ODT_PIXELS ODT_PIXELS
        "ldr r8, [sp, #4]\n"
        "cmp r0, r8\n"
        "bne 1b\n"
        "pop {r0, r3}\n"
        "stm r0, {r4-r7}\n"
        "pop {r4-r12, pc}\n"
        );
}

typedef struct {
    odt_pixel_t x[POSITIONS], e[OUTPUTS];
    int32_t sums[TAPS][4]; // of each tap
    int32_t lines[LINES];
} gradient_t;

// A layer or, for filters of one column, its transpose: distances from a row to the next and from a column to the next.
typedef struct {
    odt_depthwise2d_dw_i8_t a;
    int32_t x_h, x_w, e_h, e_w;
} layer_t;

// A row of an image; the last one from its copy, if there is one.
static inline __attribute__((always_inline)) odt_line_t row_of(
    const int8_t *x, int32_t row, int32_t rows, int32_t x_h, int32_t x_w, const uint32_t *none, const int8_t *last) {
    return odt_line_of(last && row == rows - 1 ? last - row * x_h : x, row, rows, x_h, x_w, none);
}

// Adds rows oh, oh + 1 and columns ow .. ow + count - 1 of an image's errors. Lines of x pair the rows that meet these
// errors; columns are ordered by their phase of the stride. last_x, last_e: copies of the last rows, or NULL.
static inline __attribute__((always_inline)) void add_rows(const layer_t *l, const int8_t *x, const int8_t *e,
    int32_t oh, int32_t ow, int32_t count, const int8_t *last_x, const int8_t *last_e, gradient_t *s) {
    const odt_depthwise2d_dw_i8_t *a = &l->a;
    int32_t phase = count + (a->KW - 1) / a->SW, line = phase * a->SW;
    uint32_t none = (uint32_t)(a->zx & 255) * 0x01010101, no_error = 0;
    odt_line_t upper = row_of(e, oh, a->OH, l->e_h, l->e_w, &no_error, last_e);
    odt_line_t lower = row_of(e, oh + 1, a->OH, l->e_h, l->e_w, &no_error, last_e);
    odt_pack_lines(s->e, &upper, &lower, ow, 1, count, a->OW, 0);
    for (int32_t kh = 0; kh < a->KH; kh++) {
        int32_t row = oh * a->SH - a->PT + kh, slot = (row + a->PT) % a->KH;
        odt_pixel_t *at = s->x + slot * line;
        if (s->lines[slot] != row) {
            s->lines[slot] = row;
            upper = row_of(x, row, a->H, l->x_h, l->x_w, &none, last_x);
            lower = row_of(x, row + a->SH, a->H, l->x_h, l->x_w, &none, last_x);
            for (int32_t i = 0; i < a->SW; i++) {
                odt_pack_lines(at + i * phase, &upper, &lower, ow * a->SW - a->PL + i, a->SW, phase, a->W, a->zx);
            }
        }
        for (int32_t kw = 0; kw < a->KW; kw++) {
            add_products(s->sums[kh * a->KW + kw], s->e, at + kw % a->SW * phase + kw / a->SW, count);
        }
    }
}

// Stores the sums of `count` taps from `first` on, for channels n .. n + 3.
static void store(const odt_depthwise2d_dw_i8_t *a, int32_t n, int32_t (*sums)[4], int32_t first, int32_t count) {
    int32_t taps = a->KH * a->KW, *dw = a->dw + n * taps + first;
    for (int32_t tap = 0; tap < count; tap++, dw++) {
        dw[0] = sums[tap][0];
        dw[taps] = sums[tap][1];
        dw[2 * taps] = sums[tap][2];
        dw[3 * taps] = sums[tap][3];
    }
}

// For four channels of an image of a few pixels: adds the errors of all outputs times the pixels that their taps meet;
// taps are as in odt_tiny_t. 13 instructions for 4 products, plus 6 per error. r0: taps, r1: dw, r2: x, r3: the end of
// the error's taps, r4-r7: a weight's gradient, r8, r9: a pixel, r10, r11: the error, lr: the next error.
ODT_ASSEMBLY static void add_taps(const uint8_t *taps, int32_t (*dw)[4], const odt_tiny_pixel_t *x,
    const odt_tiny_pixel_t *e, const odt_tiny_pixel_t *end) {
    (void)taps, (void)dw, (void)x, (void)e, (void)end;
    __asm volatile (
        ".syntax unified\n"
        "push {r4-r12, lr}\n" // 40: end
        "mov lr, r3\n"
        "1:\n"
        "ldrb r3, [r0], #1\n"
        "ldrd r10, r11, [lr], #8\n"
        "add r3, r3, r0\n"
        "b 3f\n"
        "2:\n"
        "ldrb r12, [r0], #1\n"
        "add r12, r2, r12, lsl #1\n"
        "ldrd r8, r9, [r12]\n"
        "ldrb r12, [r0], #1\n"
        "add r12, r1, r12, lsl #2\n"
        "ldm r12, {r4-r7}\n"
        "smlabb r4, r8, r10, r4\n"
        "smlabb r5, r9, r11, r5\n"
        "smlatt r6, r8, r10, r6\n"
        "smlatt r7, r9, r11, r7\n"
        "stm r12, {r4-r7}\n"
        "3:\n"
        "cmp r0, r3\n"
        "bne 2b\n"
        "ldr r12, [sp, #40]\n"
        "cmp lr, r12\n"
        "bne 1b\n"
        "pop {r4-r12, pc}\n"
        );
}

// Adds all errors of channels n .. n + 3.
static void add_all(const layer_t *l, int32_t n, int32_t most, gradient_t *s) {
    const odt_depthwise2d_dw_i8_t *a = &l->a;
    int32_t parts = (a->OW + odt_min(most, OUTPUTS) - 1) / odt_min(most, OUTPUTS);
    int32_t columns = (a->OW + parts - 1) / parts, from = a->at + n;
    odt_set_zeros((int8_t *)s->sums, a->KH * a->KW * (int32_t)sizeof(s->sums[0]));
    for (int32_t ow = 0; ow < a->OW; ow += columns) {
        for (int32_t b = 0; b < a->B; b++) {
            odt_poll();
            for (int32_t i = 0; i < a->KH; i++) {
                s->lines[i] = INT32_MIN; // none
            }
            for (int32_t oh = 0; oh < a->OH; oh += 2) {
                add_rows(l, a->x + b * a->H * a->W * a->N + from, a->e + b * a->OH * a->OW * a->N + from, oh, ow,
                    odt_min(columns, a->OW - ow), NULL, NULL, s);
            }
        }
    }
}

// How many errors of a row fit, with `rows` rows of taps.
static int32_t columns_for(const odt_depthwise2d_dw_i8_t *a, int32_t rows) {
    return rows < 1 ? 0 : POSITIONS / rows / a->SW - (a->KW - 1) / a->SW;
}

// Whether there are four channels from n on, and rows of taps that fit.
static int is_for_four_dw(const odt_depthwise2d_dw_i8_t *a, int32_t n, int32_t rows) {
    return n >= 0 && columns_for(a, rows) >= 1;
}

#if !ODT_MPY

enum { LAST = 192 }; // bytes of a row

typedef struct {
    gradient_t s;
    int8_t x[LAST + 4], e[LAST + 4]; // the last rows: nothing may be read beyond them
} few_gradient_t;

// Two or three channels with strides, computed as four, of which the rest meets the next pixel.
int odt_depthwise_dw_few_i8__m4(const odt_depthwise2d_dw_i8_t *a) {
    few_gradient_t f;
    layer_t layer = {*a, a->W * a->N, a->N, a->OW * a->N, a->N};
    int32_t most = columns_for(a, a->KH), taps = a->KH * a->KW, x_bytes = a->W * a->N, e_bytes = a->OW * a->N;
    if (a->R < 2 || a->N > 3 || a->SH * a->SW == 1 || a->W > LAST / 3 || a->OW > LAST / 3 || a->KH > LINES
        || a->KH * a->KW > TAPS || most < 1) {
        return 0;
    }
    most = odt_min(most, OUTPUTS);
    odt_set_zeros((int8_t *)f.s.sums, taps * (int32_t)sizeof(f.s.sums[0]));
    memcpy(f.x, a->x + (a->B * a->H - 1) * x_bytes + a->at, (size_t)(x_bytes - a->at));
    memcpy(f.e, a->e + (a->B * a->OH - 1) * e_bytes + a->at, (size_t)(e_bytes - a->at));
    for (int32_t ow = 0; ow < a->OW; ow += most) {
        for (int32_t b = 0; b < a->B; b++) {
            int is_last = b == a->B - 1;
            odt_poll();
            for (int32_t i = 0; i < a->KH; i++) {
                f.s.lines[i] = INT32_MIN; // none
            }
            for (int32_t oh = 0; oh < a->OH; oh += 2) {
                add_rows(&layer, a->x + b * a->H * x_bytes + a->at, a->e + b * a->OH * e_bytes + a->at, oh, ow,
                    odt_min(most, a->OW - ow), is_last ? f.x : NULL, is_last ? f.e : NULL, &f.s);
            }
        }
    }
    for (int32_t n = 0; n < a->R; n++) {
        for (int32_t tap = 0; tap < taps; tap++) {
            a->dw[n * taps + tap] = f.s.sums[tap][n];
        }
    }
    return 1;
}

#endif

// A large filter is processed some rows of taps at a time.
int odt_depthwise_dw_i8__m4(const odt_depthwise2d_dw_i8_t *a, int32_t n) {
    gradient_t s;
    layer_t part = {*a, a->W * a->N, a->N, a->OW * a->N, a->N};
    if (a->KW == 1 && a->KH <= TAPS && a->OH > a->OW) { // the taps have the same order
        part = (layer_t) {*a, part.x_w, part.x_h, part.e_w, part.e_h};
        part.a.H = a->W, part.a.W = a->H, part.a.KH = 1, part.a.KW = a->KH, part.a.SH = a->SW, part.a.SW = a->SH;
        part.a.PT = a->PL, part.a.PL = a->PT, part.a.OH = a->OW, part.a.OW = a->OH;
    }
    const int32_t KH = part.a.KH, KW = part.a.KW, PT = part.a.PT;
    int32_t rows = KW < 1 ? 0 : odt_min(odt_min(TAPS / KW, LINES), KH), most = columns_for(&part.a, rows);
    if (!is_for_four_dw(&part.a, n, rows)) {
        return 0;
    }
    for (int32_t kh = 0; kh < KH; kh += rows) {
        part.a.KH = odt_min(rows, KH - kh);
        part.a.PT = PT - kh;
        add_all(&part, n, most, &s);
        store(a, n, s.sums, kh * KW, part.a.KH * KW);
    }
    return 1;
}

int odt_depthwise_dw_tiny_i8__m4(const odt_depthwise2d_dw_i8_t *a, int32_t first, int32_t stop) {
    int32_t size[] = {a->H, a->W, a->KH, a->KW, a->SH, a->SW, a->PT, a->PL, a->OH, a->OW}, N = a->N, dw[49][4];
    odt_tiny_pixel_t x[ODT_TINY_FOUR], e[ODT_TINY_OUTPUTS];
    odt_tiny_t t;
    if (a->R < 4 || !odt_tiny_plan(&t, size)) {
        return 0;
    }
    for (int32_t i = first; i < stop; i += 4) {
        int32_t n = odt_min(i, a->R - 4), from = a->at + n; // the last four channels if fewer are left
        memset(dw, 0, (size_t)(a->KH * a->KW) * sizeof(dw[0]));
        for (int32_t b = 0; b < a->B; b++) {
            odt_poll();
            odt_tiny_load(x, a->x + b * t.pixels * N + from, N, t.pixels, a->zx);
            odt_tiny_load(e, a->e + b * t.outputs * N + from, N, t.outputs, 0);
            add_taps(t.taps, dw, x, e, e + t.outputs);
        }
        store(a, n, dw, 0, a->KH * a->KW);
    }
    return 1;
}

#endif
