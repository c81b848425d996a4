// What the cells of recurrent layers have in common. A sequence a of T steps has G = gates * H preactivations a step,
// the recurrent weights w are [G, H], and y, p are outputs [H].

#ifndef ODT_RECURRENT_H
#define ODT_RECURRENT_H

#include <stdint.h>

#include "../../core.h"

enum { SIMPLE, GRU, LSTM }; // an instruction's kind

// Added to it where a sequence does not begin with 0: a forward instruction goes on from the last step's outputs; a
// gradient finds what was before each sample's first step in its first row of p and, of an LSTM's cells, in n.
enum { GOES_ON = 4 };

enum { MOST = 4 }; // gates

// The cell of an instruction, mostly.
static inline int32_t cell_of(int32_t kind) {
    return kind & ~GOES_ON;
}

// The gates of a cell, 0 where there is none or the sizes do not fit together.
static inline int32_t gates_of_cell(int32_t kind, int32_t G, int32_t H, int32_t T, int32_t R, int32_t K) {
    if ((uint32_t)kind > LSTM || R > T || K > T) {
        return 0;
    }
    int32_t gates = kind == SIMPLE ? 1 : kind + 2;
    return G == gates * H ? gates : 0;
}

#if ODT_SMALL
int32_t odt_gates_of(int32_t kind, int32_t G, int32_t H, int32_t T, int32_t R, int32_t K); // cell_i8.c
#else
static inline int32_t odt_gates_of(int32_t kind, int32_t G, int32_t H, int32_t T, int32_t R, int32_t K) {
    return gates_of_cell(kind, G, H, T, R, K);
}
#endif

// The same of a gradient, which reads what each step has kept.
static inline int32_t gates_of_dx(int32_t kind, int32_t G, int32_t H, int32_t T, int32_t R, int32_t K, int32_t E) {
    int is_kept = (kind == SIMPLE || K == T) && (kind != GRU || E == T);
    return is_kept ? odt_gates_of(kind, G, H, T, R, K) : 0;
}

#endif
