// Columns of bytes times a list of errors on a Cortex-M0+: what the gradients of dense layers, and those of
// convolutions most of whose errors are 0, have in common.

#ifndef ODT_SUM_COLUMNS_I8_M0_H
#define ODT_SUM_COLUMNS_I8_M0_H

#include <stdint.h>

// An error, and the address of what it is multiplied by.
typedef struct {
    int32_t offset, e;
} odt_listed_t;

// sums[k] += e * w[offset + k] over a list that is not empty, for k < fours / 4, in `rows` > 0 rows; sums wrap.
typedef struct {
    int32_t *sums;                // 0
    const odt_listed_t *list, *end; // 4, 8
    const int8_t *w;              // 12
    int32_t fours;                // 16: bytes of a row's sums, a multiple of 16 that is not 0
    int32_t w_skip, sums_skip;    // 20, 24: bytes from a row's end to the next row
    int32_t rows;                 // 28
} odt_columns_t;

void odt_sum_columns(const odt_columns_t *c);

// The same of rows of any length, which begin `w_pitch` bytes and `sums_pitch` words apart: their last columns are
// computed from `back` columns before on, four at a time, so that w has to have these. It changes *c.
void odt_sum_rows(odt_columns_t *c, int32_t length, int32_t w_pitch, int32_t sums_pitch, int32_t back);

// Where errors lie, and the offsets that they are to have: `images` > 0 times `rows` > 0 rows of errors, `step` bytes
// apart.
typedef struct {
    int32_t step, apart;    // 0, 4: from an error to the next, and from its offset
    int32_t count, skip;    // 8, 12: errors of a row, more than 0; from the offset after the last to the next row's
    int32_t e_skip, rows;   // 16, 20: bytes from a row's last error to the next row
    int32_t images, beyond; // 24, 28: offset from what would be an image's next row to the next image
    int32_t sum;            // 32: what is listed is added to it
} odt_scan_t;

// Appends the errors of e that are not 0 to a list, the first with that offset. Returns the list's new end.
odt_listed_t *odt_list_errors(odt_listed_t *at, const int8_t *e, int32_t offset, odt_scan_t *scan);

#endif
