// The samples of a batch from the user's data, int8.

#include <string.h>

#include "../../core.h"
#include "../../data.h"
#include "../../fixed.h"
#include "../../opcodes.h"
#include "../common/elements.h"
#include "../common/quantize.h"
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

#if !ODT_SMALL

// Elements of two bytes, less zero.
static __attribute__((noinline)) void rescale_int16(int8_t *y, const uint8_t *x, int32_t F, int32_t zero, odt_multiplier_t q, odt_outputs_t *outputs) {
    odt_rescaler_t r = odt_rescaler(q);
    for (int32_t i = 0; i < F; i++, x += 2) {
        int32_t v = (int16_t)(x[0] | x[1] << 8) - zero;
        if (v && !outputs->peak) {
            *outputs = odt_outputs_from(outputs->z, outputs->lo, 1);
        }
        y[i] = odt_output(outputs, odt_rescale_by(&r, v));
    }
}

static __attribute__((noinline)) void quantize(int8_t *y, const uint8_t *x, int32_t F, uint32_t inverse, odt_outputs_t *outputs) {
    odt_quantizer_t q = odt_quantizer(inverse);
    int is_aligned = ((uintptr_t)x & 3) == 0;
    for (int32_t i = 0; i < F; i++, x += 4) {
        uint32_t v;
        if (is_aligned) {
            v = odt_load_word(x);
        } else {
            v = x[0] | (uint32_t)x[1] << 8 | (uint32_t)x[2] << 16 | (uint32_t)x[3] << 24;
        }
        if (v << 1 && !outputs->peak) {
            *outputs = odt_outputs_from(outputs->z, outputs->lo, 1);
        }
        y[i] = odt_output(outputs, odt_quantize_by(&q, v));
    }
}

#endif

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
        #if !ODT_SMALL
        } else if (peak >= 0 && a->z > -128 && a->z < 128 && (format == ODT_FLOAT32
            || (format == ODT_INT16 && zero == (int16_t)zero))) {
            odt_outputs_t outputs = odt_outputs_from(a->z, -128, peak);
            if (format == ODT_INT16) {
                rescale_int16(y, sample, F, zero, q, &outputs);
            } else {
                quantize(y, sample, F, inverse, &outputs);
            }
            peak = outputs.peak;
        #endif
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
