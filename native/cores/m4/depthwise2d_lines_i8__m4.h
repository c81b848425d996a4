// Packs rows of x for depthwise convolutions on cores with SMLAD (depthwise2d_i8__m4.c, depthwise2d_dw_i8__m4.c): four
// channels as int16, minus zx, with pixels of two rows in a word.

#ifndef ODT_DEPTHWISE2D_LINES_I8_M4_H
#define ODT_DEPTHWISE2D_LINES_I8_M4_H

#include <stdint.h>

typedef uint32_t odt_pixel_t[4]; // two pixels of four channels

// r4-r7 += pixels at r0 * pixels at r1. 6 instructions, 24 bytes.
#define ODT_PIXELS \
    "ldm r0!, {r8-r11}\n" \
    "ldm r1!, {r2, r3, r12, lr}\n" \
    "smlad r4, r8, r2, r4\n" \
    "smlad r5, r9, r3, r5\n" \
    "smlad r6, r10, r12, r6\n" \
    "smlad r7, r11, lr, r7\n"

// A row of pixels with four of N channels; zx if there is no row.
typedef struct {
    const int8_t *at;
    int32_t step;
} odt_line_t;

static inline odt_line_t odt_line_of(const int8_t *x, int32_t row, int32_t rows, int32_t x_h, int32_t x_w,
    const uint32_t *none) {
    odt_line_t inside = {x + row * x_h, x_w}, outside = {(const int8_t *)none, 0};
    return row >= 0 && row < rows ? inside : outside;
}

// Packs `count` pixels first, first + by, .. of two lines of W pixels, minus zx; 0 outside them.
void odt_pack_lines(odt_pixel_t *to, const odt_line_t *upper, const odt_line_t *lower, int32_t first, int32_t by,
    int32_t count, int32_t W, int32_t zx);

#endif
