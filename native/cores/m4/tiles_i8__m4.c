// Rows of an image, with zx outside, copied to the stack (tiles_i8__m4.h): as bytes, or as the pairs by which a panel
// is multiplied.

#include "../../core.h"
#include "../correlate.h"

#if ODT_M4 && !ODT_MPY

#include <string.h>

#include "../../fixed.h"
#include "words__m4.h"
#include "tiles_i8__m4.h"

void odt_copy_tile_i8(const odt_image_t *image, const int8_t *x, int32_t ih, int32_t iw, int32_t rows, int32_t pitch,
    int8_t *to) {
    const odt_image_t copy = *image, *a = &copy;
    int32_t C = a->C, pixel = a->pixel, first = odt_max(-iw, 0), columns = pitch / C;
    int32_t last = odt_min(columns, a->W - iw);
    if (first > 0 || last < columns || ih < 0 || ih + rows > a->H) {
        uint32_t *fill = (uint32_t *)(void *)to, none = (uint8_t)a->zx * 0x01010101u;
        #pragma GCC unroll 4
        for (const uint32_t *full = fill + ((rows * pitch + 3) >> 2); fill != full; fill++) {
            *fill = none;
        }
    }
    for (int32_t end = ih + rows; ih < end; ih++, to += pitch) {
        if (ih < 0 || ih >= a->H || first >= last) {
            continue;
        }
        const int8_t *from = x + (ih * a->W + iw + first) * pixel;
        int8_t *at = to + first * C, *stop = to + last * C;
        if (pixel == C) {
            odt_copy_line_i8(at, from, (int32_t)(stop - at));
            continue;
        }
        for (; C == 1 && stop - at > 3; at += 4, from += 4 * pixel) {
            const uint8_t *of = (const uint8_t *)from;
            uint32_t four = (uint32_t)of[0] | (uint32_t)of[pixel] << 8 | (uint32_t)of[2 * pixel] << 16
                | (uint32_t)of[3 * pixel] << 24;
            memcpy(at, &four, 4);
        }
        for (; C == 2 && at != stop; at += 2, from += pixel) {
            memcpy(at, from, 2);
        }
        for (; C == 4 && at != stop; at += 4, from += pixel) {
            memcpy(at, from, 4);
        }
        for (; C % 8 == 0 && at != stop; at += C, from += pixel) {
            odt_copy_line_i8(at, from, C);
        }
        for (; at != stop; at += C, from += pixel) {
            int32_t c = 0;
            do {
                at[c] = from[c];
            } while (++c != C);
        }
    }
}

// 9 instructions for 8 bytes, 5 to 7 for a pixel.
void odt_widen_i8(uint32_t *to, const int8_t *from, int32_t words, int32_t pixels, int32_t gap, int32_t zx) {
    int32_t left;
    if (gap == 0) {
        words *= pixels;
        pixels = 1;
    }
    __asm volatile (
        "1:\n"
        "lsrs %3, %4, #1\n" // the carry: an odd number
        "bcc 2f\n"
        "ldr r9, [%1], #4\n"
        "sxtab16 r8, %6, r9\n"
        "sxtab16 r9, %6, r9, ror #8\n"
        "stm %0!, {r8, r9}\n"
        "cmp %3, #0\n"
        "beq 3f\n"
        "2:\n"
        "ldr r9, [%1], #4\n"
        "ldr r11, [%1], #4\n"
        "subs %3, %3, #1\n"
        "sxtab16 r8, %6, r9\n"
        "sxtab16 r9, %6, r9, ror #8\n"
        "sxtab16 r10, %6, r11\n"
        "sxtab16 r11, %6, r11, ror #8\n"
        "stm %0!, {r8-r11}\n"
        "bne 2b\n"
        "3:\n"
        "subs %2, %2, #1\n"
        "add %1, %1, %5\n"
        "bne 1b\n"
        : "+r" (to), "+r" (from), "+r" (pixels), "=&r" (left) : "r" (words), "r" (gap), "r" (odt_twice(-zx))
        : "r8", "r9", "r10", "r11", "cc", "memory");
}

void odt_widen_tile_i8(const odt_image_t *image, const int8_t *x, int32_t ih, int32_t iw, int32_t rows, int32_t pitch,
    uint32_t *to) {
    const odt_image_t copy = *image, *a = &copy;
    int32_t words = a->C >> 2, gap = a->pixel - a->C, first = odt_max(-iw, 0), columns = pitch / a->C;
    int32_t last = odt_min(columns, a->W - iw);
    if (first > 0 || last < columns || ih < 0 || ih + rows > a->H) {
        odt_set_zeros((int8_t *)to, 2 * rows * pitch);
    }
    for (int32_t end = ih + rows; ih < end; ih++, to += pitch / 2) {
        if (ih >= 0 && ih < a->H && first < last) {
            odt_widen_i8(
                to + 2 * words * first, x + (ih * a->W + iw + first) * a->pixel, words, last - first, gap, a->zx);
        }
    }
}

#endif
