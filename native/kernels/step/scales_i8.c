// Scales, and the multipliers and biases that follow from them.

#include "../../core.h"
#include "../../fixed.h"
#include "../../opcodes.h"
#include "../../common/rescale.h"

// factor * a * b / c
static uint32_t proportion(int32_t factor, uint32_t a, uint32_t b, uint32_t c) {
    return odt_scale_div(odt_scale_mul(odt_scale_mul(odt_scale(factor), a), b), c);
}

void odt_rescale(const odt_rescale_t *a) {
    uint32_t sx = odt_scale(*a->sx), sy = odt_scale(*a->sy);
    odt_multiplier_t q = {0, 0}, *to = a->q;
    uint32_t sw, before = 0; // 0 is not a scale; most channels of a layer share one scale
    for (const int32_t *from = a->sw, *end = from + a->N; from < end; from++, before = sw) {
        sw = odt_scale(*from);
        if (sw != before) {
            q = odt_multiplier(proportion(a->factor, sx, sw, sy));
        }
        *to++ = q;
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
    const int32_t *b = a->b;
    int32_t *y = a->y;
    uint32_t sw, before = 0;
    for (const int32_t *from = a->sw, *end = from + a->N; from < end; from++, before = sw) {
        sw = odt_scale(*from);
        if (sw != before) {
            q = odt_rescaler(odt_multiplier(odt_scale_div(unit, odt_scale_mul(sx, sw))));
        }
        int32_t v = ODT_SMALL ? odt_rescaled(*b++, q.q) : odt_rescale_by(&q, *b++);
        *y++ = odt_limit(v, -limit, limit);
    }
}
