// Recursive least squares on fixed random features (OS-ELM), a sample at a time: docs/reference/numerics.md, Online.
//
// The state is bytes that users keep and load: a header of words, P = U D U' by columns of the triangle (the diagonal is
// D), and the weights, a row per feature. Nothing of it is trusted: sizes are checked at each call.

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
    ODT_RLS_GAIN,       // a scale: of the sum of an input's features
    ODT_RLS_FORGETTING, // float32, 0.5 .. 1
    ODT_RLS_HOLD,       // float32: nothing is forgotten where h'Ph is below
    ODT_RLS_TRACE,      // float32: nor where the trace of P would rise beyond
    ODT_RLS_START,      // float32: D of a direction of which nothing is known
    ODT_RLS_SEEN,       // samples learned, 64 bits
    ODT_RLS_SEEN_HIGH,
    ODT_RLS_HEADER = 16,
};

enum { ODT_RLS_LINEAR, ODT_RLS_TANH, ODT_RLS_SIGMOID, ODT_RLS_RELU };

// What odt_rls_f32() returns; the state is as it was but after ODT_RLS_DONE.
enum {
    ODT_RLS_DONE,
    ODT_RLS_X_FORM,  // x is not that many float32
    ODT_RLS_Y_FORM,
    ODT_RLS_X_VALUE, // one is NaN, or 2^20 or more
    ODT_RLS_Y_VALUE,
    ODT_RLS_DAMAGED, // the state is none, or work is too small
};

// Outputs of x, to work's first floats. With y: their mean squared error, to the next one; if learn: y is learned.
// State and work are aligned to 4 bytes; x and y need not be. y.data: NULL where there is none.
int odt_rls_f32(odt_bytes_t state, odt_bytes_t work, odt_bytes_t x, odt_bytes_t y, int learn);

#endif
