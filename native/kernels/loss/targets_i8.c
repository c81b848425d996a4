// Functions that the int8 losses share (targets_i8.h).

#include <string.h>

#include "../../core.h"
#include "../../opcodes.h"
#include "../../common/rescale.h"
#include "targets_i8.h"

#if ODT_M0 && !ODT_SMALL
#include "../../cores/m0/targets_i8__m0.h"
#endif

void odt_add_loss_i8(int32_t *c, uint64_t loss) {
    loss += (uint32_t)c[ODT_LOSS] | (uint64_t)(uint32_t)c[ODT_LOSS_HIGH] << 32;
    c[ODT_LOSS] = (int32_t)(uint32_t)loss;
    c[ODT_LOSS_HIGH] = (int32_t)(uint32_t)(loss >> 32);
}

uint32_t odt_mean_scale(uint32_t scale, int32_t N, const int32_t *c, int32_t B) {
    return odt_scale_div(scale, odt_scale_int((uint32_t)N * (uint32_t)odt_rows(c, B)));
}

odt_targets_i8_t odt_targets_i8(const int32_t *c, const odt_region_t *region, int32_t N, int32_t shift,
    uint32_t sx) {
    odt_targets_i8_t t = {.samples = odt_samples(c, region, c[ODT_Y_FORMAT], N), .zero = c[ODT_Y_ZERO]};
    #if ODT_SMALL
    t.inverse = odt_scale_div(odt_scale_shift(ODT_ONE, shift), sx);
    t.q = odt_multiplier(odt_scale_div(odt_scale_shift(odt_scale(c[ODT_Y_SCALE]), shift), sx));
    #else
    t.inverse = odt_quantizer(odt_scale_div(odt_scale_shift(ODT_ONE, shift), sx));
    #if ODT_M0
    t.bytes = odt_quantizer_bytes(&t.inverse);
    #endif
    t.q = odt_rescaler(odt_multiplier(odt_scale_div(odt_scale_shift(odt_scale(c[ODT_Y_SCALE]), shift), sx)));
    #endif
    return t;
}

int32_t odt_target_i8(const odt_targets_i8_t *t, const uint8_t *sample, int32_t i) {
    #if ODT_SMALL
    int32_t raw = odt_element(sample, t->samples.format, i);
    if (t->samples.format == ODT_FLOAT32) {
        return odt_quantize((uint32_t)raw, t->inverse);
    }
    return odt_rescaled(odt_sat32((int64_t)raw - t->zero), t->q);
    #else
    int32_t format = t->samples.format;
    int32_t raw = format == ODT_UINT8 ? sample[i] : odt_element(sample, format, i);
    if (format == ODT_FLOAT32) {
        return odt_quantize_by(&t->inverse, (uint32_t)raw);
    }
    if ((uint32_t)raw + (1u << 16) < 1u << 17 && (uint32_t)t->zero + (1u << 16) < 1u << 17) {
        return odt_rescale_by(&t->q, raw - t->zero);
    }
    return odt_rescaled(odt_sat32((int64_t)raw - t->zero), t->q.q);
    #endif
}

int32_t odt_difference_i8(const odt_targets_i8_t *t, const uint8_t *sample, int32_t i, int32_t x,
    int32_t z) {
    int32_t target = odt_target_i8(t, sample, i);
    #if !ODT_SMALL
    if (z == (int8_t)z) { // values above 2^25 stay above 2^24
        return odt_limit((x - z) * 256 - odt_limit(target, -(1 << 25), 1 << 25), -(1 << 24), 1 << 24);
    }
    #endif
    return odt_limit(odt_sat32(((int64_t)x - z) * 256 - target), -(1 << 24), 1 << 24);
}

#if !ODT_SMALL

#if ODT_M0
static __attribute__((noinline)) void subtract_any(const odt_targets_i8_t *t, const uint8_t *sample, int32_t i,
    const int8_t *x, int32_t count, int32_t z, int32_t *to);

void odt_differences_i8(const odt_targets_i8_t *t, const uint8_t *sample, int32_t i, const int8_t *x, int32_t count,
    int32_t z, int32_t *to) {
    int32_t format = t->samples.format;
    if (format != ODT_FLOAT32 || z != (int8_t)z || !t->inverse.shift) {
        if (format == ODT_UINT8 && z == (int8_t)z && t->zero == (uint8_t)t->zero && t->q.has_short) {
            byte_differences_t d = {
                sample + i + count, x + count, count, -t->zero, t->q.low, t->q.high, t->q.shift - 1, -256 * z, to};
            subtract_bytes(&d);
        } else {
            subtract_any(t, sample, i, x, count, z, to);
        }
        return;
    }
    const uint8_t *from = sample + 4 * i;
    if ((uintptr_t)from & 3) {
        from = memcpy(to, from, 4 * (size_t)count);
    }
    differences_t d = {from, from + 4 * count, (int32_t)((uintptr_t)x - (uintptr_t)from / 4) - 1,
        (int32_t)((uintptr_t)to - (uintptr_t)from) - 4, -256 * z, &t->bytes};
    while (d.from != d.end) {
        subtract_floats(&d);
        if (d.from != d.end) {
            int32_t at = (d.from - from) / 4;
            to[at] = odt_difference_i8(t, d.from, 0, x[at], z);
            d.from += 4;
        }
    }
}

static
#else
#if ODT_32_BIT

// The differences of bytes, up to one that has to be limited; returns their number.
static int32_t subtract_usual(
    const odt_targets_i8_t *t, const uint8_t *sample, const int8_t *x, int32_t count, int32_t z, int32_t *to) {
    const odt_rescaler_t q = t->q;
    const int32_t *first = to, *end = to + count;
    int32_t flip = t->samples.format == ODT_INT8 ? 128 : 0, zero = t->zero + flip;
    if ((flip == 0 && t->samples.format != ODT_UINT8) || z != (int8_t)z || t->zero != (int16_t)t->zero
        || !odt_is_within(&q, 17)) {
        return 0;
    }
    for (; to != end; to++) {
        int32_t target = odt_rescale_within(q, (*sample++ ^ flip) - zero);
        if ((uint32_t)target + (1 << 23) >= 1 << 24) {
            break;
        }
        *to = (*x++ - z) * 256 - target;
    }
    return (int32_t)(to - first);
}

#endif
#define subtract_any odt_differences_i8
#endif
    void
    subtract_any(const odt_targets_i8_t *t, const uint8_t *sample, int32_t i, const int8_t *x, int32_t count, int32_t z,
        int32_t *to) {
    int32_t is_float = t->samples.format == ODT_FLOAT32, zero = t->zero;
    #if ODT_32_BIT && !ODT_M0
    int32_t done = subtract_usual(t, sample + i, x, count, z, to);
    i += done;
    x += done;
    to += done;
    count -= done;
    #endif
    int is_usual = z == (int8_t)z && (is_float || (t->samples.format == ODT_UINT8 && zero == (uint8_t)zero));
    const uint8_t *raw = sample + (is_float ? 4 * i : i);
    for (int32_t stop = i + count; i < stop; i++, x++, to++) {
        if (is_usual) {
            int32_t target = is_float ? odt_quantize((uint32_t)odt_element(raw, ODT_FLOAT32, 0), t->inverse.inverse)
                : odt_rescale_by(&t->q, *raw - zero);
            raw += is_float ? 4 : 1;
            if ((uint32_t)target + (1 << 23) < 1 << 24) { // nothing has to be limited
                *to = (*x - z) * 256 - target;
                continue;
            }
        }
        *to = odt_difference_i8(t, sample, i, *x, z);
    }
}

#endif
