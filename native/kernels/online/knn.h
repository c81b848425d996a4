// The k nearest of the samples that odt.online's KNN keeps: docs/reference/numerics.md, Online.
//
// The state is bytes that users keep and load: a header of words, then samples, a label (int32) and int16 inputs each.
// Nothing of it is trusted: sizes are checked at each call.

#ifndef ODT_KNN_H
#define ODT_KNN_H

#include "../../bytes.h"

#define ODT_KNN_MAGIC 0x3154444E // "NDT1", of all models that keep samples

// Words of the header.
enum {
    ODT_KNN_WORD_MAGIC,
    ODT_KNN_KIND,
    ODT_KNN_INPUTS,
    ODT_KNN_POINT,    // units of inputs are 2^-point
    ODT_KNN_PLACES,
    ODT_KNN_K,
    ODT_KNN_SQUARES,  // of differences; else their magnitudes
    ODT_KNN_CONDENSE, // a score is in the upper half of the label's word
    ODT_KNN_USED = 11,
    ODT_KNN_HEADER = 16,
};

enum { ODT_KNN_THIS_KIND = 2 };

// What odt_knn_i16() returns in place of a label.
enum {
    ODT_KNN_NONE = -1,    // no sample is kept
    ODT_KNN_X_FORM = -2,  // x does not hold that number of elements, or is not aligned to them
    ODT_KNN_X_VALUE = -3, // a number is NaN, or 2^20 or more
    ODT_KNN_DAMAGED = -4, // the state is none, or work is too small
};

// The label that most of the k nearest samples have, the smallest of several. The first word of work becomes the place
// of the nearest sample, the int16 after it the inputs in units. x: float32 where `floats`, else int16; x.data is NULL
// where work has the inputs already. State and work are aligned to 4 bytes.
int32_t odt_knn_i16(odt_bytes_t state, odt_bytes_t work, odt_bytes_t x, int floats);

#endif
