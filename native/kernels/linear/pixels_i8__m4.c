// Outputs of four neighbouring channels (pixels_i8__m4.h).

#include "../../core.h"
#include "conv2d_i8.h"

#if ODT_M4

#include "../../fixed.h"
#include "../common/words__m4.h"
#include "pixels_i8__m4.h"

// Sums to four neighbouring outputs of -128 .. 127, `step` bytes apart. `found` are the largest and, unless
// they do not matter, the smallest that there were before, in each half. 32 instructions; 28 without the
// smallest, 36 where results may have more than 16 bits. r0: sums, r1: y, r2: scales, r3: largest, lr: smallest, r4-r7:
// results, r8-r10, r12: m, half and shifts, r11: step.
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

void odt_find_scales(odt_scales_t *scales, const odt_multiplier_t *q, int32_t q_step, int32_t channels, const int32_t *start,
    int32_t most, int32_t zy) {
    scales->kind = ODT_SHORT;
    for (int32_t i = 0; i < 4; i++) {
        odt_scale_t scale = {0};
        int kind = odt_find_scale(q, start[i], most, zy + 128, &scale);
        scales->of[i].m = scale.m;
        scales->of[i].half = scale.half;
        scales->shifts[i] = scale.shift;
        scales->kind = odt_min(scales->kind, kind);
        q += i + 1 < channels ? q_step : 0;
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
        for (int32_t i = 0; i < count; i++, y += step) {
            for (int32_t j = 0; j < 4; j++) {
                y[j] = (int8_t)odt_max(y[j], lo);
            }
        }
    }
    return odt_add_bounds(bounds, found, scales->kind, 128);
}

#endif
