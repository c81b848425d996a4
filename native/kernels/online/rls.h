// Recursive least squares on fixed random features (OS-ELM), one sample at a time: docs/reference/numerics.md, Online.
//
// The state is bytes that users save and load: a header of words, P = U D U' as the triangle's columns (the diagonal is
// D), and the weights, one row per feature. It is not trusted: sizes are checked at each call.

#ifndef ODT_RLS_H
#define ODT_RLS_H

#include "../../bytes.h"

#define ODT_RLS_MAGIC 0x3152444F // "ODR1"

// Words of the header.
enum {
    ODT_RLS_WORD_MAGIC,
    ODT_RLS_INPUTS,
    ODT_RLS_FEATURES,
    ODT_RLS_OUTPUTS,
    ODT_RLS_SEED,
    ODT_RLS_ACTIVATION,
    ODT_RLS_GAIN,       // the scale of the sum for a feature
    ODT_RLS_FORGETTING, // float32, 0.5 .. 1
    ODT_RLS_HOLD,       // float32: below this h'Ph nothing is forgotten
    ODT_RLS_TRACE,      // float32: nothing is forgotten if the trace of P would exceed this
    ODT_RLS_START,      // float32: the initial D of a direction
    ODT_RLS_SEEN,       // samples learned, 64 bits
    ODT_RLS_SEEN_HIGH,
    ODT_RLS_HEADER = 16,
};

enum { ODT_RLS_LINEAR, ODT_RLS_TANH, ODT_RLS_SIGMOID, ODT_RLS_RELU };

// Results of odt_rls_f32(). Unless the result is ODT_RLS_DONE, the state has not changed.
enum {
    ODT_RLS_DONE,
    ODT_RLS_X_FORM,  // x has another number of float32
    ODT_RLS_Y_FORM,
    ODT_RLS_X_VALUE, // a number is NaN, or 2^20 or more
    ODT_RLS_Y_VALUE,
    ODT_RLS_DAMAGED, // this is not a state, or work is too small
};

// Writes the outputs for x to the first floats of work. With y, the next float is their mean squared error; with learn,
// y is learned. State and work are aligned to 4 bytes; x and y need not be. Without y, y.data is NULL.
int odt_rls_f32(odt_bytes_t state, odt_bytes_t work, odt_bytes_t x, odt_bytes_t y, int learn);

#endif
