// The samples of a batch from the user's data, int8.

#include <string.h>

#include "../../data.h"
#include "../../fixed.h"
#include "../../opcodes.h"
#include "../common/words.h"

static void subtract_128(int8_t *y, const uint8_t *x, int32_t F) {
    int32_t i = 0;
    if ((((uintptr_t)x | (uintptr_t)y) & 3) == 0) { // by words
        for (; i + 4 <= F; i += 4) {
            odt_store_word(y + i, odt_load_word(x + i) ^ 0x80808080);
        }
    }
    for (; i < F; i++) {
        y[i] = (int8_t)(x[i] - 128);
    }
}

void odt_gather_i8(const odt_gather_i8_t *a) {
    const int32_t *c = a->c;
    int32_t format = c[ODT_X_FORMAT], zero = c[ODT_X_ZERO], F = a->F, peak = *a->peak;
    uint32_t s = odt_scale(*a->s), inverse = odt_scale_div(ODT_ONE, s);
    odt_multiplier_t q = odt_multiplier(odt_scale_div(odt_scale(c[ODT_X_SCALE]), s));
    odt_samples_t samples = odt_samples(c, a->x, format, F);
    int8_t *y = a->y;
    for (int32_t b = 0; b < a->B; b++, y += F) {
        const uint8_t *sample = odt_sample(&samples, b);
        if (!sample) {
            memset(y, a->z, (size_t)F);
        } else if (format == ODT_INT8) {
            memmove(y, sample, (size_t)F);
        } else if (format == ODT_UINT8) {
            subtract_128(y, sample, F);
        } else {
            for (int32_t i = 0; i < F; i++) {
                int32_t v = odt_element(sample, format, i);
                if (format == ODT_FLOAT32) {
                    peak = odt_max(peak, (uint32_t)v << 1 != 0); // what is not 0 counts, be it below a step
                    v = odt_quantize((uint32_t)v, inverse);
                } else {
                    peak = odt_max(peak, v != zero);
                    v = odt_rescaled(odt_sat32((int64_t)v - zero), q);
                }
                peak = odt_max(peak, odt_max(v, -v));
                y[i] = (int8_t)odt_limit(odt_sat32((int64_t)v + a->z), -128, 127);
            }
        }
    }
    *a->peak = peak;
}
