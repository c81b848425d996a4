// Choices of a max-pooling: for each output the position of the largest value in its window, in 1, 2, 4, 8 or 16 bits,
// packed from the lowest bits of a byte.

#ifndef ODT_MAXPOOL2D_CHOICE_H
#define ODT_MAXPOOL2D_CHOICE_H

#include <stdint.h>

// Whether `bits` is a known width and `count` choices of it fit `size` bytes.
static inline int odt_choices_fit(int32_t count, int32_t bits, int32_t size) {
    return (bits == 1 || bits == 2 || bits == 4 || bits == 8 || bits == 16)
           && ((int64_t)count * bits + 7) / 8 <= size;
}

// Writes or reads consecutive choices of `bits` bits; `filled` bits of `word` are in use.
typedef struct {
    uint8_t *at;
    uint32_t word;
    int32_t bits, filled;
} odt_choices_t;

static inline void odt_choose(odt_choices_t *c, uint32_t choice) {
    c->word |= (choice & ((1u << c->bits) - 1)) << c->filled;
    for (c->filled += c->bits; c->filled >= 8; c->filled -= 8) {
        *c->at++ = (uint8_t)c->word;
        c->word >>= 8;
    }
}

// Writes the bits that do not fill a byte.
static inline void odt_choices_end(const odt_choices_t *c) {
    if (c->filled) {
        *c->at = (uint8_t)c->word;
    }
}

static inline __attribute__((always_inline)) int32_t odt_choice(odt_choices_t *c) {
    for (; c->filled < c->bits; c->filled += 8) {
        c->word |= (uint32_t)*c->at++ << c->filled;
    }
    int32_t choice = (int32_t)(c->word & ((1u << c->bits) - 1));
    c->word >>= c->bits;
    c->filled -= c->bits;
    return choice;
}

#endif
