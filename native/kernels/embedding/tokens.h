// Which rows of a table the tokens of a batch name. Tokens are bytes, whatever a program says: the list fits.

#ifndef ODT_TOKENS_H
#define ODT_TOKENS_H

#include <string.h>

#include "../../fixed.h"

#define ODT_TOKENS 256

static inline void odt_see_all(uint16_t *seen, int32_t V) {
    for (int32_t token = 0; token < odt_min(V, ODT_TOKENS); token++) {
        seen[token] = 1;
    }
}

// Of `seen`, which is 1 for each token that is there, the list: ascending, `room` of them at most. Each one's place in
// it then stands in `seen`, plus 1; 0 of those that are not listed.
static inline int32_t odt_list_tokens(uint16_t *seen, int32_t *rows, int32_t room) {
    int32_t count = 0;
    for (int32_t token = 0; token < ODT_TOKENS; token++) {
        if (seen[token] && count < room) {
            rows[count++] = token;
            seen[token] = (uint16_t)count;
        } else {
            seen[token] = 0;
        }
    }
    return count;
}

#endif
