// Dense layers for few samples on cores with SMLAD, a Cortex-M4 and later.

#ifndef ODT_DENSE_I8_M4_H
#define ODT_DENSE_I8_M4_H

#include "../../opcodes.h"

// The forward pass for all channels, if there are at least four; returns their number. Updates the peak.
int32_t odt_dense_i8__m4(const odt_dense_i8_t *a, int32_t *peak);

#endif
