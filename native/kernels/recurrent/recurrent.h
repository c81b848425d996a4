// What the cells of recurrent layers have in common. A sequence a of T steps has G = gates * H preactivations a step,
// the recurrent weights w are [G, H], and y, p are outputs [H].

#ifndef ODT_RECURRENT_H
#define ODT_RECURRENT_H

#include <stdint.h>

enum { SIMPLE, GRU, LSTM }; // an instruction's kind

enum { GOES_ON = 4 }; // added to that of a forward instruction which goes on from the last step's outputs

enum { MOST = 4 }; // gates

// The cell of a forward instruction.
static inline int32_t cell_of(int32_t kind) {
    return kind >= GOES_ON && kind <= GOES_ON + LSTM ? kind - GOES_ON : kind;
}

// The gates of a cell, 0 where the sizes do not fit together.
static inline int32_t gates_of(int32_t kind, int32_t G, int32_t H, int32_t T, int32_t R, int32_t K) {
    int32_t gates = (uint32_t)kind <= LSTM ? 0x431 >> 4 * kind & 15 : 0;
    return G == gates * H && R <= T && K <= T ? gates : 0;
}

// The same of a gradient, which reads what each step has kept.
static inline int32_t gates_of_dx(int32_t kind, int32_t G, int32_t H, int32_t T, int32_t R, int32_t K, int32_t E) {
    int is_kept = (kind == SIMPLE || K == T) && (kind != GRU || E == T);
    return is_kept ? gates_of(kind, G, H, T, R, K) : 0;
}

#endif
