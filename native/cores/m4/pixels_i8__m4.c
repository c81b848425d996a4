// Outputs of four adjacent channels (pixels_i8__m4.h).

#include "../../core.h"
#include "../correlate.h"

#if ODT_M4

#include "../../fixed.h"
#include "words__m4.h"
#include "pixels_i8__m4.h"

// Converts sums to four adjacent outputs of -128 .. 127, `step` bytes apart. `found`: in each half, the largest result
// so far and, unless it does not matter, the smallest. 32 instructions; 28 without the smallest, 36 if results may have
// more than 16 bits. r0: sums, r1: y, r2: scales, r3: largest, lr: smallest, r4-r7: results, r8-r10, r12: m, half and
// shifts, r11: step.
#define FINISH(name, saturate, smallest) \
    ODT_ASSEMBLY static void name(int32_t (*sums)[4], int32_t (*end)[4], \
        const odt_scales_t *scales, uint32_t *found, int8_t *y, int32_t step) { \
        (void)sums, (void)end, (void)scales, (void)found, (void)y, (void)step; \
        __asm volatile ( \
            ".syntax unified\n" \
            "push {r1, r3, r4-r11, r12, lr}\n" /* 0: end, 4: found; 48: y, 52: step */ \
            "ldrd r1, r11, [sp, #48]\n" \
            "ldrd r3, lr, [r3]\n" \
            "1:\n" \
            "ldm r0!, {r4-r7}\n" \
            "ldm r2!, {r8-r10, r12}\n" \
            "smmla r4, r4, r8, r9\n" \
            "smmla r5, r5, r10, r12\n" \
            "ldm r2!, {r8-r10, r12}\n" \
            "smmla r6, r6, r8, r9\n" \
            "smmla r7, r7, r10, r12\n" \
            "ldm r2, {r8-r10, r12}\n" \
            "asr r4, r4, r8\n" \
            "asr r5, r5, r9\n" \
            "asr r6, r6, r10\n" \
            "asr r7, r7, r12\n" \
            "sub r2, r2, #32\n" \
            saturate \
            "pkhbt r4, r4, r6, lsl #16\n" \
            "pkhbt r5, r5, r7, lsl #16\n" \
            "ssub16 r12, r4, r3\n" \
            "sel r3, r4, r3\n" \
            "ssub16 r12, r5, r3\n" \
            "sel r3, r5, r3\n" \
            smallest \
            "usat16 r4, #8, r4\n" \
            "usat16 r5, #8, r5\n" \
            "orr r4, r4, r5, lsl #8\n" \
            "eor r4, r4, #0x80808080\n" \
            "str r4, [r1]\n" \
            "ldr r12, [sp]\n" \
            "add r1, r1, r11\n" \
            "cmp r0, r12\n" \
            "bne 1b\n" \
            "pop {r1, r2}\n" \
            "strd r3, lr, [r2]\n" \
            "pop {r4-r12, pc}\n" \
            ); \
    }

FINISH(finish_pixels, "", ODT_SMALLEST("r4", "r5"))
FINISH(finish_positive_pixels, "", "")
FINISH(finish_wide_pixels, ODT_SATURATE, ODT_SMALLEST("r4", "r5"))

void odt_find_scales(
    odt_scales_t *scales, const odt_multiplier_t *q, const int32_t *start, int32_t most, int32_t zy) {
    int worst = ODT_SHORT;
    #if !ODT_MPY
    #pragma GCC unroll 4
    #endif
    for (int32_t i = 0; i < 4; i++) {
        odt_scale_t scale = {0};
        int kind = odt_find_scale(q + i, start[i], most, zy + 128, &scale);
        scales->of[i].m = scale.m;
        scales->of[i].half = scale.half;
        scales->shifts[i] = scale.shift;
        worst = odt_min(worst, kind);
    }
    scales->kind = worst;
}

// Limits the outputs of four channels to at least lo.
static void clamp(int8_t *y, int32_t step, int32_t count, int32_t lo) {
    for (; count > 0; count--, y += step) {
        for (int32_t j = 0; j < 4; j++) {
            y[j] = (int8_t)odt_max(y[j], lo);
        }
    }
}

int odt_finish_pixels(int32_t (*sums)[4], int32_t count, const odt_scales_t *scales, int8_t *y, int32_t step,
    int32_t zy, int32_t lo, int32_t *bounds) {
    uint32_t found[2] = {odt_twice(INT16_MIN), odt_twice(INT16_MAX)};
    int32_t(*end)[4] = sums + count;
    if (scales->kind == ODT_UNSCALED) {
        return 0;
    }
    if (scales->kind == ODT_WIDE) {
        finish_wide_pixels(sums, end, scales, found, y, step);
    } else if (zy == -128) {
        finish_positive_pixels(sums, end, scales, found, y, step);
    } else {
        finish_pixels(sums, end, scales, found, y, step);
    }
    if (odt_is_below(found, lo, 128)) {
        clamp(y, step, count, lo);
    }
    return odt_add_bounds(bounds, found, scales->kind, 128);
}

// The words of a window, at most 24, of pairs 32: unrolled, or in small code a loop over four at a time.
#if ODT_MPY
#define FIRST_WORD \
    "rsb r4, r4, #0\n" /* those modulo 4 are done first */ \
    "and r4, r4, #3\n"
#define WINDOW_END \
    "ldr r8, [r0, #32]\n" \
    "add r8, r2, r8, lsl #2\n" \
    "str r8, [r0, #40]\n"
#define WORDS \
    ODT_WORD ODT_WORD ODT_WORD ODT_WORD \
    "ldr r8, [r0, #40]\n" \
    "cmp r2, r8\n" \
    "bne 2b\n"
#else
#define FIRST_WORD \
    "rsb r4, r4, #24\n"
#define WINDOW_END
#define WORDS ODT_EIGHT_WORDS ODT_EIGHT_WORDS ODT_EIGHT_WORDS
#endif

#define START \
    WINDOW_END \
    "ldr pc, [r0, #36]\n"
#define NEXT "ldm r0, {r1, r4-r10}\n" // panel, start, step, back, end

// Sums start from zero: the first word of a window is separate.
#define NEXT_OF_ZERO "ldm r0, {r1, r8-r10}\n"
#define ZERO \
    "ldr lr, [r2], #4\n" \
    "ldm r1!, {r8-r11}\n" \
    "sxtb16 r12, lr\n" \
    "sxtb16 lr, lr, ror #8\n" \
    "smuad r4, r8, r12\n" \
    "smuad r5, r10, r12\n" \
    "smlad r4, r9, lr, r4\n" \
    "smlad r5, r11, lr, r5\n" \
    "ldm r1!, {r8-r11}\n" \
    "smuad r6, r8, r12\n" \
    "smuad r7, r10, r12\n" \
    "smlad r6, r9, lr, r6\n" \
    "smlad r7, r11, lr, r7\n" \
    "ldr pc, [r0, #36]\n"

#define LARGEST \
    "ssub16 r8, r4, r12\n" \
    "sel r12, r4, r12\n" \
    "ssub16 r8, r5, r12\n" \
    "sel r12, r5, r12\n"
#define BOTH \
    "ssub16 r8, r4, r5\n" \
    "sel r9, r4, r5\n" \
    "sel r10, r5, r4\n" \
    "ssub16 r8, r9, r12\n" \
    "sel r12, r9, r12\n" \
    "ssub16 r8, lr, r10\n" \
    "sel lr, r10, lr\n"

// Converts sums to pairs of v: with any shift, with a shift of 16, or rounded without a shift.
#define SCALE(multiply) \
    multiply " r4, r4, r1, r11\n" \
    multiply " r5, r5, r8, r11\n" \
    multiply " r6, r6, r9, r11\n" \
    multiply " r7, r7, r10, r11\n"
#define PAIRS \
    "pkhbt r4, r4, r6, lsl #16\n" \
    "pkhbt r5, r5, r7, lsl #16\n"
#define SHIFTED SCALE("smmla") \
    "ldr r1, [r0, #44]\n" \
    "asr r4, r4, r1\n" \
    "asr r5, r5, r1\n" \
    "asr r6, r6, r1\n" \
    "asr r7, r7, r1\n" \
    PAIRS
#define UPPER SCALE("smmla") \
    "pkhtb r4, r6, r4, asr #16\n" \
    "pkhtb r5, r7, r5, asr #16\n"
#define ROUNDED SCALE("smmlar") PAIRS

#define OUTPUTS(label, scale, bounds, next) \
    label ":\n" \
    "ldmdb r0, {r1, r8-r12, lr}\n" /* m, half, bounds */ \
    scale \
    bounds \
    "strd r12, lr, [r0, #-8]\n" \
    "usat16 r4, #8, r4\n" \
    "usat16 r5, #8, r5\n" \
    "orr r4, r4, r5, lsl #8\n" \
    "eor r11, r4, #0x80808080\n" \
    next \
    "str r11, [r3]\n" \
    "add r3, r3, r8\n" \
    "add r2, r2, r9\n" \
    "cmp r3, r10\n" \
    "bne 1b\n" \
    "pop {r4-r11, pc}\n"

#if ODT_MPY
#define WAYS(way, next) way(3, SHIFTED, BOTH, next)
#define SEVERAL
#define NEXT_LINE
#define LINES_PLACE
#else
// Windows of several lines: 6 instructions for each.
#define SEVERAL \
    "ldr r5, [r0, #60]\n" \
    "str r7, [r0, #56]\n" \
    "cbz r5, 7f\n" \
    "ldr r7, [r6, #24]\n" \
    "add r7, r7, r6\n" \
    "7:\n"
#define LINES_PLACE ".word 10f - 9b + 1\n"
#define NEXT_LINE \
    "10:\n" \
    "ldrd r8, r9, [r0, #60]\n" \
    "add r2, r2, r9\n" \
    "cmp r1, r8\n" \
    "it ne\n" \
    "ldrne pc, [r0, #36]\n" \
    "ldr pc, [r0, #56]\n"
#define WAYS(way, next) way(3, SHIFTED, BOTH, next) way(4, SHIFTED, LARGEST, next) way(5, UPPER, BOTH, next) \
    way(6, UPPER, LARGEST, next) way(7, ROUNDED, BOTH, next) way(8, ROUNDED, LARGEST, next)
#endif
#define PLACE(label, scale, bounds, next) ".word " #label "f - 9b + 1\n"
#define WAY(label, scale, bounds, next) OUTPUTS(#label, scale, bounds, next)

// 13 instructions for 16 products, 27 for four outputs, 32 with any shift; 1 fewer from zero, 3 without the smallest.
// r0: 28 bytes into the maker, r1: panel, r2: x, r3: y, r4-r7: sums and results, r8-r12, lr: pairs of the panel and of
// x; r1, r8-r12, lr: scales, bounds.
#define MAKE(name, next, start, entry, whole, size, words) \
    ODT_ASSEMBLY static void name(odt_maker_t *maker, const int8_t *x, int8_t *y) { \
        (void)maker, (void)x, (void)y; \
        __asm volatile ( \
            ".syntax unified\n" \
            "push {r4-r11, lr}\n" \
            "mov r3, r2\n" \
            "mov r2, r1\n" \
            "add r0, r0, #28\n" \
            "ldr r4, [r0, #32]\n" \
            "ldr r7, [r0, #48]\n" \
            entry \
            "mov r5, #" size "\n" \
            "adr.w r6, 2f\n" \
            "mla r4, r4, r5, r6\n" \
            "add r4, r4, #1\n" \
            "adr.w r6, 9f\n" \
            "ldr r7, [r6, r7, lsl #2]\n" \
            "add r7, r7, r6\n" \
            whole \
            SEVERAL \
            "str r4, [r0, #36]\n" \
            "str r7, [r0, #52]\n" \
            next \
            "b 1f\n" \
            ".balign 4\n" \
            "9:\n" \
            WAYS(PLACE, next) \
            LINES_PLACE \
            "1:\n" \
            start \
            "2:\n" \
            words \
            "ldr pc, [r0, #52]\n" \
            NEXT_LINE \
            WAYS(WAY, next) \
            ); \
    }

MAKE(make_pixels, NEXT, START, FIRST_WORD, "", "52", WORDS)
#if ODT_MPY
#define make_pixels_of_zero make_pixels
#define make_pixels_of_pairs make_pixels
#else
// the only word of a window is multiplied before the others
#define WHOLE \
    "ldr r6, [r0, #32]\n" \
    "cmp r6, #1\n" \
    "it eq\n" \
    "moveq r4, r7\n"
MAKE(make_pixels_of_zero, NEXT_OF_ZERO, ZERO, FIRST_WORD "add r4, r4, #1\n", WHOLE, "52", WORDS)
#define PAIRS_WORD /* 11 instructions, 44 bytes */ \
    "ldm r2!, {r12, lr}\n" \
    ODT_WORD_PRODUCTS
#define PAIRS_FOUR PAIRS_WORD PAIRS_WORD PAIRS_WORD PAIRS_WORD
#define PAIRS_WORDS PAIRS_FOUR PAIRS_FOUR PAIRS_FOUR PAIRS_FOUR PAIRS_FOUR PAIRS_FOUR PAIRS_FOUR PAIRS_FOUR
MAKE(make_pixels_of_pairs, NEXT, START, "rsb r4, r4, #32\n", "", "44", PAIRS_WORDS)
#endif

int odt_begin_maker(odt_maker_t *maker, const odt_multiplier_t *q, int32_t q_step, int32_t channels,
    const int32_t *start, int32_t most, int32_t zy, int may_be_upper) {
    int32_t shifts[4], least = INT32_MAX, highest = 0, bits = 0;
    uint32_t largest = 0;
    #if !ODT_MPY
    #pragma GCC unroll 4
    #endif
    for (int32_t i = 0; i < 4; i++) {
        odt_scale_t scale;
        if (odt_find_scale(q, start[i], most, zy + 128, &scale) != ODT_SHORT) {
            return 0;
        }
        maker->m[i] = scale.m;
        shifts[i] = scale.shift;
        bits |= scale.m;
        least = odt_min(least, scale.shift);
        highest = odt_max(highest, scale.shift);
        largest |= odt_magnitude(start[i]);
        q += i + 1 < channels ? q_step : 0;
    }
    int32_t spare = bits & 127 ? 0 : 7, shift = least; // multipliers have 24 bits
    maker->scale = ODT_SHIFTED;
    maker->half = (2 * (zy + 128) + 1) << (shift - 1);
    if (!ODT_MPY && highest <= spare) {
        maker->scale = ODT_ROUNDED;
        maker->half = zy + 128;
        shift = 0;
    } else if (!ODT_MPY && may_be_upper && least >= 8 && highest - 8 <= spare && largest <= INT32_MAX >> 9
        && most <= INT32_MAX >> 9) { // 256 times the sums have 32 bits
        maker->scale = ODT_UPPER;
        maker->half = (2 * (zy + 128) + 1) << 15;
        shift = 8;
    }
    if (highest - shift > spare) {
        return 0;
    }
    maker->shift = shift;
    #if !ODT_MPY
    maker->panel_end = NULL;
    #endif
    #if !ODT_MPY
    #pragma GCC unroll 4
    #endif
    for (int32_t i = 0; i < 4; i++) {
        maker->m[i] >>= shifts[i] - shift;
    }
    return 1;
}

void odt_begin_sums(int32_t *sums, const int16_t *panel, int32_t words, int32_t zx) {
    __asm volatile ( // 12 instructions for a word
        "ldm %0, {r4-r6, r8}\n"
        "1:\n"
        "ldm %1!, {r9-r12}\n"
        "smlad r4, r9, %3, r4\n"
        "smlad r5, r11, %3, r5\n"
        "smlad r4, r10, %3, r4\n"
        "smlad r5, r12, %3, r5\n"
        "ldm %1!, {r9-r12}\n"
        "smlad r6, r9, %3, r6\n"
        "smlad r8, r11, %3, r8\n"
        "smlad r6, r10, %3, r6\n"
        "smlad r8, r12, %3, r8\n"
        "subs %2, %2, #1\n"
        "bne 1b\n"
        "stm %0, {r4-r6, r8}\n"
        : "+r" (sums), "+r" (panel), "+r" (words) : "r" (odt_twice(-zx))
        : "r4", "r5", "r6", "r8", "r9", "r10", "r11", "r12", "cc", "memory");
}

void odt_make_pixels(odt_maker_t *maker, const odt_made_t *made, int kind, int32_t zy, int32_t lo, int32_t *bounds) {
    const int8_t *x = made->x;
    int8_t *y = made->y;
    maker->found[0] = odt_twice(INT16_MIN);
    maker->found[1] = odt_twice(INT16_MAX);
    maker->way = ODT_MPY ? 0 : 2 * maker->scale + (zy == -128);
    for (int32_t i = made->rows; i; i--, x += made->x_row, y += made->y_row) {
        maker->end = y + made->count * maker->step;
        if (!ODT_MPY && kind == ODT_OF_ZERO) { // in the order of the loop
            maker->start[0] = maker->step;
            maker->start[1] = maker->back;
            maker->start[2] = (int32_t)(uintptr_t)maker->end;
        }
        (kind == ODT_OF_ZERO ? make_pixels_of_zero : kind == ODT_OF_PAIRS ? make_pixels_of_pairs : make_pixels)(
            maker, x, y);
    }
    if (odt_is_below(maker->found, lo, 128)) {
        y = made->y;
        for (int32_t i = made->rows; i; i--, y += made->y_row) {
            clamp(y, maker->step, made->count, lo);
        }
    }
    odt_add_bounds(bounds, maker->found, ODT_SHORT, 128);
}

#endif
