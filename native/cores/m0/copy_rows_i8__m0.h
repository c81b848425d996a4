// Rows of bytes, copied on a Cortex-M0+.

#ifndef ODT_COPY_ROWS_I8_M0_H
#define ODT_COPY_ROWS_I8_M0_H

#include <stdint.h>

// Copies `count` > 0 rows of `length` > 0 bytes, `stride` bytes apart in x and `step` bytes apart in the result.
void odt_copy_rows_i8__m0(int8_t *to, int32_t step, const int8_t *x, int32_t stride, int32_t count, int32_t length);

#endif
