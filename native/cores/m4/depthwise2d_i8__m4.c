// Depthwise convolutions (depthwise.h) on cores with SMLAD, a Cortex-M4 and later, four channels at a time. Rows of x
// are packed on the stack as int16, minus zx, with pixels of two rows in a word, so that one SMLAD computes two taps of
// a column. The stack holds 2.4 KB.

#include "../../core.h"
#include "../depthwise.h"

#if ODT_M4

#include <string.h>

#include "../../fixed.h"
#include "words__m4.h"
#include "depthwise2d_lines_i8__m4.h"
#include "depthwise2d_tiny_i8__m4.h"
#include "pixels_i8__m4.h"

enum {
    POSITIONS = 64, // of pairs of rows
    PAIRS = 28,     // of taps
    OUTPUTS = 32,
    LINES = 9,      // pairs of rows at a time
    WIDEST = 7,     // taps in a row
};

typedef struct {
    odt_pixel_t x[POSITIONS];
    odt_pixel_t even[PAIRS], odd[WIDEST + PAIRS]; // for windows from a pair on; within it
    int32_t sums[OUTPUTS][4];
    odt_scales_t scales;
    int32_t start[4];
    int32_t lines, loaded; // pairs of rows that lie in x, as a ring; the next one to load
} depthwise_scratch_t;

// sums = start + x * w, or sums += x * w: `taps` taps of a pair of rows, then, `jump` bytes further, `second` taps of
// another pair; `next` bytes lead to the next window. 6 instructions per tap for 8 products, 13 per window. In the
// loops r0: x, r1: w, r4-r7: the sums of four channels, r8-r11: pixels of x, r2, r3, r12, lr: of w.
#define SUM(name, from) \
    ODT_ASSEMBLY static void name(int32_t (*sums)[4], int32_t (*end)[4], const odt_pixel_t *x, \
        const odt_pixel_t *w, int32_t taps, int32_t second, int32_t jump, int32_t next, const int32_t *start) { \
        (void)sums, (void)end, (void)x, (void)w, (void)taps, (void)second, (void)jump, (void)next, (void)start; \
        __asm volatile ( \
            ".syntax unified\n" \
            "push {r0-r12, lr}\n" /* 0: sums, 4: end, 8: start, 12: w; 56: taps, 60: second: where to begin */ \
            "mov r0, r2\n"        /* 64: jump, 68: next, 72: start */ \
            "ldr r4, [sp, #72]\n" \
            "str r4, [sp, #8]\n" \
            "ldrd r4, r5, [sp, #56]\n" \
            "rsb r4, r4, #7\n" \
            "rsb r5, r5, #7\n" \
            "mov r6, #24\n" \
            "adr.w r7, 2f\n" \
            "mla r4, r4, r6, r7\n" \
            "adr.w r7, 3f\n" \
            "mla r5, r5, r6, r7\n" \
            "add r4, r4, #1\n" \
            "add r5, r5, #1\n" \
            "strd r4, r5, [sp, #56]\n" \
            "1:\n" \
            from \
            "ldm r8, {r4-r7}\n" \
            "ldr pc, [sp, #56]\n" \
            "2:\n" \
            ODT_PIXELS ODT_PIXELS ODT_PIXELS ODT_PIXELS ODT_PIXELS ODT_PIXELS ODT_PIXELS \
            "ldr r8, [sp, #64]\n" \
            "add r0, r0, r8\n" \
            "ldr pc, [sp, #60]\n" \
            "3:\n" \
            ODT_PIXELS ODT_PIXELS ODT_PIXELS ODT_PIXELS ODT_PIXELS ODT_PIXELS ODT_PIXELS \
            "ldr r10, [sp, #68]\n" \
            "ldrd r8, r9, [sp]\n" \
            "add r0, r0, r10\n" \
            "stm r8!, {r4-r7}\n" \
            "str r8, [sp]\n" \
            "cmp r8, r9\n" \
            "bne 1b\n" \
            "add sp, sp, #16\n" \
            "pop {r4-r12, pc}\n" \
            ); \
    }

SUM(start_windows, "ldrd r8, r1, [sp, #8]\n")
SUM(add_windows, "ldr r8, [sp]\n" "ldr r1, [sp, #12]\n")

void odt_pack_lines(odt_pixel_t *to, const odt_line_t *upper, const odt_line_t *lower, int32_t first, int32_t by,
    int32_t count, int32_t W, int32_t zx) {
    uint32_t minus = odt_twice(-zx);
    int32_t up = upper->step * by, low = lower->step * by;
    for (; count > 0 && first < 0; count--, first += by, to++) {
        memset(*to, 0, sizeof(*to));
    }
    int32_t inside = first < W ? odt_min((W - 1 - first) / by + 1, count) : 0;
    const int8_t *x0 = upper->at + first * upper->step, *x1 = lower->at + first * lower->step;
    count -= inside;
    if (inside > 0) { // 22 instructions for two pixels; the first may be one
        __asm volatile (
            ".macro odt_pack_pixel\n"
            "pkhtb r11, r9, r8, asr #16\n"
            "pkhbt r9, r8, r9, lsl #16\n"
            "sxtab16 r8, %6, r9\n"
            "sxtab16 r9, %6, r9, ror #8\n"
            "sxtab16 r10, %6, r11\n"
            "sxtab16 r11, %6, r11, ror #8\n"
            "stm %0!, {r8-r11}\n"
            ".endm\n"
            "tst %3, #1\n"
            "beq 1f\n"
            "sub %1, %1, %4\n"
            "sub %2, %2, %5\n"
            "add %3, %3, #1\n"
            "b 2f\n"
            "1:\n"
            "ldr r8, [%1]\n"
            "ldr r9, [%2]\n"
            "odt_pack_pixel\n"
            "2:\n"
            "ldr r8, [%1, %4]\n"
            "ldr r9, [%2, %5]\n"
            "add %1, %1, %4, lsl #1\n"
            "add %2, %2, %5, lsl #1\n"
            "odt_pack_pixel\n"
            "subs %3, %3, #2\n"
            "bne 1b\n"
            ".purgem odt_pack_pixel\n"
            : "+r" (to), "+r" (x0), "+r" (x1), "+r" (inside)
            : "r" (up), "r" (low), "r" (minus)
            : "r8", "r9", "r10", "r11", "cc", "memory");
    }
    for (; count > 0; count--, to++) {
        memset(*to, 0, sizeof(*to));
    }
}

// Prepares the filters of channels n .. n + 3 as pairs of taps of a column, and the conversion of sums to outputs.
static void prepare(const odt_depthwise_t *a, int32_t n, depthwise_scratch_t *s) {
    int32_t width = a->KW, down = a->w_kh, right = a->w_kw, KH = a->KH;
    for (int32_t i = 0; i < 4; i++) {
        const int8_t *column = a->w + (n + i) * a->w_n;
        for (int32_t kw = 0; kw < width; kw++, column += right) {
            const int8_t *w = column;
            uint32_t *even = &s->even[kw][i], *odd = &s->odd[kw][i], above = 0;
            for (int32_t rows = KH >> 1; rows; rows--, w += down, even += 4 * width, odd += 4 * width) {
                uint32_t upper = (uint32_t)*w;
                w += down;
                *odd = odt_lower(above, upper);
                above = (uint32_t)*w;
                *even = odt_lower(upper, above);
            }
            if (KH & 1) {
                *even = odt_lower((uint32_t)*w, 0);
            }
            *odd = odt_lower(above, KH & 1 ? (uint32_t)*w : 0);
        }
        s->start[i] = a->bias ? a->bias[n + i] : 0;
    }
    odt_find_scales(&s->scales, a->q + n, s->start, odt_most(KH * width, a->zy, a->lo), a->zy);
}

// Converts sums, which include the bias, to outputs, for any scales.
static void finish_slowly(const odt_depthwise_t *a, int32_t n, int32_t (*sums)[4], int32_t count, int8_t *y,
    int32_t *peak) {
    for (int32_t i = 0; i < count; i++, y += a->y_ow) {
        for (int32_t j = 0; j < 4; j++) {
            y[j] = odt_clamp(odt_rescaled(sums[i][j], odt_checked(&a->q[n + j])), a->zy, a->lo, peak);
        }
    }
}

#if !ODT_MPY
#include "depthwise2d_threes_i8__m4.inc"
#endif

// The largest number of pairs of rows that windows meet.
static int32_t lines_of(const odt_depthwise_t *a) {
    return a->SH % 2 ? a->KH / 2 + 1 : (a->KH + 1) / 2;
}

// Sums windows ow .. ow + count - 1 of row `oh` of an image, or of two rows that meet the same pairs; pairs begin at
// every other row.
static void sum_rows(const odt_depthwise_t *a, const int8_t *x, int32_t oh, int32_t rows, int32_t ow, int32_t count,
    depthwise_scratch_t *s, int32_t (*sums)[4]) {
    int32_t ih = oh * a->SH, is_odd = ih & 1, first = ih >> 1, pairs = (a->KH + 1 + is_odd) >> 1, taps = a->KW;
    int32_t lines = s->lines, positions = (count - 1) * a->SW + taps, line = first % lines;
    s->loaded = odt_max(s->loaded, first);
    for (; s->loaded < first + pairs; s->loaded++) {
        uint32_t none = (uint32_t)(a->zx & 255) * 0x01010101;
        int32_t row = 2 * s->loaded - a->top;
        odt_line_t upper = odt_line_of(x, row, a->H, a->x_h, a->x_w, &none);
        odt_line_t lower = odt_line_of(x, row + 1, a->H, a->x_h, a->x_w, &none);
        odt_pack_lines(s->x + s->loaded % lines * positions, &upper, &lower, ow * a->SW - a->left, 1, positions, a->W,
            a->zx);
    }
    int32_t size = (int32_t)sizeof(odt_pixel_t), step = positions * size;
    const odt_pixel_t *w = is_odd ? s->odd : s->even, *odd = s->odd;
    for (int32_t pair = 0; pair < pairs; pair += 2, w += 2 * taps, odd += 2 * taps) {
        const odt_pixel_t *at = s->x + line * positions;
        int32_t second = pair + 1 < pairs ? taps : 0, jump = 0;
        line = line + 1 == lines ? 0 : line + 1;
        if (second) {
            jump = (line ? step : -(lines - 1) * step) - taps * size;
        }
        line = line + 1 == lines ? 0 : line + 1;
        int32_t next = (a->SW - taps - second) * size - jump;
        if (pair == 0) {
            start_windows(sums, sums + count, at, w, taps, second, jump, next, s->start);
        } else {
            add_windows(sums, sums + count, at, w, taps, second, jump, next, NULL);
        }
        if (rows > 1 && pair == 0) {
            start_windows(sums + count, sums + 2 * count, at, odd, taps, second, jump, next, s->start);
        } else if (rows > 1) {
            add_windows(sums + count, sums + 2 * count, at, odd, taps, second, jump, next, NULL);
        }
    }
}

// For four channels of an image of a few pixels: sums = start + x * w; taps are as in odt_tiny_t. 12 instructions for 4
// products, plus 9 per output. r0: taps, r1: w, r2: x, r3: the end of the output's taps, r4-r7: sums, r8, r9: a pixel,
// r10, r11: its weights, lr: the address of sums.
ODT_ASSEMBLY static void sum_taps(const uint8_t *taps, const odt_tiny_pixel_t *w, const odt_tiny_pixel_t *x,
    int32_t (*sums)[4], int32_t (*end)[4], const int32_t *start) {
    (void)taps, (void)w, (void)x, (void)sums, (void)end, (void)start;
    __asm volatile (
        ".syntax unified\n"
        "push {r4-r12, lr}\n" // 40: end, 44: start
        "mov lr, r3\n"
        "1:\n"
        "ldr r8, [sp, #44]\n"
        "ldrb r3, [r0], #1\n"
        "ldm r8, {r4-r7}\n"
        "add r3, r3, r0\n"
        "b 3f\n"
        "2:\n"
        "ldrb r12, [r0], #1\n"
        "add r12, r2, r12, lsl #1\n"
        "ldrd r8, r9, [r12]\n"
        "ldrb r12, [r0], #1\n"
        "add r12, r1, r12, lsl #1\n"
        "ldrd r10, r11, [r12]\n"
        "smlabb r4, r8, r10, r4\n"
        "smlabb r5, r9, r11, r5\n"
        "smlatt r6, r8, r10, r6\n"
        "smlatt r7, r9, r11, r7\n"
        "3:\n"
        "cmp r0, r3\n"
        "bne 2b\n"
        "stm lr!, {r4-r7}\n"
        "ldr r8, [sp, #40]\n"
        "cmp lr, r8\n"
        "bne 1b\n"
        "pop {r4-r12, pc}\n"
        );
}

// Computes four channels of tiny images.
static void depthwise_tiny(const odt_depthwise_t *a, const odt_tiny_t *t, int32_t n, int32_t *bounds) {
    int32_t sums[OUTPUTS][4], start[4], step = a->w_n, N = a->N;
    odt_tiny_pixel_t w[49], x[ODT_TINY_FOUR], *to = w;
    odt_scales_t scales;
    for (int32_t i = 0; i < 4; i++) {
        start[i] = a->bias ? a->bias[n + i] : 0;
    }
    odt_find_scales(&scales, a->q + n, start, odt_most(a->KH * a->KW, a->zy, a->lo), a->zy);
    for (int32_t kh = 0; kh < a->KH; kh++) {
        const int8_t *from = a->w + n * step + kh * a->w_kh;
        for (int32_t kw = 0; kw < a->KW; kw++, from += a->w_kw, to++) {
            (*to)[0] = odt_lower((uint32_t)from[0], (uint32_t)from[2 * step]);
            (*to)[1] = odt_lower((uint32_t)from[step], (uint32_t)from[3 * step]);
        }
    }
    int32_t is_dense = a->y_oh == a->OW * a->y_ow;
    int32_t most = is_dense && a->y_b == a->OH * a->y_oh ? OUTPUTS / t->outputs : 1; // images finished as one
    for (int32_t b = 0; b < a->B; b += most) {
        int32_t images = odt_min(a->B - b, most), count = images * t->outputs, here = is_dense ? count : a->OW;
        int8_t *y = a->y + b * a->y_b + n;
        odt_poll();
        for (int32_t i = 0; i < images; i++) {
            odt_tiny_load(x, a->x + (b + i) * t->pixels * N + n, N, t->pixels, a->zx);
            sum_taps(t->taps, w, x, sums + i * t->outputs, sums + (i + 1) * t->outputs, start);
        }
        for (int32_t done = 0; done < count; done += here, y += a->y_oh) {
            if (!odt_finish_pixels(sums + done, here, &scales, y, a->y_ow, a->zy, a->lo, bounds)) {
                finish_slowly(a, n, sums + done, here, y, a->peak);
            }
        }
    }
}

int odt_depthwise_tiny_i8__m4(const odt_depthwise_t *a, int32_t first, int32_t stop) {
    int32_t bounds[2] = {INT16_MIN, INT16_MAX};
    odt_tiny_t t;
    if (a->N < 4 || a->KH < 1 || a->KW < 1 || !odt_tiny_plan(&t, &a->H)) {
        return 0;
    }
    for (int32_t n = first; n < stop; n += 4) {
        depthwise_tiny(a, &t, odt_min(n, a->N - 4), bounds); // the last four, if fewer are left
    }
    *a->peak = odt_peak_of(bounds, a->zy, a->lo, *a->peak);
    return 1;
}

// Whether there are four channels from n on, and their rows and taps fit.
static int is_for_four(const odt_depthwise_t *a, int32_t n) {
    int32_t lines = lines_of(a);
    return n >= 0 && a->KH >= 1 && a->KW >= 1 && a->KW <= WIDEST && (a->KH + 1) / 2 * a->KW <= PAIRS && lines <= LINES
        && POSITIONS / lines >= a->KW;
}

int odt_depthwise_i8__m4(const odt_depthwise_t *a, int32_t n, int32_t *peak) {
    odt_depthwise_t turned;
    if (a->KW == 1 && a->KH <= WIDEST && a->OH > a->OW) { // columns are longer, and are the whole filter
        turned = odt_turned(a);
        a = &turned;
    }
    if (!is_for_four(a, n)) {
        return 0;
    }
    #if !ODT_MPY
    if (is_threes(a)) {
        depthwise_threes(a, n, peak);
        return 1;
    }
    #endif
    int32_t lines = lines_of(a), room = POSITIONS / lines - a->KW;
    depthwise_scratch_t s;
    s.lines = lines;
    prepare(a, n, &s);
    int32_t most = odt_min(room / a->SW + 1, OUTPUTS), parts = (a->OW + most - 1) / most;
    int32_t columns = (a->OW + parts - 1) / parts, bounds[2] = {INT16_MIN, INT16_MAX};
    // Rows without a gap in y are finished together.
    int is_dense = parts == 1 && a->y_oh == a->OW * a->y_ow && (a->B == 1 || a->y_b == a->OH * a->y_oh);
    int32_t at_once = is_dense ? OUTPUTS / columns : 1;
    int are_pairs = !ODT_MPY && a->SH == 1 && a->KH % 2 && at_once > 1; // pairs of rows that begin with an even row
    for (int32_t ow = 0; ow < a->OW; ow += columns) {
        int32_t count = odt_min(columns, a->OW - ow), done = 0;
        int8_t *y = a->y;
        for (int32_t b = 0; b < a->B; b++) {
            const int8_t *x = a->x + b * a->H * a->W * a->N + n;
            s.loaded = 0;
            for (int32_t oh = 0, rows; oh < a->OH; oh += rows) {
                rows = are_pairs && oh % 2 == 0 && oh + 1 < a->OH && done + 1 < at_once ? 2 : 1;
                if (oh % 8 == 0) {
                    odt_poll();
                }
                if (done == 0) {
                    y = a->y + b * a->y_b + oh * a->y_oh + ow * a->y_ow + n;
                }
                sum_rows(a, x, oh, rows, ow, count, &s, s.sums + done * count);
                int is_last = b == a->B - 1 && oh + rows == a->OH;
                done += rows;
                if (done == at_once || is_last) {
                    if (!odt_finish_pixels(s.sums, done * count, &s.scales, y, a->y_ow, a->zy, a->lo, bounds)) {
                        finish_slowly(a, n, s.sums, done * count, y, peak);
                    }
                    done = 0;
                }
            }
        }
    }
    *peak = odt_peak_of(bounds, a->zy, a->lo, *peak);
    return 1;
}

#include "depthwise2d_squares_i8__m4.inc"

#endif
