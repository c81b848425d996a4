// Convolutions with a single filter (correlate.h) on cores with SMLAD, a Cortex-M4 and later. Rows of x are copied to
// the stack, with their padding and without other groups' channels; four adjacent windows are multiplied by the filter,
// which is packed as int16. The stack holds 3.2 KB.

#include "../../core.h"
#include "../correlate.h"

#if ODT_M4 && !ODT_MPY

#include <string.h>

#include "../../fixed.h"
#include "words__m4.h"
#include "conv2d_i8__m4.h"
#include "pixels_i8__m4.h"

enum {
    ROOM = 1536,  // bytes of copied rows
    WORDS = 144,  // of the filter
    OUTPUTS = 64, // at a time
};

// In the order in which sum_fours() loads them.
typedef struct {
    const int8_t *x;
    int32_t step;            // bytes from a window to the next
    const uint32_t *w;
    int32_t width;           // bytes of a row of the packed filter, 8 per word
    int32_t *sums, rows;     // of the filter
    int32_t back, start;     // bytes from the end of a window's row to its next row; the sums' start
    int32_t fours, lines;    // times four windows of a row; rows of outputs
    int32_t next;            // bytes from the end of a row of windows to the next row
} fours_t;

typedef struct {
    uint32_t w[2 * WORDS];
    int8_t x[ROOM + 4] __attribute__((aligned(4)));
    int32_t sums[OUTPUTS];
    int8_t y[OUTPUTS];
    odt_scales_t scales;
    fours_t f;
} one_t;

// Sums of `lines` times `fours` times four windows: 23 instructions for 16 products, 8 for a row, 18 for four windows,
// 7 for a line. r0, r1: the first and the fourth window, r2: step, r3: w, r4-r7: sums, r8: the end of a row of w, r9,
// r10: its pairs, r11, r12, lr: x.
ODT_ASSEMBLY static void sum_fours(fours_t *f) {
    (void)f;
    __asm volatile (
        ".syntax unified\n"
        ".macro odt_two second, third\n"
        "sxtb16 lr, r11\n"
        "smlad \\second, lr, r9, \\second\n"
        "sxtb16 lr, r12\n"
        "smlad \\third, lr, r9, \\third\n"
        "sxtb16 r11, r11, ror #8\n"
        "smlad \\second, r11, r10, \\second\n"
        "sxtb16 r12, r12, ror #8\n"
        "smlad \\third, r12, r10, \\third\n"
        ".endm\n"
        "push {r0, r4-r11, lr}\n"
        "sub sp, sp, #8\n" // 0: rows left, 4: fours left
        "1:\n"
        "ldr r12, [sp, #8]\n"
        "ldr r12, [r12, #32]\n"
        "str r12, [sp, #4]\n"
        "2:\n"
        "ldr r12, [sp, #8]\n"
        "ldm r12, {r0, r2, r3, r8}\n"
        "ldrd r9, r4, [r12, #20]\n"
        "ldr r4, [r12, #28]\n"
        "str r9, [sp]\n"
        "add r1, r0, r2\n"
        "add r1, r1, r2, lsl #1\n"
        "add r8, r8, r3\n"
        "mov r5, r4\n"
        "mov r6, r4\n"
        "mov r7, r4\n"
        "b 4f\n"
        "3:\n"
        "str r12, [sp]\n"
        "ldr r12, [sp, #8]\n"
        "ldr r11, [r12, #24]\n"
        "ldr r12, [r12, #12]\n"
        "add r0, r0, r11\n"
        "add r1, r1, r11\n"
        "add r8, r8, r12\n"
        "4:\n"
        "ldrd r9, r10, [r3], #8\n"
        "ldr r11, [r0, r2]\n"
        "ldr r12, [r0, r2, lsl #1]\n"
        "odt_two r5, r6\n"
        "ldr r11, [r0], #4\n"
        "ldr r12, [r1], #4\n"
        "odt_two r4, r7\n"
        "cmp r3, r8\n"
        "bne 4b\n"
        "ldr r12, [sp]\n"
        "subs r12, r12, #1\n"
        "bne 3b\n"
        "ldr r12, [sp, #8]\n"
        "ldr r8, [r12, #16]\n"
        "ldr r9, [r12]\n"
        "stm r8!, {r4-r7}\n"
        "add r9, r9, r2, lsl #2\n"
        "str r8, [r12, #16]\n"
        "str r9, [r12]\n"
        "ldr r8, [sp, #4]\n"
        "subs r8, r8, #1\n"
        "str r8, [sp, #4]\n"
        "bne 2b\n"
        "ldrd r10, r11, [r12, #36]\n" // lines, next
        "add r9, r9, r11\n"
        "subs r10, r10, #1\n"
        "str r9, [r12]\n"
        "str r10, [r12, #36]\n"
        "bne 1b\n"
        "add sp, sp, #12\n"
        "pop {r4-r11, pc}\n"
        ".purgem odt_two\n"
        );
}

// Words of a filter's row, columns of outputs at a time, bytes of a copied row of these, and rows of outputs.
typedef struct {
    int32_t words, columns, pitch, rows;
} ones_t;

static int plan_ones(ones_t *p, const odt_correlation_t *a) {
    int32_t row = a->KW * a->C;
    if (a->N != 1 || a->OW < 4 || a->OH < 1 || a->B < 1 || row < 1 || row > ODT_ONE_ROW || a->KH < 1 || a->KH > WORDS
        || a->KH * a->KW == 1 || a->SW > ROOM || a->SH > ROOM || a->zx != (int8_t)a->zx) {
        return 0;
    }
    p->words = (row + 3) >> 2;
    p->columns = odt_min(odt_min((ROOM / a->KH / a->C - a->KW) / a->SW + 1, a->OW), OUTPUTS);
    if (p->words * a->KH > WORDS || ROOM / a->KH < row || p->columns < 4) {
        return 0;
    }
    if (p->columns < a->OW) {
        p->columns &= ~3;
    }
    p->pitch = ((p->columns - 1) * a->SW + a->KW) * a->C;
    p->rows = odt_min((ROOM / p->pitch - a->KH) / a->SH + 1, a->OH);
    return 1;
}

int odt_is_one(const odt_correlation_t *a) {
    ones_t p;
    return plan_ones(&p, a);
}

// Packs the filter. Returns the sums' start.
static int32_t pack_one(const odt_correlation_t *a, const ones_t *p, uint32_t *to) {
    int32_t sum = 0;
    for (int32_t kh = 0; kh < a->KH; kh++) {
        int8_t row[ODT_ONE_ROW + 3] = {0}, *next = row;
        for (int32_t kw = 0; kw < a->KW; kw++) {
            const int8_t *w = a->w + kh * a->w_kh + kw * a->w_kw;
            for (int32_t c = 0; c < a->C; c++, w += a->w_c) {
                sum += *w;
                *next++ = *w;
            }
        }
        for (int32_t i = 0; i < p->words; i++) {
            *to++ = odt_evens(odt_word(row + 4 * i));
            *to++ = odt_odds(odt_word(row + 4 * i));
        }
    }
    return odt_wrap_sub(a->bias ? a->bias[0] : 0, odt_wrap_mul(a->zx, sum));
}

// Copies rows ih .. of an image, from column iw on.
static void copy_image(const odt_correlation_t *a, const ones_t *p, const int8_t *image, int32_t ih, int32_t iw,
    int32_t rows, int8_t *to) {
    int32_t C = a->C, pixel = odt_pixel(C, a->x_skip), first = odt_max(-iw, 0);
    int32_t last = odt_min(p->pitch / C, a->W - iw);
    memset(to, a->zx, (size_t)(rows * p->pitch));
    for (int32_t end = ih + rows; ih < end; ih++, to += p->pitch) {
        if (ih < 0 || ih >= a->H || first >= last) {
            continue;
        }
        const int8_t *from = image + (ih * a->W + iw + first) * pixel;
        int8_t *at = to + first * C, *stop = to + last * C;
        if (pixel == C) {
            odt_copy(at, from, (int32_t)(stop - at));
            continue;
        }
        if (C == 4) {
            for (; at != stop; at += 4, from += pixel) {
                memcpy(at, from, 4);
            }
        }
        for (; at != stop; at += C, from += pixel) {
            int32_t c = 0;
            do {
                at[c] = from[c];
            } while (++c != C);
        }
    }
}

// Converts the sums of `lines` times `count` outputs, a multiple of four, from column ow of row oh on.
static void finish_ones(
    const odt_correlation_t *a, one_t *s, int8_t *y, int32_t lines, int32_t count, int32_t *bounds) {
    int32_t all = lines * count, is_dense = a->y_ow == 1 && (lines == 1 || a->y_oh == count);
    int8_t *to = is_dense ? y : s->y;
    if (!odt_finish_pixels((int32_t (*)[4])(void *)s->sums, all / 4, &s->scales, to, 4, a->zy, a->lo, bounds)) {
        odt_multiplier_t q = odt_checked(a->q);
        for (int32_t i = 0; i < all; i++) {
            to[i] = odt_clamp(odt_rescaled(s->sums[i], q), a->zy, a->lo, a->peak);
        }
    }
    for (const int8_t *from = s->y; lines && !is_dense; lines--, y += a->y_oh) {
        int8_t *at = y;
        for (int32_t i = count; i; i--, at += a->y_ow) {
            *at = *from++;
        }
    }
}

void odt_correlate_one_i8__m4(const odt_correlation_t *a, int32_t *bounds) {
    one_t s;
    ones_t p;
    plan_ones(&p, a);
    int32_t bias[4] = {a->bias ? a->bias[0] : 0}, start = pack_one(a, &p, s.w), step = a->SW * a->C;
    int32_t size = a->H * a->W * odt_pixel(a->C, a->x_skip), whole = p.columns & ~3;
    bias[1] = bias[2] = bias[3] = bias[0];
    odt_find_scales(&s.scales, a->q, 0, 1, bias, odt_most(a->KH * a->KW * a->C, a->zy, a->lo), a->zy);
    for (int32_t b = 0; b < a->B; b++) {
        for (int32_t left = 0; left < a->OW; left += p.columns) {
            int32_t ow = odt_min(left, a->OW - p.columns); // some are computed twice
            for (int32_t first = 0; first < a->OH; first += p.rows) {
                int32_t rows = odt_min(p.rows, a->OH - first);
                odt_poll();
                copy_image(a, &p, a->x + b * size, first * a->SH - a->top, ow * a->SW - a->left,
                    (rows - 1) * a->SH + a->KH, s.x);
                for (int32_t at = 0, stop = 0; stop < p.columns; at = p.columns - 4) { // and the last four
                    int32_t count = at ? 4 : whole, most = OUTPUTS / count;
                    const int8_t *x = s.x + at * step;
                    int8_t *y = a->y + b * a->y_b + first * a->y_oh + (ow + at) * a->y_ow;
                    stop = at + count;
                    for (int32_t i = 0, lines; i < rows; i += lines) {
                        lines = odt_min(most, rows - i);
                        s.f = (fours_t) {x + i * a->SH * p.pitch, step, s.w, 8 * p.words, s.sums, a->KH,
                            p.pitch - 4 * p.words, start, count / 4, lines, a->SH * p.pitch - count * step};
                        sum_fours(&s.f);
                        finish_ones(a, &s, y + i * a->y_oh, lines, count, bounds);
                    }
                }
            }
        }
    }
}

#endif
