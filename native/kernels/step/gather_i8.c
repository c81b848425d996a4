// Copies a batch's samples from the user's data, int8.

#include <string.h>

#include "../../core.h"
#include "../../data.h"
#include "../../fixed.h"
#include "../../opcodes.h"
#include "../../common/elements.h"
#include "../../common/quantize.h"
#include "../../common/words.h"

#if ODT_M0 && !ODT_SMALL
#include "../../cores/m0/elements__m0.h"
#include "../../cores/m0/gather_i8__m0.h"

ODT_BESIDE_ASSEMBLY
#endif

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

// Converts an element minus its zero point. A nonzero value raises the peak, even if it is below one step.
static int8_t rescaled(int32_t v, const odt_rescaler_t *q, odt_outputs_t *outputs) {
    if (v && !outputs->peak) {
        *outputs = odt_outputs_from(outputs->z, outputs->lo, 1);
    }
    return odt_output(outputs, odt_rescale_by(q, v));
}

// Elements of two bytes.
static __attribute__((noinline)) void rescale_int16(
    int8_t *y, const uint8_t *x, int32_t F, int32_t zero, odt_multiplier_t q, odt_outputs_t *outputs) {
    odt_rescaler_t r = odt_rescaler(q);
    #if ODT_M0
    int is_usual = r.has_short && odt_is_usual(outputs) && ((uintptr_t)x & 1) == 0;
    halfwords_t h = {x, x + 2 * F, y, -zero, r.low, r.high, r.shift - 1, *outputs};
    while (h.x != h.end) {
        if (is_usual && h.outputs.peak) {
            rescale_halfwords(&h);
            if (h.x == h.end) {
                break;
            }
        }
        *h.y++ = rescaled((int16_t)(h.x[0] | h.x[1] << 8) - zero, &r, &h.outputs);
        h.x += 2;
    }
    *outputs = h.outputs;
    #else
    for (int32_t i = 0; i < F; i++, x += 2) {
        y[i] = rescaled((int16_t)(x[0] | x[1] << 8) - zero, &r, outputs);
    }
    #endif
}

// The same for one float32 element.
static int8_t quantized(uint32_t v, const odt_quantizer_t *q, odt_outputs_t *outputs) {
    if (v << 1 && !outputs->peak) {
        *outputs = odt_outputs_from(outputs->z, outputs->lo, 1);
    }
    return odt_output(outputs, odt_quantize_by(q, v));
}

#if ODT_M0
enum { FLOATS = 32 }; // copied to aligned words at a time

static __attribute__((noinline)) void quantize(
    int8_t *y, const uint8_t *x, int32_t F, uint32_t inverse, odt_outputs_t *outputs) {
    uint32_t moved[FLOATS];
    odt_quantizer_t q = odt_quantizer(inverse);
    floats_t f = {.y = y, .z = outputs->z, .bytes = odt_quantizer_bytes(&q), .outputs = *outputs};
    int is_usual = q.shift && odt_is_usual(outputs), is_aligned = ((uintptr_t)x & 3) == 0;
    for (int32_t count; F > 0; F -= count, x += 4 * count) {
        count = is_aligned ? F : odt_min(F, FLOATS);
        f.x = is_aligned ? x : memcpy(moved, x, 4 * (size_t)count);
        f.end = f.x + 4 * count;
        while (f.x != f.end) {
            if (is_usual && f.outputs.peak) {
                quantize_floats(&f);
                if (f.x == f.end) {
                    break;
                }
            }
            *f.y++ = quantized(odt_load_word(f.x), &q, &f.outputs);
            f.x += 4;
        }
    }
    *outputs = f.outputs;
}
#else
static __attribute__((noinline)) void quantize(
    int8_t *y, const uint8_t *x, int32_t F, uint32_t inverse, odt_outputs_t *outputs) {
    odt_quantizer_t q = odt_quantizer(inverse);
    int is_aligned = ((uintptr_t)x & 3) == 0;
    for (int32_t i = 0; i < F; i++, x += 4) {
        uint32_t v;
        if (is_aligned) {
            v = odt_load_word(x);
        } else {
            v = x[0] | (uint32_t)x[1] << 8 | (uint32_t)x[2] << 16 | (uint32_t)x[3] << 24;
        }
        y[i] = quantized(v, &q, outputs);
    }
}
#endif

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
                    peak = odt_max(peak, (uint32_t)v << 1 != 0); // a nonzero value counts, even below one step
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
