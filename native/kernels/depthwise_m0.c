// Depthwise convolutions on a Cortex-M0+, a channel at a time. One MULS makes two products, as in panel_m0.h: a weight
// times the inputs of two outputs beside one another, or an error times the inputs of two taps.
//
// The channel's inputs are first laid out as words on the stack, a tile with its padding: word p of a row is
// x[p] + x[p + 1] * 65536. Padding is zx, so that no window needs to know of it.

#include "depthwise_i8.h"

#if ODT_M0

#include <string.h>

#include "../fixed.h"
#include "registers_m0.h"

enum {
    WORDS = 324, // of a tile: 16x16 outputs of 3x3
    SUMS = 64,   // outputs that are finished at a time
    FEW = 6, // taps that do not pay for it
    TAPS = 32,
};

// A tile of inputs, which begins at row ih, column iw of an image.
typedef struct {
    const int8_t *x; // the image's channel
    int32_t H, W, N; // N: bytes from one to the next
    int32_t ih, iw, rows, columns;
    int8_t zx;
} tile_t;

// Elements x[(count - 1) * step] .. x[0], one behind the other, to the words before `words`; `next` is the element behind
// them. 10 cycles an element.
__attribute__((naked, noinline)) static void fill_words(int32_t *words, const int8_t *x, int32_t step,
    int32_t count, int32_t next) {
    (void)words, (void)x, (void)step, (void)count, (void)next;
    __asm volatile (
        ".syntax unified\n"
        "push {r4-r6}\n"
        "ldr r4, [sp, #12]\n"
        "subs r3, #1\n"
        "muls r3, r2\n"
        "1:\n"
        "ldrsb r5, [r1, r3]\n"
        "lsls r4, r4, #16\n"
        "adds r4, r4, r5\n"
        "subs r0, #4\n"
        "str r4, [r0]\n"
        "subs r3, r3, r2\n"
        "bpl 1b\n"
        "pop {r4-r6}\n"
        "bx lr\n"
        );
}

static void lay_out(const tile_t *t, int32_t *words) {
    int32_t padding = t->zx + (int32_t)((uint32_t)(int32_t)t->zx << 16), columns = t->columns;
    int32_t from = odt_limit(-t->iw, 0, columns), to = odt_limit(t->W - t->iw, from, columns), N = t->N;
    const int8_t *x = t->x + (t->ih * t->W + t->iw) * N;
    for (int32_t ih = t->ih, end = ih + t->rows; ih != end; ih++, words += columns, x += t->W * N) {
        int is_inside = (uint32_t)ih < (uint32_t)t->H && from < to;
        int32_t p = columns;
        while (p > (is_inside ? to : 0)) {
            words[--p] = padding;
        }
        if (is_inside) {
            fill_words(words + to, x + from * N, N, to - from, t->zx);
            for (p = from; p > 0; p--) {
                words[p - 1] = t->zx + (int32_t)((uint32_t)words[p] << 16);
            }
        }
    }
}

// What sum_nine loads.
typedef struct {
    const int32_t *x, *w; // 0: the first window, the filter
    int32_t row, step;    // 8: bytes from the end of a filter's row to the next one's window; from pair to pair
    int32_t (*sums)[4];   // 16
    int32_t (*end)[4];    // 20: of a row of outputs
    int32_t skip, count;  // 24: bytes from the last pair of a row of outputs to the next one's first; of its sums
    int32_t rows;         // 32
} pairs_t;

// Sums of pairs of outputs of filters of 3x3: 77 cycles for 18 products.
__attribute__((naked, noinline)) static void sum_nine(const pairs_t *pairs) {
    (void)pairs;
    __asm volatile (
        ".syntax unified\n"
        ".macro odt_two x0, w0, x1, w1\n" // 6 cycles
        "muls \\x0, \\w0\n"
        "muls \\x1, \\w1\n"
        "adds \\x0, \\x0, \\x1\n"
        "add r8, \\x0\n"
        "asrs \\x0, \\x0, #16\n"
        "adcs r2, \\x0\n"
        ".endm\n"
        ODT_SAVE_REGISTERS
        "ldmia r0!, {r1-r6}\n"
        "mov r11, r1\n"
        "mov r10, r2\n"
        "mov r9, r3\n"
        "mov r12, r4\n"
        "mov lr, r5\n"
        "ldmia r0!, {r3-r5}\n"
        "push {r3-r6}\n" // 0: skip, 4: count, 8: rows, 12: end
        "1:\n"
        "movs r2, #0\n"
        "mov r8, r2\n"
        "mov r0, r10\n"
        "mov r1, r11\n"
        "add r11, r12\n"
        "ldmia r1!, {r4, r5, r6}\n"
        "ldmia r0!, {r3, r7}\n"
        "odt_two r4, r3, r5, r7\n"
        "add r1, r9\n"
        "ldmia r1!, {r4, r5}\n"
        "ldmia r0!, {r3, r7}\n"
        "odt_two r6, r3, r4, r7\n"
        "ldmia r1!, {r4}\n"
        "ldmia r0!, {r3, r7}\n"
        "odt_two r5, r3, r4, r7\n"
        "add r1, r9\n"
        "ldmia r1!, {r4, r5, r6}\n"
        "ldmia r0!, {r3, r7}\n"
        "odt_two r4, r3, r5, r7\n"
        "ldmia r0!, {r3}\n"
        "muls r6, r3\n"
        "add r8, r6\n"
        "asrs r6, r6, #16\n"
        "adcs r2, r6\n"
        "mov r4, r8\n"
        "lsls r5, r2, #16\n"
        "subs r4, r4, r5\n"
        "mov r6, lr\n"
        "str r4, [r6]\n"
        "str r2, [r6, #16]\n"
        "adds r6, #32\n"
        "mov lr, r6\n"
        "ldr r4, [sp, #12]\n"
        "cmp r6, r4\n"
        "blo 1b\n"
        "mov lr, r4\n" // a sum too many, if they were odd
        "pop {r3, r5, r6}\n"
        "add r11, r3\n"
        "add sp, #4\n"
        "adds r4, r4, r5\n"
        "subs r6, #1\n"
        "beq 2f\n"
        "push {r4}\n"
        "push {r3, r5, r6}\n"
        "b 1b\n"
        "2:\n"
        ODT_RESTORE_REGISTERS
        ".purgem odt_two\n"
        );
}

static void sum_pairs(const pairs_t *a, int32_t KH, int32_t KW) {
    const int32_t *x = a->x;
    int32_t (*sums)[4] = a->sums, (*end)[4] = a->end;
    for (int32_t rows = a->rows; rows; rows--, x += a->skip / 4, sums = end, end += a->count / 16) {
        for (; sums < end; sums += 2, x += a->step / 4) {
            const int32_t *row = x, *w = a->w;
            uint32_t all = 0;
            int32_t high = 0;
            for (int32_t kh = KH; kh; kh--, row += a->row / 4) {
                for (int32_t kw = KW; kw; kw--) {
                    uint32_t p = (uint32_t)*row++ * (uint32_t)*w++;
                    all += p;
                    high += (int32_t)(p + 0x8000) >> 16;
                }
            }
            sums[0][0] = (int32_t)(all - ((uint32_t)high << 16));
            sums[1][0] = high;
        }
    }
}

int odt_depthwise_m0(const odt_depthwise_t *a, int32_t n, int32_t *peak) {
    int32_t words[WORDS + 1], sums[SUMS + 1][4], w[TAPS], total = 0;
    int32_t KH = a->KH, KW = a->KW;
    if (KH * KW < FEW || KH * KW > TAPS || a->SH != 1 || a->SW != 1) {
        return 0;
    }
    int32_t wide = odt_min(odt_min(a->OW, SUMS), WORDS / KH - KW + 1), columns = wide + KW - 1;
    for (int32_t tap = 0; tap < KH * KW; tap++) {
        w[tap] = a->w[n * a->w_n + tap / KW * a->w_kh + tap % KW * a->w_kw];
        total += w[tap];
    }
    int32_t high = WORDS / columns - KH + 1, offset = (a->bias ? a->bias[n] : 0) - a->zx * total;
    int32_t at_once = wide == a->OW && a->y_oh == a->OW * a->y_ow ? SUMS / wide : 1;
    pairs_t pairs = {.w = w, .row = (columns - KW) * 4, .step = 8};
    tile_t tile = {.H = a->H, .W = a->W, .N = a->N, .columns = columns, .zx = (int8_t)a->zx};
    for (int32_t b = 0; b < a->B; b++) {
        tile.x = a->x + b * a->H * a->W * a->N + n;
        for (int32_t top = 0; top < a->OH; top += high) {
            int32_t bottom = odt_min(top + high, a->OH);
            for (int32_t ow = 0; ow < a->OW; ow += wide) {
                int32_t count = odt_min(wide, a->OW - ow);
                tile.ih = top - a->top;
                tile.iw = ow - a->left;
                tile.rows = bottom - top + KH - 1;
                odt_poll();
                lay_out(&tile, words);
                for (int32_t oh = top; oh < bottom; oh += at_once) {
                    int32_t rows = odt_min(at_once, bottom - oh);
                    pairs.x = words + (oh - top) * columns;
                    pairs.sums = sums;
                    pairs.end = sums + count;
                    pairs.skip = 4 * (columns - count - (count & 1));
                    pairs.count = 16 * count;
                    pairs.rows = rows;
                    if (KH == 3 && KW == 3) {
                        sum_nine(&pairs);
                    } else {
                        sum_pairs(&pairs, KH, KW);
                    }
                    odt_finish_i8((const int32_t (*)[4])sums, 0, offset, &a->q[n], a->zy, a->lo, rows * count,
                        a->y + b * a->y_b + oh * a->y_oh + ow * a->y_ow + n, a->y_ow, peak);
                }
            }
        }
    }
    return 1;
}

// --- the gradient of the filters ----------------------------------------------------------------

// What sum_taps loads and where it leaves what it has summed.
typedef struct {
    const int8_t *e;       // 0
    const int32_t *x;      // 4
    int32_t step;          // 8: from one error to the next
    const int32_t *end;    // 12: of a row of x, behind the last pair of outputs
    int32_t high01, high2; // 16
    uint32_t all01, all2;  // 24
    int32_t rows, row;     // 32: of outputs; bytes of a row of x
    int32_t skip;          // 40: of these, what lies behind the last pair
    int32_t e_skip;        // 44: bytes behind the last pair's errors
} taps_t;

// Rows of pairs of outputs, times the three taps of one row of the filter: 29 cycles for 6 products.
__attribute__((naked, noinline)) static void sum_taps(taps_t *taps) {
    (void)taps;
    __asm volatile (
        ".syntax unified\n"
        ODT_SAVE_REGISTERS
        "push {r0}\n"
        "ldr r2, [r0, #8]\n"
        "mov r10, r2\n"
        "adds r2, r2, r2\n"
        "mov lr, r2\n"
        "ldr r2, [r0, #12]\n"
        "mov r12, r2\n"
        "ldr r2, [r0, #24]\n"
        "mov r8, r2\n"
        "ldr r2, [r0, #28]\n"
        "mov r9, r2\n"
        "ldr r2, [r0, #16]\n"
        "ldr r3, [r0, #20]\n"
        "ldr r1, [r0, #4]\n"
        "ldr r0, [r0]\n"
        "1:\n"
        "ldmia r1!, {r4, r5}\n"
        "ldrb r6, [r0]\n"
        "sxtb r6, r6\n"
        "mov r7, r10\n"
        "ldrsb r7, [r0, r7]\n"
        "add r0, lr\n"
        "muls r4, r6\n"
        "muls r5, r7\n"
        "adds r4, r4, r5\n"
        "add r8, r4\n"
        "asrs r4, r4, #16\n"
        "adcs r2, r4\n"
        "ldr r4, [r1]\n"
        "ldr r5, [r1, #4]\n"
        "muls r4, r6\n"
        "muls r5, r7\n"
        "adds r4, r4, r5\n"
        "add r9, r4\n"
        "asrs r4, r4, #16\n"
        "adcs r3, r4\n"
        "cmp r1, r12\n"
        "bne 1b\n"
        "ldr r7, [sp]\n"
        "ldr r6, [r7, #32]\n"
        "subs r6, #1\n"
        "beq 2f\n"
        "str r6, [r7, #32]\n"
        "ldr r6, [r7, #36]\n"
        "add r12, r6\n"
        "ldr r6, [r7, #40]\n"
        "adds r1, r1, r6\n"
        "ldr r6, [r7, #44]\n"
        "adds r0, r0, r6\n"
        "b 1b\n"
        "2:\n"
        "pop {r0}\n"
        "adds r0, #16\n"
        "mov r4, r8\n"
        "mov r5, r9\n"
        "stmia r0!, {r2-r5}\n"
        ODT_RESTORE_REGISTERS
        );
}

int odt_depthwise_dw_m0(const odt_depthwise2d_dw_i8_t *a, int32_t n) {
    enum { K = 3 };
    int32_t words[WORDS + 1], OW = a->OW, N = a->N, wide = odt_min(OW, 64), columns = wide + K - 1;
    int32_t high = WORDS / columns - K + 1, c = a->at + n, total = 0;
    taps_t taps[K];
    if (a->KH != K || a->KW != K || a->SH != 1 || a->SW != 1) {
        return 0;
    }
    if (n == 0 && odt_is_extreme(a->e, a->B * a->OH * OW * N)) { // which no error is (numerics.md): lanes would meet
        return 0;
    }
    memset(taps, 0, sizeof(taps));
    words[WORDS] = 0;
    tile_t tile = {.H = a->H, .W = a->W, .N = N, .columns = columns, .zx = (int8_t)a->zx};
    for (int32_t b = 0; b < a->B; b++) {
        tile.x = a->x + b * a->H * a->W * N + c;
        for (int32_t top = 0; top < a->OH; top += high) {
            int32_t bottom = odt_min(top + high, a->OH);
            for (int32_t ow = 0; ow < OW; ow += wide) {
                int32_t count = odt_min(wide, OW - ow);
                tile.ih = top - a->PT;
                tile.iw = ow - a->PL;
                tile.rows = bottom - top + K - 1;
                odt_poll();
                lay_out(&tile, words);
                const int8_t *e = a->e + ((b * a->OH + top) * OW + ow) * N + c;
                for (int32_t row = 0; row < bottom - top; row++) {
                    const int8_t *from = e + row * OW * N;
                    for (int32_t i = 0; i < count; i++, from += N) {
                        total += *from;
                    }
                }
                for (int32_t kh = 0; kh < K; kh++) {
                    taps_t *t = &taps[kh];
                    t->e = e;
                    t->x = words + kh * columns;
                    t->step = N;
                    t->end = t->x + (count & ~1);
                    t->rows = bottom - top;
                    t->row = 4 * columns;
                    t->skip = 4 * (columns - (count & ~1));
                    t->e_skip = (OW - (count & ~1)) * N;
                    if (count > 1) {
                        sum_taps(t);
                    }
                    for (int32_t row = 0; (count & 1) && row < bottom - top; row++) {
                        const int32_t *x = words + (row + kh) * columns + count - 1;
                        uint32_t last = (uint32_t)(int32_t)e[(row * OW + count - 1) * N];
                        uint32_t p = last * (uint32_t)x[0], q = last * (uint32_t)x[2];
                        t->all01 += p;
                        t->high01 += (int32_t)(p + 0x8000) >> 16;
                        t->all2 += q;
                        t->high2 += (int32_t)(q + 0x8000) >> 16;
                    }
                }
            }
        }
    }
    int32_t *dw = a->dw + n * K * K, zeros = a->zx * total;
    for (int32_t kh = 0; kh < K; kh++, dw += K) {
        const taps_t *t = &taps[kh];
        dw[0] = (int32_t)(t->all01 - ((uint32_t)t->high01 << 16)) - zeros;
        dw[1] = t->high01 - zeros;
        dw[2] = (int32_t)(t->all2 - ((uint32_t)t->high2 << 16)) - zeros;
    }
    return 1;
}

#endif
