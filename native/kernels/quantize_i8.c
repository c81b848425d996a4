// What surrounds the int8 layers: the step's counter, reading data, scales and their multipliers.

#include <string.h>

#include "../data.h"
#include "../fixed.h"
#include "../opcodes.h"
#include "rescale.h"
#include "words.h"

#define TWO_30 (1u << 30)
#define GROWTH 0x3FA00000 // 5/4, as a scale: an input's range may grow by so much in a step

void odt_clear(const odt_clear_t *a) {
    memset(a->y, 0, (size_t)a->N * sizeof(int32_t));
}

// beta^t in Q30, one step on.
static uint32_t power(uint32_t p, uint32_t beta) {
    return (uint32_t)(((uint64_t)p * beta + (1u << 29)) >> 30);
}

// (1 - p) * 2^30, p being a state that may be anything.
static uint32_t one_less(uint32_t p) {
    return p < TWO_30 ? TWO_30 - p : 0;
}

void odt_tick(const odt_tick_t *a) {
    uint32_t rate = (uint32_t)a->c[ODT_RATE], corrected = ODT_ONE;
    uint32_t t = (uint32_t)a->h[0] + 1;
    a->h[0] = (int32_t)t;
    a->c[ODT_KEY] = (int32_t)odt_hash32((uint32_t)a->h[1], t);
    if (a->beta1 || a->beta2) {
        uint32_t p1 = power((uint32_t)a->h[2], (uint32_t)a->beta1);
        uint32_t p2 = power((uint32_t)a->h[3], (uint32_t)a->beta2);
        a->h[2] = (int32_t)p1;
        a->h[3] = (int32_t)p2;
        uint32_t c = odt_scale_int(odt_isqrt((uint64_t)one_less(p2) << 30));
        corrected = odt_scale_shift(c, -30);
        if (rate) {
            rate = odt_scale_mul(odt_scale((int32_t)rate),
                odt_scale_div(c, odt_scale_int(one_less(p1))));
        }
    }
    a->rate[0] = (int32_t)rate;
    a->rate[1] = (int32_t)corrected;
}

void odt_step_key(const odt_step_key_t *a) {
    if (a->c[ODT_KEY]) {
        a->c[ODT_KEY] = (int32_t)odt_hash32((uint32_t)a->h[1], (uint32_t)a->h[0] + (uint32_t)a->ahead);
    }
}

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

// factor * a * b / c
static uint32_t proportion(int32_t factor, uint32_t a, uint32_t b, uint32_t c) {
    return odt_scale_div(odt_scale_mul(odt_scale_mul(odt_scale(factor), a), b), c);
}

void odt_rescale(const odt_rescale_t *a) {
    uint32_t sx = odt_scale(*a->sx), sy = odt_scale(*a->sy);
    odt_multiplier_t q = {0, 0};
    uint32_t sw, before = 0; // which is no scale: mostly a layer's channels have one in common
    for (int32_t n = 0; n < a->N; n++, before = sw) {
        sw = odt_scale(a->sw[n]);
        if (sw != before) {
            q = odt_multiplier(proportion(a->factor, sx, sw, sy));
        }
        a->q[n] = q;
    }
}

void odt_rescale_dx(const odt_rescale_dx_t *a) {
    uint32_t top = 0;
    for (int32_t n = 0; n < a->N; n++) {
        uint32_t s = odt_scale(a->sw[n]);
        top = s > top ? s : top;
    }
    for (int32_t n = 0; n < a->N; n++) {
        a->qc[n] = odt_multiplier(odt_scale_div(odt_scale(a->sw[n]), top));
    }
    *a->q = odt_multiplier(proportion(a->factor, odt_scale(*a->se), top, odt_scale(*a->sdx)));
}

void odt_ratio(const odt_ratio_t *a) {
    uint32_t product = odt_scale_mul(odt_scale(a->factor), odt_scale(*a->sx));
    *a->q = odt_multiplier(odt_scale_div(product, odt_scale(*a->sy)));
}

void odt_product(const odt_product_t *a) {
    uint32_t product = odt_scale_mul(odt_scale(a->factor), odt_scale(*a->a));
    *a->y = (int32_t)odt_scale_mul(product, odt_scale(*a->b));
}

void odt_bias_i8(const odt_bias_i8_t *a) {
    const int32_t limit = 1 << 30;
    uint32_t unit = odt_scale_shift(ODT_ONE, -20), sx = odt_scale(*a->sx);
    odt_rescaler_t q = {.q = {0, 1}};
    uint32_t sw, before = 0;
    for (int32_t n = 0; n < a->N; n++, before = sw) {
        sw = odt_scale(a->sw[n]);
        if (sw != before) {
            q = odt_rescaler(odt_multiplier(odt_scale_div(unit, odt_scale_mul(sx, sw))));
        }
        a->y[n] = odt_limit(odt_rescale_by(&q, a->b[n]), -limit, limit);
    }
}

// peak / limit, of a peak above it.
static uint32_t beyond(int32_t peak, int32_t limit) {
    return odt_scale_div(odt_scale_int((uint32_t)peak), odt_scale_int((uint32_t)limit));
}

// 1 - 2^-k, k in 1 .. 23
static uint32_t less(int32_t k) {
    return ODT_ONE - (1u << (24 - k));
}

void odt_range_i8(const odt_range_i8_t *a) {
    int32_t peak = *a->peak, limit = a->limit, fall = a->fall;
    uint32_t factor;
    if (peak > limit) {
        factor = beyond(peak, limit);
    } else if (peak <= 0 || fall < 1 || fall > 15) {
        return;
    } else if (peak < limit >> 2) {
        factor = less(peak < limit >> 4 ? fall : fall + 2);
    } else if (a->fine) {
        factor = less(peak < limit >> 1 ? fall + 5 : fall + 8);
    } else {
        return;
    }
    *a->s = (int32_t)odt_scale_mul(odt_scale(*a->s), factor);
}

void odt_range_x_i8(const odt_range_x_i8_t *a) {
    int32_t peak = *a->peak, limit = a->limit;
    if (peak <= 0) {
        return;
    }
    uint32_t s = odt_scale(*a->s), seen = odt_scale(*a->seen), factor = ODT_ONE;
    uint32_t largest = odt_scale_mul(odt_scale_int((uint32_t)peak), s);
    *a->seen = (int32_t)(largest > seen ? largest : seen);
    if (peak > limit) {
        factor = beyond(peak, limit);
        factor = factor < GROWTH ? factor : GROWTH;
    } else if (peak < limit >> 2) {
        factor = less(peak < limit >> 4 ? 3 : 4);
    }
    *a->s = (int32_t)odt_scale_mul(s, factor);
}
