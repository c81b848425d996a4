// A BatchNorm whose running statistics scale the samples as they are read (gather_norm_i8), int8. var includes eps.

#include "../../fixed.h"
#include "../../opcodes.h"

void odt_read_stats_i8(const odt_read_stats_i8_t *a) {
    uint32_t unit = odt_scale_mul(odt_scale(a->factor), odt_scale(*a->sx)), eps = odt_scale(a->eps);
    int32_t batch = a->batch && a->c[ODT_KEY];
    for (int32_t n = 0; n < a->N; n++) {
        if (!batch) {
            a->st[2 * n] = 0;
            a->st[2 * n + 1] = (int32_t)unit;
            continue;
        }
        uint32_t spread = odt_scale_div(eps, odt_scale(a->var[n]));
        if (a->va[n]) {
            spread = odt_scale_add(odt_scale(a->va[n]), spread);
        }
        a->st[2 * n + 1] = (int32_t)odt_scale_div(unit, odt_scale_sqrt(spread));
    }
}

void odt_track_read_i8(const odt_track_read_i8_t *a) {
    uint32_t keep = odt_scale(a->keep), rest = odt_scale(a->rest), eps = odt_scale(a->eps);
    uint32_t scale = odt_scale_mul(odt_scale(a->factor), odt_scale(*a->sx));
    odt_multiplier_t steps = odt_multiplier(odt_scale_shift(scale, 2)), part = odt_multiplier(rest);
    for (int32_t n = 0; n < a->N; n++) {
        uint32_t var = odt_scale(a->var[n]), unit = odt_scale_shift(odt_scale_sqrt(var), -12);
        int32_t moved = odt_rescaled(odt_rescaled(a->st[2 * n], steps), part);
        int32_t mean = odt_sat32((int64_t)odt_quantize((uint32_t)a->mean[n], odt_scale_div(ODT_ONE, unit)) + moved);
        uint32_t size = mean ? odt_scale_mul(odt_scale_int(odt_magnitude(mean)), unit) : 0;
        a->mean[n] = (int32_t)(mean < 0 ? size | 0x80000000u : size);
        uint32_t spread = a->va[n] ? odt_scale_add(odt_scale_mul(odt_scale(a->va[n]), var), eps) : eps;
        a->var[n] = (int32_t)odt_scale_add(odt_scale_mul(var, keep), odt_scale_mul(rest, spread));
    }
}
