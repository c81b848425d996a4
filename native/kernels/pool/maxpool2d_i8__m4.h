// Max-pooling by windows of 2x2 or 1x2 beside one another on cores with SMLAD, a Cortex-M4 and later: four channels at a time,
// or eight, whose choices are a byte.

#ifndef ODT_MAXPOOL2D_I8_M4_H
#define ODT_MAXPOOL2D_I8_M4_H

#include <string.h>

#include "../common/words__m4.h"

// Where a byte of `other` is larger: that, and `number` as its choice.
#define TAKE_LARGER(best, choice, other, number) \
    __asm ("ssub8 %2, %0, %3\n" \
        "sel %0, %0, %3\n" \
        "sel %1, %1, %4" \
        : "+r" (best), "+r" (choice), "=&r" (unused) : "r" (other), "r" (number))

// Bytes of `rest` where `t` is less than `number` go to `here`, the others stay.
#define SPLIT(here, rest, t, number) \
    __asm ("ssub8 %0, %2, %3\n" \
        "sel %0, %4, %1\n" \
        "sel %1, %1, %4" \
        : "=&r" (here), "+r" (rest) : "r" (t), "r" (number), "r" (0))

// Whether a byte is less than that of `least` or more than that of `most`.
static inline int is_outside(uint32_t word, uint32_t least, uint32_t most) {
    uint32_t below, above;
    __asm ("ssub8 %0, %2, %3\n"
        "sel %0, %5, %2\n" // what is not below is 0, what is, is not 0, as it is negative
        "ssub8 %1, %4, %2\n"
        "sel %1, %5, %2\n"
        : "=&r" (below), "=&r" (above) : "r" (word), "r" (least), "r" (most), "r" (0));
    return (below | above) != 0;
}

static inline uint32_t repeated(int32_t v) {
    return (uint8_t)v * 0x01010101u;
}

// What four errors have been so far: their peak, and as bytes what is neither a new one nor below -127.
typedef struct {
    int32_t peak;
    uint32_t least, most;
} errors_t;

static inline errors_t errors_of(int32_t peak) {
    int32_t most = odt_limit(peak, 0, 127);
    errors_t errors = {odt_max(peak, 0), repeated(-most), repeated(most)}; // each error is 0 at least
    return errors;
}

// Four errors from -127 on.
static inline uint32_t load_errors(errors_t *errors, const int8_t *e) {
    uint32_t word = odt_word(e);
    if (is_outside(word, errors->least, errors->most)) {
        int8_t limited[4];
        for (int32_t i = 0; i < 4; i++) {
            errors->peak = odt_max(errors->peak, e[i] < 0 ? -e[i] : e[i]);
            limited[i] = (int8_t)odt_max(e[i], -127);
        }
        *errors = errors_of(errors->peak);
        word = odt_word(limited);
    }
    return word;
}

static inline void store_word(int8_t *to, uint32_t word) {
    memcpy(to, &word, 4);
}

static __attribute__((noinline)) void choose_fours(pooled_t *q) {
    int32_t N = q->N, row = q->row;
    const int8_t *x = q->image;
    int8_t *y = q->windows;
    uint8_t *choices = q->choices;
    for (; q->rows > 0; q->rows--, x += q->skip) {
        for (const int8_t *last = x + q->wide; x < last; x += N) {
            for (const int8_t *end = x + N; x < end; x += 4, y += 4) {
                uint32_t best = odt_word(x), choice = 0, unused;
                TAKE_LARGER(best, choice, odt_word(x + N), 0x01010101);
                TAKE_LARGER(best, choice, odt_word(x + row), 0x02020202);
                TAKE_LARGER(best, choice, odt_word(x + row + N), 0x03030303);
                store_word(y, best);
                *choices++ = (uint8_t)(choice * 0x01041040 >> 24); // 2 bits of each byte
            }
        }
    }
    q->image = (int8_t *)x;
    q->windows = y;
    q->choices = choices;
}

static __attribute__((noinline)) void spread_fours(pooled_t *q) {
    int32_t N = q->N, row = q->row;
    int8_t *dx = q->image;
    const int8_t *e = q->windows;
    const uint8_t *choices = q->choices;
    errors_t errors = errors_of(q->peak);
    for (; q->rows > 0; q->rows--, dx += q->skip) {
        for (const int8_t *last = dx + q->wide; dx < last; dx += N) {
            for (const int8_t *end = dx + N; dx < end; dx += 4, e += 4) {
                uint32_t rest = load_errors(&errors, e), choice = *choices++, here;
                choice |= choice << 12;
                choice = (choice | choice << 6) & 0x03030303;
                SPLIT(here, rest, choice, 0x01010101);
                store_word(dx, here);
                SPLIT(here, rest, choice, 0x02020202);
                store_word(dx + N, here);
                SPLIT(here, rest, choice, 0x03030303);
                store_word(dx + row, here);
                store_word(dx + row + N, rest);
            }
        }
    }
    q->image = dx;
    q->windows = (int8_t *)e;
    q->choices = (uint8_t *)choices;
    q->peak = errors.peak;
}

// Of eight channels, a bit each.
static __attribute__((noinline)) void choose_eights(pooled_t *q) {
    int32_t N = q->N;
    const int8_t *x = q->image;
    int8_t *y = q->windows;
    uint8_t *choices = q->choices;
    for (; q->rows > 0; q->rows--, x += q->skip) {
        for (const int8_t *last = x + q->wide; x < last; x += N) {
            for (const int8_t *end = x + N; x < end; x += 8, y += 8) {
                uint32_t low = 0, high = 0, best = odt_word(x), unused;
                TAKE_LARGER(best, low, odt_word(x + N), 0x01010101);
                store_word(y, best);
                best = odt_word(x + 4);
                TAKE_LARGER(best, high, odt_word(x + N + 4), 0x01010101);
                store_word(y + 4, best);
                *choices++ = (uint8_t)(low * 0x10204080 >> 28 | (high * 0x10204080 >> 24 & 0xF0));
            }
        }
    }
    q->image = (int8_t *)x;
    q->windows = y;
    q->choices = choices;
}

static __attribute__((noinline)) void spread_eights(pooled_t *q) {
    int32_t N = q->N;
    int8_t *dx = q->image;
    const int8_t *e = q->windows;
    const uint8_t *choices = q->choices;
    errors_t errors = errors_of(q->peak);
    for (; q->rows > 0; q->rows--, dx += q->skip) {
        for (const int8_t *last = dx + q->wide; dx < last; dx += N) {
            for (const int8_t *end = dx + N; dx < end;) {
                uint32_t bits = *choices++;
                for (int32_t i = 0; i < 2; i++, dx += 4, e += 4, bits >>= 4) {
                    uint32_t rest = load_errors(&errors, e), choice = (bits & 15) * 0x00204081 & 0x01010101, here;
                    SPLIT(here, rest, choice, 0x01010101);
                    store_word(dx, here);
                    store_word(dx + N, rest);
                }
            }
        }
    }
    q->image = dx;
    q->windows = (int8_t *)e;
    q->choices = (uint8_t *)choices;
    q->peak = errors.peak;
}

#undef TAKE_LARGER
#undef SPLIT

#endif
