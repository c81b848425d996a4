// Weights that outgrow their scale.

#ifndef ODT_APPLY_I8_H
#define ODT_APPLY_I8_H

#include <stdint.h>

// Doubles the scale of `count` rows of K weights, and halves the weights.
void odt_halve_rows(int8_t *w, int8_t *r, int32_t *sw, int32_t K, int32_t first, int32_t count);

#endif
