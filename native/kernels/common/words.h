// Four bytes at a time, where they lie at whole words: cores without unaligned accesses take them at once then.

#ifndef ODT_WORDS_H
#define ODT_WORDS_H

#include <stdint.h>
#include <string.h>

static inline uint32_t odt_load_word(const void *from) {
    uint32_t word;
    memcpy(&word, __builtin_assume_aligned(from, 4), 4);
    return word;
}

static inline void odt_store_word(void *to, uint32_t word) {
    memcpy(__builtin_assume_aligned(to, 4), &word, 4);
}

#endif
