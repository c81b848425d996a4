// Convolutions in groups of few channels or outputs (group_conv2d_i8.c). On an M4 a few adjacent groups are one
// convolution, whose filters are 0 in the channels of other groups. It has two or four times the products, but panels
// of four filters or channels are full. Other cores join no groups.

#ifndef ODT_JOINED_H
#define ODT_JOINED_H

#include <stdint.h>
#include <string.h>

#include "../../core.h"
#include "../../fixed.h"

// The most weights, and the most sums of a gradient of filters, which lie on the stack.
enum { ODT_JOINED = ODT_M4 ? 512 : 0, ODT_JOINED_SUMS = ODT_M4 ? 160 : 0 };

// How many groups, from g on, are one convolution of at most `most` weights.
static inline int32_t odt_joined_groups(int32_t g, int32_t G, int32_t N, int32_t C, int32_t taps, int32_t most) {
    int32_t per = N / G, least = odt_min(C, per), groups = least == 1 ? 4 : least == 2 ? 2 : 1;
    if (most == 0 || N % G || taps > most) {
        return 1;
    }
    while (groups > 1 && (int64_t)(groups * C) * (groups * per) * taps > most) {
        groups /= 2;
    }
    return odt_min(groups, G - g);
}

// Writes the filters of `groups` groups, with `per` outputs each, as filters of one convolution.
static inline void odt_join_filters(
    int8_t *to, const int8_t *w, int32_t groups, int32_t per, int32_t C, int32_t taps) {
    memset(to, 0, (size_t)(groups * C * groups * per * taps));
    for (int32_t g = 0; g < groups; g++) {
        for (int32_t i = per * taps; i; i--, to += groups * C, w += C) {
            memcpy(to + g * C, w, (size_t)C);
        }
    }
}

// Copies those sums of filters' gradients that belong to channels of the filter's own group.
static inline void odt_separate_sums(
    int32_t *dw, const int32_t *sums, int32_t groups, int32_t per, int32_t C, int32_t taps) {
    for (int32_t g = 0; g < groups; g++) {
        for (int32_t i = per * taps; i; i--, dw += C, sums += groups * C) {
            memcpy(dw, sums + g * C, (size_t)C * sizeof(*dw));
        }
    }
}

#endif
