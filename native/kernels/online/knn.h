// The k nearest samples among those that odt.online's KNN keeps: docs/reference/numerics.md, Online.
//
// The state is bytes that users save and load: a header of words, then samples of one label (int32) and int16 inputs
// each. It is not trusted: sizes are checked at each call.

#ifndef ODT_KNN_H
#define ODT_KNN_H

#include "../../bytes.h"

#define ODT_KNN_MAGIC 0x3154444E // "NDT1", for all models that keep samples

// Words of the header.
enum {
    ODT_KNN_WORD_MAGIC,
    ODT_KNN_KIND,
    ODT_KNN_INPUTS,
    ODT_KNN_POINT,    // units of inputs are 2^-point
    ODT_KNN_PLACES,
    ODT_KNN_K,
    ODT_KNN_SQUARES,  // sum squares of differences; else magnitudes
    ODT_KNN_CONDENSE, // a score is in the upper half of the label's word
    ODT_KNN_USED = 11,
    ODT_KNN_HEADER = 16,
};

enum { ODT_KNN_THIS_KIND = 2 };

// Values that odt_knn_i16() returns instead of a label.
enum {
    ODT_KNN_NONE = -1,    // no sample is kept
    ODT_KNN_X_FORM = -2,  // x has another number of elements, or is not aligned to elements
    ODT_KNN_X_VALUE = -3, // a number is NaN, or 2^20 or more
    ODT_KNN_DAMAGED = -4, // this is not a state, or work is too small
};

// The most frequent label among the k nearest samples; of equally frequent labels, the smallest. The first word of work
// receives the place of the nearest sample, the int16 after it the inputs in units. x: float32 if `floats`, else int16;
// x.data is NULL if work already has the inputs. State and work are aligned to 4 bytes.
int32_t odt_knn_i16(odt_bytes_t state, odt_bytes_t work, odt_bytes_t x, int floats);

#endif
