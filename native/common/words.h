// Four bytes at a time, where they lie at whole words: cores without unaligned accesses take them at once then.

#ifndef ODT_WORDS_H
#define ODT_WORDS_H

#include <stdint.h>
#include <string.h>

#include "../core.h"

static inline uint32_t odt_load_word(const void *from) {
    uint32_t word;
    memcpy(&word, __builtin_assume_aligned(from, 4), 4);
    return word;
}

// How many of `count` bytes are not 0.
static inline int32_t odt_count_errors(const int8_t *e, int32_t count) {
    int32_t found = 0;
    #if ODT_32_BIT && !ODT_SMALL
    if ((((uintptr_t)e | (uintptr_t)count) & 3) == 0) {
        for (const int8_t *end = e + count; e != end; e += 4) {
            uint32_t word = odt_load_word(e), any = (((word & 0x7F7F7F7F) + 0x7F7F7F7F) | word) >> 7 & 0x01010101;
            found += (int32_t)((any * 0x01010101) >> 24);
        }
        return found;
    }
    #endif
    for (int32_t n = 0; n < count; n++) {
        found += e[n] != 0;
    }
    return found;
}

static inline void odt_store_word(void *to, uint32_t word) {
    memcpy(__builtin_assume_aligned(to, 4), &word, 4);
}

#endif
