// Which position of its window a max-pooling took: a number of 1, 2, 4, 8 or 16 bits for each output,
// the lowest bits of a byte first.

#ifndef ODT_MAXPOOL2D_CHOICE_H
#define ODT_MAXPOOL2D_CHOICE_H

#include <stdint.h>

// Whether `count` choices of `bits` each lie in `size` bytes; no other bits are known.
static inline int odt_choices_fit(int32_t count, int32_t bits, int32_t size) {
    return (bits == 1 || bits == 2 || bits == 4 || bits == 8 || bits == 16)
           && ((int64_t)count * bits + 7) / 8 <= size;
}

// Choice i, of bytes that were 0.
static inline void odt_choose(uint8_t *choices, int32_t i, int32_t bits, uint32_t choice) {
    if (bits == 16) {
        choices[2 * i] = (uint8_t)choice;
        choices[2 * i + 1] = (uint8_t)(choice >> 8);
    } else {
        uint32_t at = (uint32_t)i * (uint32_t)bits;
        choices[at >> 3] |= (uint8_t)((choice & ((1u << bits) - 1)) << (at & 7));
    }
}

static inline int32_t odt_choice(const uint8_t *choices, int32_t i, int32_t bits) {
    if (bits == 16) {
        return choices[2 * i] | choices[2 * i + 1] << 8;
    }
    uint32_t at = (uint32_t)i * (uint32_t)bits;
    return choices[at >> 3] >> (at & 7) & ((1 << bits) - 1);
}

#endif
