// Words of four int8 on cores with SMLAD, a Cortex-M4 and later.

#ifndef ODT_WORDS_M4_H
#define ODT_WORDS_M4_H

#include <stdint.h>
#include <string.h>

#include "../../core.h"

// An assembly function, aligned to a word: ADR needs it, and -Os does not ensure it.
#define ODT_ASSEMBLY __attribute__((naked, noinline, aligned(4)))

// Loads four bytes at any address.
static inline uint32_t odt_word(const int8_t *from) {
    uint32_t word;
    memcpy(&word, from, 4);
    return word;
}

// Copies v to both halves of a word.
static inline uint32_t odt_twice(int32_t v) {
    return (uint32_t)(v & 65535) | (uint32_t)v << 16;
}

// Extends bytes 0 and 2, or 1 and 3, to halves.
static inline uint32_t odt_evens(uint32_t word) {
    uint32_t pair;
    __asm ("sxtb16 %0, %1" : "=r" (pair) : "r" (word));
    return pair;
}

static inline uint32_t odt_odds(uint32_t word) {
    uint32_t pair;
    __asm ("sxtb16 %0, %1, ror #8" : "=r" (pair) : "r" (word));
    return pair;
}

// Extends bytes 0 and 2 to halves and adds `plus` to each.
static inline uint32_t odt_even(uint32_t word, uint32_t plus) {
    uint32_t pair;
    if (__builtin_constant_p(plus) && plus == 0) {
        return odt_evens(word);
    }
    __asm ("sxtab16 %0, %1, %2" : "=r" (pair) : "r" (plus), "r" (word));
    return pair;
}

// The same for bytes 1 and 3.
static inline uint32_t odt_odd(uint32_t word, uint32_t plus) {
    uint32_t pair;
    if (__builtin_constant_p(plus) && plus == 0) {
        return odt_odds(word);
    }
    __asm ("sxtab16 %0, %1, %2, ror #8" : "=r" (pair) : "r" (plus), "r" (word));
    return pair;
}

// Packs the lower halves of two words, or the upper halves.
static inline uint32_t odt_lower(uint32_t first, uint32_t second) {
    uint32_t pair;
    __asm ("pkhbt %0, %1, %2, lsl #16" : "=r" (pair) : "r" (first), "r" (second));
    return pair;
}

static inline uint32_t odt_upper(uint32_t first, uint32_t second) {
    uint32_t pair;
    __asm ("pkhtb %0, %1, %2, asr #16" : "=r" (pair) : "r" (second), "r" (first));
    return pair;
}

// Stores the pairs of four columns of two words of bytes, plus `plus`, at every `step` words.
static inline void odt_pairs(uint32_t *to, int32_t step, uint32_t first, uint32_t second, uint32_t plus) {
    uint32_t lower = odt_lower(first, second), upper = odt_upper(first, second);
    to[0] = odt_even(lower, plus);
    to[step] = odt_odd(lower, plus);
    to[2 * step] = odt_even(upper, plus);
    to[3 * step] = odt_odd(upper, plus);
}

// The upper half of a product.
static inline int32_t odt_smmul(int32_t a, int32_t b) {
    int32_t upper;
    __asm ("smmul %0, %1, %2" : "=r" (upper) : "r" (a), "r" (b));
    return upper;
}

// The same rounded.
static inline int32_t odt_smmulr(int32_t a, int32_t b) {
    int32_t upper;
    __asm ("smmulr %0, %1, %2" : "=r" (upper) : "r" (a), "r" (b));
    return upper;
}

// Adds both products of halves to a sum.
static inline int32_t odt_smlad(uint32_t a, uint32_t b, int32_t sum) {
    __asm ("smlad %0, %1, %2, %3" : "=r" (sum) : "r" (a), "r" (b), "r" (sum));
    return sum;
}

// The larger, or the smaller, of each two bytes.
static inline uint32_t odt_larger_bytes(uint32_t a, uint32_t b) {
    uint32_t larger;
    __asm ("ssub8 %0, %1, %2\nsel %0, %1, %2" : "=&r" (larger) : "r" (a), "r" (b) : "cc");
    return larger;
}

static inline uint32_t odt_smaller_bytes(uint32_t a, uint32_t b) {
    uint32_t smaller;
    __asm ("ssub8 %0, %1, %2\nsel %0, %2, %1" : "=&r" (smaller) : "r" (a), "r" (b) : "cc");
    return smaller;
}

// The bytes of a word where those of y are above those of lo; 0 elsewhere.
static inline uint32_t odt_where_above(uint32_t y, uint32_t lo, uint32_t word) {
    uint32_t found;
    __asm ("ssub8 %0, %1, %2\nsel %0, %3, %4" : "=&r" (found) : "r" (lo), "r" (y), "r" (0), "r" (word) : "cc");
    return found;
}

// Adds the upper 32 of the 48 bits of a product of 32 bits and the lower, or the upper, half of a word.
static inline int32_t odt_smlawb(int32_t a, uint32_t b, int32_t sum) {
    __asm ("smlawb %0, %1, %2, %3" : "=r" (sum) : "r" (a), "r" (b), "r" (sum));
    return sum;
}

static inline int32_t odt_smlawt(int32_t a, uint32_t b, int32_t sum) {
    __asm ("smlawt %0, %1, %2, %3" : "=r" (sum) : "r" (a), "r" (b), "r" (sum));
    return sum;
}

// Bytes at .. at + 3 of a row of `size` bytes; `outside` beyond it.
static inline uint32_t odt_word_within(const int8_t *row, int32_t at, int32_t size, int32_t outside) {
    if (at >= 0 && at <= size - 4) {
        return odt_word(row + at);
    }
    uint32_t beside = (uint8_t)outside * 0x01010101u, word = 0;
    if (at <= -4 || at >= size) {
        return beside;
    }
    if (size >= 4) { // a word inside the row, shifted
        int32_t bits = at < 0 ? -8 * at : 8 * (at + 4 - size);
        return at < 0 ? odt_word(row) << bits | beside >> (32 - bits)
                      : odt_word(row + size - 4) >> bits | beside << (32 - bits);
    }
    for (int32_t i = 3; i >= 0; i--) {
        int32_t v = at + i >= 0 && at + i < size ? row[at + i] : outside;
        word = word << 8 | (uint8_t)v;
    }
    return word;
}

// Copies `count` >= 0 bytes: 6 instructions for eight, 14 for the call and the last ones (rows_i8__m4.c).
void odt_copy_line_i8(int8_t *to, const int8_t *from, int32_t count);

#if ODT_M4 // clang refuses the registers of another core

// sums[i] += e * (x[i] + minus) for `fours` > 0 times four elements; minus: in both halves. 11 instructions for four.
static inline void odt_add_fours(int32_t *sums, const int8_t *x, int32_t fours, int32_t e, uint32_t minus) {
    __asm volatile (
        "1:\n"
        "ldr r4, [%1], #4\n"
        "sxtab16 r5, %4, r4\n"
        "sxtab16 r4, %4, r4, ror #8\n"
        "ldm %0, {r8-r11}\n"
        "smlabb r8, r5, %3, r8\n"
        "smlabb r9, r4, %3, r9\n"
        "smlatb r10, r5, %3, r10\n"
        "smlatb r11, r4, %3, r11\n"
        "subs %2, %2, #1\n"
        "stm %0!, {r8-r11}\n"
        "bne 1b\n"
        : "+r" (sums), "+r" (x), "+r" (fours) : "r" (e), "r" (minus)
        : "r4", "r5", "r8", "r9", "r10", "r11", "cc", "memory");
}

// Sets bytes to 0: 4 instructions for 32, where memset() of MicroPython takes 20.
static inline void odt_set_zeros(int8_t *to, int32_t count) {
    for (; count > 0 && (uintptr_t)to & 3; count--) {
        *to++ = 0;
    }
    if (count >= 32) {
        __asm volatile (
            "movs r4, #0\n"
            "movs r5, #0\n"
            "mov r8, r4\n"
            "mov r9, r4\n"
            "sub %1, %1, #32\n"
            "1:\n"
            "stm %0!, {r4, r5, r8, r9}\n"
            "stm %0!, {r4, r5, r8, r9}\n"
            "subs %1, %1, #32\n"
            "bge 1b\n"
            "add %1, %1, #32\n"
            : "+r" (to), "+r" (count) : : "r4", "r5", "r8", "r9", "cc", "memory");
    }
    for (; count > 0; count--) {
        *to++ = 0;
    }
}

#endif

static inline void odt_copy(int8_t *to, const int8_t *from, int32_t count) {
    for (; count >= 4; count -= 4, to += 4, from += 4) {
        memcpy(to, from, 4);
    }
    for (; count > 0; count--) {
        *to++ = *from++;
    }
}

// Bytes at .. at + count - 1 of a row of `size` bytes; `outside` beyond it.
static inline void odt_gather(int8_t *to, const int8_t *row, int32_t at, int32_t count, int32_t size,
    int32_t outside) {
    for (; count > 0 && (at < 0 || size <= 0); count--, at++) {
        *to++ = (int8_t)outside;
    }
    int32_t inside = count < size - at ? count : size - at;
    if (inside > 0) {
        odt_copy(to, row + at, inside);
        to += inside;
        count -= inside;
    }
    for (; count > 0; count--) {
        *to++ = (int8_t)outside;
    }
}

#endif
