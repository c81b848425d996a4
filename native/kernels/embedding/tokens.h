// Lists the rows of a table that occur in a batch. Tokens are bytes, so the list fits, whatever the program says.

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

// Lists the tokens with seen[token] = 1, ascending, at most `room` of them. Then seen[token] is the token's place in
// the list plus 1, or 0 if it is not listed.
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
