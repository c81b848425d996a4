// Dense layers (dense_i8.c) for few samples on cores with SMLAD, a Cortex-M4 and later. A sample is packed on the stack
// as int16, x - zx, and multiplied by four rows of weights at a time. The stack holds 1.2 KB.

#include "../../core.h"
#include "../correlate.h"

#if ODT_M4

#include "../../fixed.h"
#include "../../common/elements.h"
#include "words__m4.h"
#include "dense_i8__m4.h"
#include "finish_i8__m4.h"

enum {
    DEPTH = 512, // elements of a sample at a time, a multiple of 8
    ROWS = 32,   // rows of weights at a time
};

#define ROW(load, even, odd, sum) \
    "ldr r12, " load "\n" \
    "sxtb16 lr, r12\n" \
    "sxtb16 r12, r12, ror #8\n" \
    "smlad " sum ", lr, " even ", " sum "\n" \
    "smlad " sum ", r12, " odd ", " sum "\n"

#define WORDS(even, odd) \
    ROW("[r0, r2]", even, odd, "r5") \
    ROW("[r0, r2, lsl #1]", even, odd, "r6") \
    ROW("[r0], #4", even, odd, "r4") \
    ROW("[r1], #4", even, odd, "r7")

#define EIGHT /* 41 instructions, 164 bytes */ \
    "ldm r3!, {r8-r11}\n" \
    WORDS("r8", "r9") \
    WORDS("r10", "r11")

// sums = start + x * w, for `eights` > 0 times 8 depths of x and `fours` > 0 times four rows, K bytes apart. 85
// instructions for 64 products, 18 for four rows. r0: row 0, r1: row 3, r2: K, r3: x, r4-r7: the rows' sums, r8-r11:
// pairs of x, r12, lr: pairs of weights.
ODT_ASSEMBLY static void dot_rows(int32_t *sums, const int8_t *w, int32_t K, const uint32_t *x,
    int32_t eights, int32_t fours, const int32_t *start) {
    (void)sums, (void)w, (void)K, (void)x, (void)eights, (void)fours, (void)start;
    __asm volatile (
        ".syntax unified\n"
        // 0: sums, 4: back, 8: x, 44: entry; 52: eights, then the end of x, 56: fours, 60: start
        "push {r0, r1, r3, r4-r12, lr}\n"
        "ldr r4, [sp, #52]\n"
        "adr.w r5, 2f\n"
        "tst r4, #1\n" // enters the loop in its middle if the number is odd
        "it ne\n"
        "addne r5, r5, #164\n"
        "add r5, r5, #1\n"
        "str r5, [sp, #44]\n"
        "add r5, r3, r4, lsl #4\n"
        "str r5, [sp, #52]\n"
        "lsl r4, r4, #3\n"
        "rsb r4, r4, r2, lsl #2\n"
        "str r4, [sp, #4]\n" // from the end of a row to the row four below
        "mov r0, r1\n"
        "add r1, r0, r2\n"
        "add r1, r1, r2, lsl #1\n"
        "1:\n"
        "ldr r8, [sp, #60]\n"
        "ldr r3, [sp, #8]\n"
        "ldm r8!, {r4-r7}\n"
        "str r8, [sp, #60]\n"
        "ldr pc, [sp, #44]\n"
        "2:\n"
        EIGHT
        EIGHT
        "ldr r12, [sp, #52]\n"
        "cmp r3, r12\n"
        "bne 2b\n"
        "ldrd r8, r9, [sp]\n"
        "ldr r10, [sp, #56]\n"
        "stm r8!, {r4-r7}\n"
        "add r0, r0, r9\n"
        "add r1, r1, r9\n"
        "str r8, [sp]\n"
        "subs r10, r10, #1\n"
        "str r10, [sp, #56]\n"
        "bne 1b\n"
        "add sp, sp, #12\n"
        "pop {r4-r12, pc}\n"
        );
}

// The same for two rows: 23 instructions for 16 products. r0, r1: rows, r4, r5: their sums, r6: the end of x.
ODT_ASSEMBLY static void dot_two(
    int32_t *sums, const int8_t *w, int32_t K, const uint32_t *x, int32_t eights, const int32_t *start) {
    (void)sums, (void)w, (void)K, (void)x, (void)eights, (void)start;
    __asm volatile (
        ".syntax unified\n"
        "push {r0, r4-r11, lr}\n" // 0: sums; 40: eights, 44: start
        "ldrd r6, r7, [sp, #40]\n"
        "ldrd r4, r5, [r7]\n"
        "add r6, r3, r6, lsl #4\n"
        "mov r0, r1\n"
        "add r1, r1, r2\n"
        "1:\n"
        "ldm r3!, {r8-r11}\n"
        ROW("[r0], #4", "r8", "r9", "r4")
        ROW("[r1], #4", "r8", "r9", "r5")
        ROW("[r0], #4", "r10", "r11", "r4")
        ROW("[r1], #4", "r10", "r11", "r5")
        "cmp r3, r6\n"
        "bne 1b\n"
        "pop {r0}\n"
        "strd r4, r5, [r0]\n"
        "pop {r4-r11, pc}\n"
        );
}

// Packs `count` > 0 bytes minus zx, a multiple of 8, in the pairs that SXTB16 makes of a word. 9 instructions for 8.
static void widen(uint32_t *to, const int8_t *x, int32_t count, int32_t zx) {
    uint32_t minus = odt_twice(-zx);
    __asm volatile (
        "1:\n"
        "ldr r8, [%1], #4\n"
        "ldr r10, [%1], #4\n"
        "sxtab16 r9, %3, r8, ror #8\n"
        "sxtab16 r8, %3, r8\n"
        "sxtab16 r11, %3, r10, ror #8\n"
        "sxtab16 r10, %3, r10\n"
        "stm %0!, {r8-r11}\n"
        "cmp %1, %2\n"
        "bne 1b\n"
        : "+r" (to), "+r" (x) : "r" (x + count), "r" (minus) : "r8", "r9", "r10", "r11", "cc", "memory");
}

// sums = (x + minus) * w, for bytes of x up to `end` and `fours` > 0 times four rows, `step` bytes apart. 25
// instructions for 16 products, 20 for four rows. r0-r7: as above, r8, r9: pairs of x, r10: its end, r11: minus, r12,
// lr: pairs of weights.
ODT_ASSEMBLY static void dot_bytes(int32_t *sums, const int8_t *w, int32_t step, const int8_t *x, const int8_t *end,
    uint32_t minus, int32_t fours) {
    (void)sums, (void)w, (void)step, (void)x, (void)end, (void)minus, (void)fours;
    __asm volatile (
        ".syntax unified\n"
        "push {r0, r3, r4-r12, lr}\n" // 0: sums, 4: x; 48: end, 52: minus, 56: fours
        "ldrd r10, r11, [sp, #48]\n"
        "1:\n"
        "mov r0, r1\n"
        "add r1, r0, r2\n"
        "add r1, r1, r2, lsl #1\n"
        "mov r4, #0\n"
        "mov r5, r4\n"
        "mov r6, r4\n"
        "mov r7, r4\n"
        "b 3f\n"
        "2:\n"
        "ldr r8, [r3], #4\n"
        "sxtab16 r9, r11, r8, ror #8\n"
        "sxtab16 r8, r11, r8\n"
        WORDS("r8", "r9")
        "3:\n"
        "cmp r3, r10\n"
        "bne 2b\n"
        "ldrd r8, r3, [sp]\n"
        "ldr r9, [sp, #56]\n"
        "stm r8!, {r4-r7}\n"
        "str r8, [sp]\n"
        "add r1, r1, r3\n" // from the end of a row to its start
        "sub r1, r1, r10\n"
        "add r1, r1, r2\n"
        "subs r9, r9, #1\n"
        "str r9, [sp, #56]\n"
        "bne 1b\n"
        "add sp, sp, #8\n"
        "pop {r4-r12, pc}\n"
        );
}

void odt_dot4_i8(const int8_t *x, const int8_t *w, int32_t step, int32_t K, int32_t zx, int32_t *sums, int32_t fours) {
    int32_t whole = K & ~3;
    dot_bytes(sums, w, step, x, x + whole, odt_twice(-zx), fours);
    for (int32_t *end = sums + 4 * fours; sums != end && whole < K; sums++, w += step) {
        for (int32_t k = whole; k < K; k++) {
            *sums = odt_wrap_add(*sums, odt_wrap_mul(odt_wrap_sub(x[k], zx), w[k]));
        }
    }
}

// Clamps zy + q * sum for `count` sums. Returns the peak.
static int32_t finish_dense_m4(
    const int32_t *sums, int32_t count, const odt_multiplier_t *q, int32_t zy, int32_t lo, int32_t peak, int8_t *y) {
    for (int32_t i = odt_finish_pairs(sums, count, q, zy, lo, &peak, y); i < count; i++) {
        y[i] = odt_clamp(odt_rescaled(sums[i], odt_checked(q + i)), zy, lo, &peak);
    }
    return peak;
}

// The sum of (x - zx) * w.
static inline int32_t dot_one(const int8_t *x, const int8_t *w, int32_t K, int32_t zx, int32_t sum) {
    uint32_t minus = odt_twice(-zx);
    const int8_t *end = x + K;
    for (const int8_t *whole = x + (K & ~3); x != whole; x += 4, w += 4) {
        uint32_t four = odt_word(x), weights = odt_word(w);
        sum = odt_smlad(odt_even(four, minus), odt_evens(weights), sum);
        sum = odt_smlad(odt_odd(four, minus), odt_odds(weights), sum);
    }
    for (; x != end; x++, w++) {
        sum = odt_wrap_add(sum, odt_wrap_mul(odt_wrap_sub(*x, zx), *w));
    }
    return sum;
}

// Output by output, without packing, for few outputs.
static __attribute__((noinline)) int32_t dense_narrow(const odt_dense_i8_t *a, int32_t peak) {
    odt_outputs_t outputs = odt_outputs_from(a->zy, a->lo, peak);
    const int8_t *x = a->x;
    int8_t *y = a->y;
    int32_t K = a->K, zx = a->zx;
    for (int32_t m = 0; m < a->M; m++, x += K) {
        const int8_t *w = a->w;
        const int32_t *bias = a->b;
        const odt_multiplier_t *q = a->q;
        odt_poll();
        for (const int8_t *end = y + a->N; y != end; y++, q++, w += K) {
            int32_t sum = dot_one(x, w, K, zx, *bias++);
            uint32_t shift = (uint32_t)q->s - 33;
            *y = odt_output(
                &outputs, shift < 30 ? ((odt_smmul(sum, q->m) >> shift) + 1) >> 1 : odt_rescaled(sum, odt_checked(q)));
        }
    }
    return outputs.peak;
}

// Packs K < 8 bytes minus zx as pairs, then zeros.
static void widen_short(uint32_t *to, const int8_t *x, int32_t K, int32_t zx) {
    memset(to, 0, 8 * sizeof(int16_t));
    for (int32_t k = 0; k < K; k++) {
        int16_t half = (int16_t)(x[k] - zx);
        memcpy((char *)to + 2 * ((k & 4) + (k & 1) * 2 + (k >> 1 & 1)), &half, sizeof(half));
    }
}

// sums = bias + (x - zx) * w for `count` rows of K < 8 weights, of which `safe` may be read as whole words.
static __attribute__((noinline)) void dot_short(int32_t *sums, const int8_t *w, const int32_t *bias, int32_t count,
    int32_t safe, const uint32_t *x, int32_t K) {
    uint32_t x0 = x[0], x1 = x[1], x2 = x[2], x3 = x[3];
    const int32_t *end = sums + odt_limit(safe, 0, count), *all = sums + count;
    if (K == 1) { // a word has four rows
        for (end = sums + (count & ~3); sums != end; sums += 4, w += 4, bias += 4) {
            uint32_t word = odt_word(w), evens = odt_evens(word), odds = odt_odds(word);
            sums[0] = odt_smlad(evens, x0, bias[0]);
            sums[1] = odt_smlad(odds, x0, bias[1]);
            sums[2] = odt_smlad(evens, x0 << 16, bias[2]);
            sums[3] = odt_smlad(odds, x0 << 16, bias[3]);
        }
    }
    while (sums != end && K > 4) {
        uint32_t low = odt_word(w), high = odt_word(w + 4);
        int32_t sum = odt_smlad(odt_odds(low), x1, odt_smlad(odt_evens(low), x0, *bias++));
        *sums++ = odt_smlad(odt_odds(high), x3, odt_smlad(odt_evens(high), x2, sum));
        w += K;
    }
    while (sums != end) {
        uint32_t low = odt_word(w);
        *sums++ = odt_smlad(odt_odds(low), x1, odt_smlad(odt_evens(low), x0, *bias++));
        w += K;
    }
    for (; sums != all; w += K) {
        uint32_t low = odt_word_within(w, 0, K, 0), high = odt_word_within(w, 4, K, 0);
        int32_t sum = odt_smlad(odt_odds(low), x1, odt_smlad(odt_evens(low), x0, *bias++));
        *sums++ = odt_smlad(odt_odds(high), x3, odt_smlad(odt_evens(high), x2, sum));
    }
}

int32_t odt_dense_i8__m4(const odt_dense_i8_t *a, int32_t *peak) {
    uint32_t x[DEPTH / 2];
    int32_t sums[ROWS], last[4], K = a->K, N = a->N, whole = K & ~7, highest = *peak;
    if (N < 4) {
        *peak = dense_narrow(a, highest);
        return N;
    }
    for (int32_t m = 0; m < a->M; m++) {
        const int8_t *sample = a->x + m * K;
        for (int32_t n = 0; n < N; n += ROWS) {
            int32_t count = odt_min(ROWS, N - n), rest = count & 3, fours = count >> 2, end = n + count,
                    again = rest > 2 ? 4 : 2;
            odt_poll();
            for (int32_t k = 0; k < whole; k += DEPTH) {
                int32_t depth = odt_min(DEPTH, whole - k);
                if (n == 0 || whole > DEPTH) {
                    widen(x, sample + k, depth, a->zx);
                }
                if (fours) {
                    dot_rows(sums, a->w + n * K + k, K, x, depth >> 3, fours, k ? sums : a->b + n);
                }
                if (rest > 2) { // the last four or two; some are computed twice
                    dot_rows(last, a->w + (end - 4) * K + k, K, x, depth >> 3, 1, k ? last : a->b + end - 4);
                } else if (rest) {
                    dot_two(last, a->w + (end - 2) * K + k, K, x, depth >> 3, k ? last : a->b + end - 2);
                }
            }
            for (int32_t i = 0; i < rest && whole; i++) {
                sums[count - rest + i] = last[again - rest + i];
            }
            if (whole == 0) {
                if (n == 0) {
                    widen_short(x, sample, K, a->zx);
                }
                dot_short(sums, a->w + n * K, a->b + n, count, K ? N - n - (K > 4 ? 7 : 3) / K : 0, x, K);
            }
            for (int32_t i = 0; i < count && whole < K && whole; i++) {
                const int8_t *w = a->w + (n + i) * K;
                for (int32_t k = whole; k < K; k++) {
                    sums[i] = odt_wrap_add(sums[i], odt_wrap_mul(odt_wrap_sub(sample[k], a->zx), w[k]));
                }
            }
            highest = finish_dense_m4(sums, count, a->q + n, a->zy, a->lo, highest, a->y + m * N + n);
        }
    }
    *peak = highest;
    return N;
}

#endif
