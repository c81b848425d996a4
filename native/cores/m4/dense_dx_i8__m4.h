// The gradient of a dense layer's input for few samples (dense_dx_i8.c) on cores with SMLAD, a Cortex-M4 and later: two
// errors and two rows of weights at a time.

#ifndef ODT_DENSE_DX_I8_M4_H
#define ODT_DENSE_DX_I8_M4_H

#include "../../odt.h"
#include "words__m4.h"
#include "pixels_i8__m4.h"

// Two errors in the format of SMLAD, and the addresses of their rows of weights.
typedef struct {
    int32_t offset, next;
    uint32_t pair;
} error_t;

// Lists the nonzero errors among N. Returns the end of the list.
static __attribute__((noinline)) error_t *list_errors(error_t *list, const int8_t *e, int32_t N, int32_t K) {
    int32_t offset = 0;
    for (const int8_t *end = e + N; e != end; offset += K) {
        uint32_t first = (uint32_t)*e++, second = 0;
        if (first == 0) {
            continue;
        }
        list->offset = list->next = offset;
        while (second == 0 && e != end) {
            second = (uint32_t)*e++;
            offset += K;
            list->next = offset;
        }
        list->pair = odt_lower(first, second);
        list++;
    }
    return list;
}

// The same for int16 errors.
static error_t *list_wide(error_t *list, const int16_t *e, int32_t N, int32_t K) {
    for (int32_t n = 0, offset = 0; n < N; n += 2, offset += 2 * K) {
        int is_pair = n + 1 < N;
        list->offset = offset;
        list->next = is_pair ? offset + K : offset;
        list->pair = odt_lower((uint32_t)e[n], is_pair ? (uint32_t)e[n + 1] : 0);
        list += list->pair != 0;
    }
    return list;
}

#define ERRORS_PAIR /* 13 instructions, 52 bytes */ \
    "ldm r0!, {r8-r10}\n" \
    "ldr r8, [r1, r8]\n" \
    "ldr r9, [r1, r9]\n" \
    "pkhbt r11, r8, r9, lsl #16\n" \
    "pkhtb r12, r9, r8, asr #16\n" \
    "sxtb16 r8, r11\n" \
    "sxtb16 r9, r11, ror #8\n" \
    "smlad r4, r8, r10, r4\n" \
    "smlad r5, r9, r10, r5\n" \
    "sxtb16 r8, r12\n" \
    "sxtb16 r9, r12, ror #8\n" \
    "smlad r6, r8, r10, r6\n" \
    "smlad r7, r9, r10, r7\n"

// sums += errors * weights, four columns at a time, for a list that is not empty: 54 instructions for 32 products, 8
// for four columns. r0: list, r1: w, r3: the list's end, r4-r7: sums, r8-r12: a pair, lr: the address of sums.
ODT_ASSEMBLY static void sum_columns(int32_t *sums, const int32_t *sums_end, const error_t *list, const error_t *end,
    const int8_t *w) {
    (void)sums, (void)sums_end, (void)list, (void)end, (void)w;
    __asm volatile (
        ".syntax unified\n"
        "push {r1, r2, r4-r12, lr}\n" // 0: end, 4: list, 40: entry; 48: w
        "mov lr, r0\n"
        "ldr r1, [sp, #48]\n"
        "sub r4, r3, r2\n" // 12 bytes per pair: enters the loop so that the remainder modulo 4 comes first
        "ubfx r4, r4, #2, #2\n"
        "mov r5, #52\n"
        "adr.w r6, 2f\n"
        "mla r4, r4, r5, r6\n"
        "add r4, r4, #1\n"
        "str r4, [sp, #40]\n"
        "1:\n"
        "ldr r0, [sp, #4]\n"
        "ldm lr, {r4-r7}\n"
        "ldr pc, [sp, #40]\n"
        "2:\n"
        ERRORS_PAIR ERRORS_PAIR ERRORS_PAIR ERRORS_PAIR
        "cmp r0, r3\n"
        "bne 2b\n"
        "ldr r0, [sp]\n"
        "stm lr!, {r4-r7}\n"
        "add r1, r1, #4\n"
        "cmp lr, r0\n"
        "bne 1b\n"
        "pop {r1, r2, r4-r12, pc}\n"
        );
}

static inline int32_t sum_column(const error_t *list, const error_t *end, const int8_t *w, int32_t sum) {
    for (; list != end; list++) {
        sum = odt_smlad(odt_lower((uint32_t)w[list->offset], (uint32_t)w[list->next]), list->pair, sum);
    }
    return sum;
}

// Converts sums to outputs, four at a time, except the last `count` % 4. Returns their number.
static int32_t finish_fours(int32_t *sums, int32_t count, const odt_multiplier_t *q, int8_t *dx, int32_t *peak) {
    int32_t fours = count >> 2, bounds[2] = {INT16_MIN, INT16_MAX};
    odt_scale_t scale = {0};
    odt_scales_t scales;
    if (fours == 0) {
        return 0;
    }
    scales.kind = odt_find_scale(q, 0, INT32_MAX, 128, &scale);
    for (int32_t i = 0; i < 4; i++) {
        scales.of[i].m = scale.m;
        scales.of[i].half = scale.half;
        scales.shifts[i] = scale.shift;
    }
    if (!odt_finish_pixels((int32_t (*)[4])(void *)sums, fours, &scales, dx, 4, 0, -127, bounds)) {
        return 0;
    }
    *peak = odt_peak_of(bounds, 0, -127, *peak);
    return 4 * fours;
}

// dx = q * e * w, four at a time: 19 instructions. Returns their number; 0 if the multiplier is not usual.
static inline int32_t rescale_fours(int8_t *dx, const int8_t *w, int32_t count, int32_t e, odt_multiplier_t q) {
    const uint32_t mask = 0xFF00FF00;
    int32_t shift = q.s - 15;
    if (q.s < 33 || shift > 30 || q.m % 128 || q.m < 0) {
        return 0;
    }
    int32_t product = e * (q.m >> 7), half = 1 << (shift - 1);
    for (const int8_t *end = dx + (count & ~3); dx != end; dx += 4, w += 4) {
        uint32_t word = odt_word(w), even = word << 8 & mask, odd = word & mask; // 256 times the weights
        dx[0] = (int8_t)(odt_smlawb(product, even, half) >> shift);
        dx[1] = (int8_t)(odt_smlawb(product, odd, half) >> shift);
        dx[2] = (int8_t)(odt_smlawt(product, even, half) >> shift);
        dx[3] = (int8_t)(odt_smlawt(product, odd, half) >> shift);
    }
    return count & ~3;
}

#endif
