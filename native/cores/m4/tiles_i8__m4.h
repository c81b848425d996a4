// Rows of images that are copied to the stack, with zx outside (tiles_i8__m4.c).

#ifndef ODT_TILES_I8_M4_H
#define ODT_TILES_I8_M4_H

#include "../../core.h"
#include "../correlate.h"

// Images: pixels of C channels, `pixel` bytes apart; zx outside.
typedef struct {
    int32_t H, W, C, pixel, zx;
} odt_image_t;

#define ODT_IMAGE_OF(a) ((odt_image_t) {(a)->H, (a)->W, (a)->C, odt_pixel((a)->C, (a)->x_skip), (a)->zx})

// Copies rows ih .. of an image at x, from column iw on, to rows of `pitch` bytes, a whole number of pixels.
void odt_copy_tile_i8(const odt_image_t *image, const int8_t *x, int32_t ih, int32_t iw, int32_t rows, int32_t pitch,
    int8_t *to);

// The same minus zx, as pairs of int16: bytes 0 and 2, then 1 and 3, of each word. Pixels have whole words.
void odt_widen_tile_i8(const odt_image_t *image, const int8_t *x, int32_t ih, int32_t iw, int32_t rows, int32_t pitch,
    uint32_t *to);

// Widens `pixels` > 0 times `words` > 0 words of bytes likewise; pixels are `gap` bytes apart.
void odt_widen_i8(uint32_t *to, const int8_t *from, int32_t words, int32_t pixels, int32_t gap, int32_t zx);

#endif
