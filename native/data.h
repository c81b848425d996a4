// The user's data: which sample a row of the batch is, and its elements.

#ifndef ODT_DATA_H
#define ODT_DATA_H

#include <stdint.h>

#include "odt.h"

// A batch's samples in a region, `count` of them. Read once from the control block, which a program may change.
typedef struct {
    const odt_region_t *region;
    int32_t format, position, count, samples, elements;
    uint32_t order, bytes, stored; // bytes of a sample, samples that the region has room for
} odt_samples_t;

// Samples of `elements` elements in a format, which is one of ODT_INT8 ..
odt_samples_t odt_samples(const int32_t *control, const odt_region_t *region, int32_t format,
    int32_t elements);

// Row r's sample in the region, or NULL for padding.
const uint8_t *odt_sample(const odt_samples_t *samples, int32_t row);

// Bytes of an element, by format.
extern const uint8_t odt_format_bytes[];

// Element i of a sample in an integer format; float32's bits.
int32_t odt_element(const uint8_t *sample, int32_t format, int32_t i);

// Rows that the loss is the mean of: min(COUNT, B), at least 1; BATCH for a micro-batch.
int32_t odt_rows(const int32_t *control, int32_t B);

// The sample's label, or -1 when it is none of 0 .. N-1.
int32_t odt_label(const odt_samples_t *samples, const uint8_t *sample, int32_t N);

#endif
