// Loops over words of four bytes on a Cortex-M0+. gcc runs out of registers for them.

#ifndef ODT_WORDS_M0_H
#define ODT_WORDS_M0_H

#include "../../core.h"

#if ODT_M0 && !ODT_SMALL

#include <stdint.h>

// Sums of the bytes, plus 128 each, of 1 .. 256 words, `step` bytes apart: bytes 0 and 2 in the halves of one word,
// bytes 1 and 3 in those of another. 11 cycles per word: the sum of bytes 0 and 2 is the sum of whole words modulo 2^32
// minus the rest.
static inline void odt_sum_words(const int8_t *from, int32_t step, int32_t count, uint32_t *even, uint32_t *odd) {
    uint32_t all = 0, sum = 0, word;
    __asm volatile (
        ".syntax unified\n"
        "1:\n"
        "ldr %[word], [%[from]]\n"
        "add %[from], %[step]\n"
        "eors %[word], %[bias]\n"
        "adds %[all], %[all], %[word]\n"
        "lsrs %[word], %[word], #8\n"
        "ands %[word], %[mask]\n"
        "adds %[sum], %[sum], %[word]\n"
        "subs %[count], #1\n"
        "bne 1b\n"
        : [word] "=&l" (word), [from] "+l" (from), [all] "+l" (all), [sum] "+l" (sum), [count] "+l" (count)
        : [step] "h" (step), [bias] "l" (0x80808080), [mask] "l" (0x00FF00FF) : "cc", "memory");
    *even = all - (sum << 8);
    *odd = sum;
}

// Whether any byte is -128, in `rows` > 0 rows of `count` > 0 words with `skip` bytes between rows. 15 cycles per two
// words.
static inline int odt_is_least_in(const int8_t *from, int32_t count, int32_t rows, int32_t skip) {
    uint32_t word, found = 0, mask;
    int32_t left;
    __asm volatile(".syntax unified\n"
                   ".macro odt_find_least\n"
                   "ldmia %[from]!, {%[word]}\n"
                   "eors %[word], %[high]\n"
                   // sets the upper bits that were 0 and become 1: at least that of the lowest byte that is 0
                   "subs %[mask], %[word], %[low]\n"
                   "bics %[mask], %[word]\n"
                   "orrs %[found], %[mask]\n"
                   ".endm\n"
                   "1:\n"
                   "mov %[left], %[count]\n"
                   "adds %[left], #1\n"
                   "lsrs %[left], %[left], #1\n"
                   "bcc 3f\n" // an odd number
                   "2:\n"
                   "odt_find_least\n"
                   "3:\n"
                   "odt_find_least\n"
                   "subs %[left], #1\n"
                   "bne 2b\n"
                   "add %[from], %[skip]\n"
                   "mov %[left], %[rows]\n"
                   "subs %[left], #1\n"
                   "mov %[rows], %[left]\n"
                   "bne 1b\n"
                   ".purgem odt_find_least\n"
                   : [from] "+l"(from), [rows] "+h"(rows), [word] "=&l"(word), [mask] "=&l"(mask), [found] "+l"(found),
                   [left] "=&l"(left)
                   : [count] "h"(count), [skip] "h"(skip), [high] "l"(0x80808080), [low] "l"(0x01010101)
                   : "cc", "memory");
    return (found & 0x80808080) != 0;
}

// Sets the upper bit of each byte of a word of y that is not -128.
#define ODT_NOT_LEAST \
    "ldmia %[y]!, {%[word]}\n" \
    "mov %[mask], %[low]\n" \
    "eors %[word], %[high]\n" \
    "ands %[mask], %[word]\n" \
    "add %[mask], %[low]\n" \
    "orrs %[mask], %[word]\n" \
    "ands %[mask], %[high]\n"

// to = e where the byte of y is not -128, else 0, for `count` > 0 words: 19 cycles per word.
static inline void odt_mask_words(int8_t *to, const int8_t *e, const int8_t *y, int32_t count) {
    uint32_t word, mask;
    __asm volatile (
        ".syntax unified\n"
        "1:\n"
        ODT_NOT_LEAST
        "lsrs %[word], %[mask], #7\n"
        "subs %[word], %[mask], %[word]\n"
        "orrs %[mask], %[word]\n"
        "ldmia %[e]!, {%[word]}\n"
        "ands %[mask], %[word]\n"
        "stmia %[to]!, {%[mask]}\n"
        "subs %[count], #1\n"
        "bne 1b\n"
        : [to] "+l" (to), [e] "+l" (e), [y] "+l" (y), [count] "+l" (count), [word] "=&l" (word), [mask] "=&l" (mask)
        : [high] "l" (0x80808080), [low] "h" (0x7F7F7F7F) : "cc", "memory");
}

// One bit per byte of y, set if it is not -128, for `count` > 0 pairs of words: 33 cycles per pair.
static inline void odt_open_words(int8_t *bits, const int8_t *y, int32_t count) {
    uint32_t word, mask, byte;
    __asm volatile(".syntax unified\n"
                   ".macro odt_nibble\n" // the bytes' upper bits, moved to bits 28 to 31 by a product
                   ODT_NOT_LEAST "lsrs %[mask], %[mask], #7\n"
                   "mov %[word], %[places]\n"
                   "muls %[mask], %[word]\n"
                   "lsrs %[mask], %[mask], #28\n"
                   ".endm\n"
                   "1:\n"
                   "odt_nibble\n"
                   "mov %[byte], %[mask]\n"
                   "odt_nibble\n"
                   "lsls %[mask], %[mask], #4\n"
                   "orrs %[byte], %[mask]\n"
                   "strb %[byte], [%[bits]]\n"
                   "adds %[bits], #1\n"
                   "subs %[count], #1\n"
                   "bne 1b\n"
                   ".purgem odt_nibble\n"
                   : [bits] "+l"(bits), [y] "+l"(y), [count] "+l"(count), [word] "=&l"(word), [mask] "=&l"(mask),
                   [byte] "=&l"(byte)
                   : [high] "l"(0x80808080), [low] "h"(0x7F7F7F7F), [places] "h"(0x10204080)
                   : "cc", "memory");
}

#endif

#endif
