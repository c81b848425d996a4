// Depthwise convolutions on a Cortex-M0+, forward and the gradient of the input, a channel and a tile of its inputs
// at a time (depthwise_m0.h). One MULS makes two products, as in panel_m0.h: a weight times the inputs of two outputs
// beside one another. The stack holds 2.5 KB.

#include "depthwise_m0.h"

#if ODT_M0

#include "../fixed.h"
#include "finish_m0.h"
#include "registers_m0.h"
#include "rescale.h"

enum {
    FEW = 6, // taps that do not pay for a tile
    TAPS = 32,
};

// What sum_nine loads.
typedef struct {
    const int32_t *w;    // 0
    const int32_t *x;    // 4: the first window
    int32_t *sums;       // 8
    int32_t offset;      // 12: of all sums
    int32_t row;         // 16: bytes from the end of a window's row to its next one
    int32_t back;        // 20: from the end of a window to the next pair's
    int32_t even;        // 24: of the sums of a row of outputs, rounded up to pairs
    int32_t skip;        // 28: from where a row of outputs' next pair would be to the next row's first
    int32_t rows;        // 32
} windows_t;

// Sums of pairs of outputs of filters of 3x3: 73 cycles for 18 products, and 13 a row of outputs. Of a pair's words P,
// r8 sums all and r5 the upper halves, rounded to nearest; the sum of the lower halves is what is left (panel_m0.h).
__attribute__((naked, noinline)) static void sum_nine(const windows_t *windows) {
    (void)windows;
    __asm volatile (
        ".syntax unified\n"
        ".macro odt_two x0, w0, x1, w1\n" // 6 cycles
        "muls \\x0, \\w0\n"
        "muls \\x1, \\w1\n"
        "adds \\x0, \\x0, \\x1\n"
        "add r8, \\x0\n"
        "asrs \\x0, \\x0, #16\n"
        "adcs r5, \\x0\n"
        ".endm\n"
        ODT_SAVE_REGISTERS
        "ldmia r0!, {r1-r7}\n"
        "mov lr, r3\n"
        "mov r11, r4\n"
        "mov r9, r5\n"
        "mov r10, r6\n"
        "mov r12, r3\n"
        "add r12, r7\n"
        "ldmia r0!, {r3, r4}\n"
        "movs r0, r1\n"
        "movs r1, r2\n"
        "movs r2, r3\n"
        "movs r3, r7\n"
        "push {r2-r4}\n" // 0: skip, 4: even, 8: rows
        "1:\n"
        "movs r5, #0\n"
        "mov r8, r11\n"
        "ldmia r1!, {r2, r3, r4}\n"
        "ldmia r0!, {r6, r7}\n"
        "odt_two r2, r6, r3, r7\n"
        "add r1, r9\n"
        "ldmia r1!, {r2, r3}\n"
        "ldmia r0!, {r6, r7}\n"
        "odt_two r4, r6, r2, r7\n"
        "ldmia r1!, {r2}\n"
        "ldmia r0!, {r6, r7}\n"
        "odt_two r3, r6, r2, r7\n"
        "add r1, r9\n"
        "ldmia r1!, {r2, r3, r4}\n"
        "ldmia r0!, {r6, r7}\n"
        "odt_two r2, r6, r3, r7\n"
        "ldmia r0!, {r6}\n"
        "muls r4, r6\n"
        "add r8, r4\n"
        "asrs r4, r4, #16\n"
        "adcs r5, r4\n"
        "subs r0, #36\n"
        "add r1, r10\n"
        "mov r4, r8\n"
        "lsls r6, r5, #16\n"
        "subs r4, r4, r6\n"
        "add r5, r11\n"
        "mov r6, lr\n"
        "stmia r6!, {r4, r5}\n"
        "mov lr, r6\n"
        "cmp r6, r12\n"
        "bne 1b\n"
        "ldr r4, [sp]\n"
        "adds r1, r1, r4\n"
        "ldr r4, [sp, #4]\n"
        "add r12, r4\n"
        "ldr r4, [sp, #8]\n"
        "subs r4, #1\n"
        "str r4, [sp, #8]\n"
        "bne 1b\n"
        "add sp, #12\n"
        ODT_RESTORE_REGISTERS
        ".purgem odt_two\n"
        );
}

// The same of KH x KW.
static void sum_pairs(const windows_t *a, int32_t KH, int32_t KW) {
    const int32_t *x = a->x;
    int32_t *sums = a->sums;
    for (int32_t rows = a->rows; rows; rows--, x += a->skip / 4) {
        for (int32_t *end = sums + a->even / 4; sums != end; sums += 2, x += a->back / 4) {
            const int32_t *w = a->w;
            uint32_t all = (uint32_t)a->offset;
            int32_t high = 0;
            for (int32_t kh = KH; kh; kh--) {
                for (int32_t kw = KW; kw; kw--) {
                    uint32_t p = (uint32_t)*x++ * (uint32_t)*w++;
                    all += p;
                    high += (int32_t)(p + 0x8000) >> 16;
                }
                x += kh > 1 ? a->row / 4 : 0;
            }
            sums[0] = (int32_t)(all - ((uint32_t)high << 16));
            sums[1] = (int32_t)((uint32_t)high + (uint32_t)a->offset);
        }
    }
}

// Rows of `width` bytes of sums, an odd sum being followed by one that is none, to outputs: o->y[i * o->step], rows
// `skip` bytes apart. No sum has more than 18 bits. 19 cycles an output, and 19 or 21 a row; 6 more for an output that
// leaves its range.
__attribute__((naked, noinline)) static void finish_rows(const int32_t *sums, odt_output_t *o, int32_t width,
    int32_t rows, int32_t skip) {
    (void)sums, (void)o, (void)width, (void)rows, (void)skip;
    __asm volatile (
        ".syntax unified\n"
        ".macro odt_finish_one n, from\n"
        "1\\n:\n"
        "ldr r2, [r0, #\\from]\n"
        "movs r3, r2\n" // (v * m_high + (v * m_low >> 12)) >> shift, rounded
        "muls r3, r5\n"
        "asrs r3, r3, #12\n"
        "muls r2, r6\n"
        "adds r2, r2, r3\n"
        "asrs r2, r7\n"
        ODT_CLAMP
        ".endm\n"
        ".macro odt_finish_rare n\n"
        ODT_CLAMP_RARE
        ".endm\n"
        ODT_SAVE_REGISTERS
        "mov r8, r2\n"
        "ldr r4, [sp, #36]\n"
        "push {r1, r3, r4}\n" // 4: rows, 8: skip
        "ldr r4, [r1, #32]\n"
        "ldr r3, [r1, #36]\n"
        "mov r10, r3\n"
        "ldr r3, [r1, #40]\n"
        "mov r11, r3\n"
        "ldr r3, [r1, #12]\n"
        "mov r12, r3\n"
        "ldr r3, [r1, #16]\n"
        "mov lr, r3\n"
        "ldr r5, [r1, #44]\n"
        "ldr r6, [r1, #48]\n"
        "ldr r7, [r1, #52]\n"
        "ldr r1, [r1, #8]\n"
        "4:\n"
        "mov r9, r0\n"
        "add r9, r8\n"
        "mov r2, r8\n" // an odd one first
        "lsls r2, r2, #29\n"
        "bpl 10f\n"
        "subs r0, #4\n"
        "b 11f\n"
        "odt_finish_one 0, 0\n"
        "odt_finish_one 1, 4\n"
        "adds r0, #8\n"
        "cmp r0, r9\n"
        "bne 10b\n"
        "mov r2, r8\n"
        "lsls r2, r2, #29\n"
        "bpl 5f\n"
        "adds r0, #4\n"
        "5:\n"
        "ldr r2, [sp, #8]\n"
        "adds r1, r1, r2\n"
        "ldr r2, [sp, #4]\n"
        "subs r2, #1\n"
        "str r2, [sp, #4]\n"
        "bne 4b\n"
        "pop {r0, r1, r2}\n"
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

// A channel.
typedef struct {
    int32_t w[TAPS], offset;
    odt_multiplier_t q;
    odt_output_t o;
    int is_short; // whether finish_rows() takes it
} channel_t;

// What a filter's weights come to.
typedef struct {
    int32_t sum, size; // of the weights and of their magnitudes
    int32_t extreme;   // negative if one is -128
} total_t;

// A filter to words.
static __attribute__((noinline)) total_t load_filter(const int8_t *row, int32_t KH, int32_t KW, int32_t step,
    int32_t skip, int32_t *to) {
    total_t total = {0, 0, 0};
    for (; KH; KH--, row += skip) {
        for (int32_t *end = to + KW; to != end; row += step) {
            int32_t w = *row;
            *to++ = w;
            total.sum += w;
            total.size += w < 0 ? -w : w;
            total.extreme |= w + 127;
        }
    }
    return total;
}

// Returns whether two of its products fit a lane.
static __attribute__((noinline)) int load_channel(channel_t *c, const odt_depthwise_t *a, int32_t n) {
    int32_t bias = a->bias ? a->bias[n] : 0, zy = a->zy, lo = a->lo, peak = *a->peak;
    odt_multiplier_t q = odt_checked(&a->q[n]);
    total_t total = load_filter(a->w + n * a->w_n, a->KH, a->KW, a->w_kw, a->w_kh - a->KW * a->w_kw, c->w);
    if (total.extreme < 0) { // which no weight is (numerics.md)
        return 0;
    }
    c->offset = (int32_t)((uint32_t)bias - (uint32_t)(a->zx * total.sum));
    c->q = q;
    // As they are, unless a scale has run away or a program is wrong, or a filter is large.
    c->is_short = q.s >= 33 && q.m >= 0 && q.m % 128 == 0 && zy == (int8_t)zy && lo == (int8_t)lo && lo <= zy
        && peak >= 0 && peak < 1 << 30 && (uint32_t)(255 * total.size) + odt_magnitude(bias) < 1 << 18;
    if (c->is_short) {
        odt_output_init(&c->o, q, zy, lo, peak, lo == zy ? INT32_MIN : -peak);
        c->o.step = a->y_ow;
    }
    return 1;
}

static __attribute__((noinline)) void finish(const odt_depthwise_t *a, const odt_tile_t *t, channel_t *c, const int32_t *sums, int8_t *y) {
    int32_t columns = t->columns, rows = t->rows, skip = a->y_oh - columns * a->y_ow;
    if (c->is_short) {
        if (skip == 0 && columns % 2 == 0) { // as one
            columns *= rows;
            rows = 1;
        }
        c->o.y = y;
        finish_rows(sums, &c->o, columns * 4, rows, skip);
        return;
    }
    odt_rescaler_t q = odt_rescaler(c->q);
    for (; rows; rows--, y += skip, sums += columns & 1) {
        for (int32_t i = columns; i; i--, y += a->y_ow) {
            *y = odt_clamp_by(odt_rescale_by(&q, *sums++), a->zy, a->lo, a->peak);
        }
    }
}

int odt_depthwise_m0(const odt_depthwise_t *a) {
    int32_t words[ODT_TILE_WORDS + 2], sums[ODT_TILE_SUMS], KH = a->KH, KW = a->KW;
    odt_tile_t t = {.H = a->H, .W = a->W, .N = a->N, .KH = KH, .KW = KW, .SH = a->SH, .SW = a->SW, .top = a->top,
        .left = a->left, .OH = a->OH, .OW = a->OW, .zx = a->zx, .words = words};
    channel_t c;
    if (KH * KW < FEW || KH * KW > TAPS || !odt_tile_plan(&t)) {
        return 0;
    }
    windows_t windows = {.w = c.w, .x = odt_tile_windows(&t), .sums = sums, .row = (t.pitch - KW) * 4,
        .back = (2 * t.SW - (KH - 1) * t.pitch - KW) * 4};
    while (odt_tile_next(&t)) {
        int32_t even = t.columns + (t.columns & 1);
        windows.even = even * 4;
        windows.skip = (t.SH * t.pitch - t.SW * even) * 4;
        windows.rows = t.rows;
        for (int32_t n = 0; n < a->N; n++) {
            if (!load_channel(&c, a, n)) {
                return 0;
            }
            windows.offset = c.offset;
            for (int32_t b = 0; b < a->B; b++) {
                odt_poll();
                odt_tile_fill(&t, a->x + b * a->H * a->W * a->N + n);
                if (KH == 3 && KW == 3) {
                    sum_nine(&windows);
                } else {
                    sum_pairs(&windows, KH, KW);
                }
                finish(a, &t, &c, sums, a->y + b * a->y_b + t.oh * a->y_oh + t.ow * a->y_ow + n);
            }
            if (c.is_short) {
                *a->peak = a->lo == a->zy ? c.o.max - a->zy : odt_max(c.o.max - a->zy, a->zy - c.o.min);
            }
        }
    }
    return 1;
}

#endif
