// Depthwise convolutions of tiny images on a Cortex-M4. They use a list of the taps that meet the image, because
// preparing the data for the other loops would take longer than the products.

#ifndef ODT_DEPTHWISE2D_TINY_I8_M4_H
#define ODT_DEPTHWISE2D_TINY_I8_M4_H

#include "../../core.h"
#include "../route.h"

#if ODT_M4

#include "../../common/window.h"
#include "words__m4.h"

// For each output the size of its list (2 bytes per tap), then for each tap the byte offsets of pixel and weight.
typedef struct {
    int32_t pixels, outputs;
    uint8_t taps[ODT_TINY * (2 * ODT_TINY + 1)];
} odt_tiny_t;

// Prepares the list; returns whether the layer is small enough. `size` is H, W, KH, KW, SH, SW, top, left, OH and OW.
int odt_tiny_plan(odt_tiny_t *t, const int32_t *size);

typedef uint32_t odt_tiny_pixel_t[2]; // four channels as int16: 0 and 2, then 1 and 3

// Loads pixels of four channels, `step` bytes apart, minus zx.
static inline void odt_tiny_load(odt_tiny_pixel_t *to, const int8_t *x, int32_t step, int32_t count, int32_t zx) {
    uint32_t minus = odt_twice(-zx);
    #pragma GCC unroll 4
    for (; count > 0; count--, x += step, to++) {
        uint32_t word = odt_word(x);
        (*to)[0] = odt_even(word, minus);
        (*to)[1] = odt_odd(word, minus);
    }
}

#endif

#endif
