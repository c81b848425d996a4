// Sampling and its divergence, int8.

#include "../../data.h"
#include "../../opcodes.h"
#include "../../common/step_key.h"
#include "../../common/elements.h"
#include "../loss/targets_i8.h"
#include "sampling.h"

odt_latent_t odt_latent(int32_t factor, int32_t sx, int32_t z) {
    uint32_t scale = odt_scale_mul(odt_scale(factor), odt_scale(sx));
    odt_latent_t x = {.z = odt_limit(z, -128, 127), .scale = scale};
    x.half = odt_multiplier(odt_scale_shift(odt_scale_mul(scale, ODT_LOG2E), -1));
    x.plain = odt_multiplier(scale);
    x.eighth = odt_multiplier(odt_scale_shift(scale, -8));
    return x;
}

int32_t odt_latent_power(const odt_latent_t *x, int8_t v, int32_t twice) {
    int32_t t = odt_limit(odt_rescaled((v - x->z) * 65536, x->half), -(16 << 16), 4 << 16) * twice;
    if (t <= 0) {
        return (int32_t)odt_exp2n(-t);
    }
    int32_t whole = (t + 65535) >> 16;
    return (int32_t)(odt_exp2n(whole * 65536 - t) << whole);
}

int32_t odt_latent_divergence(const odt_latent_t *x, int8_t mean, int8_t v) {
    int32_t m = odt_limit(odt_rescaled((mean - x->z) * 65536, x->eighth), -32767, 32767);
    int32_t log = odt_limit(odt_rescaled((v - x->z) * 65536, x->plain), -(1 << 22), 1 << 22);
    return odt_max(0, m * m + odt_latent_power(x, v, 2) - 65536 - log) >> 1;
}

void odt_sampling_i8(const odt_sampling_i8_t *a) {
    odt_normal_t random = odt_normal(odt_begin_step(a->h, a->c), a->c, a->id, a->N);
    odt_latent_t x = odt_latent(a->factor, *a->sx, a->z);
    uint32_t sy = odt_scale(*a->sy);
    odt_multiplier_t mean = odt_multiplier(odt_scale_div(x.scale, sy));
    odt_multiplier_t spread = odt_multiplier(odt_scale_div(odt_scale_shift(ODT_NORMAL, -8), sy));
    odt_outputs_t outputs = odt_outputs_from(0, -127, *a->peak);
    const int8_t *row = a->x;
    int32_t i = 0;
    for (int32_t b = 0; b < a->B; b++, row += 2 * a->N) {
        for (int32_t n = 0; n < a->N; n++, i++) {
            int32_t g = odt_normal_at(&random, i);
            int32_t first = odt_rescaled((row[n] - x.z) * 256, mean);
            int32_t second = odt_rescaled(odt_latent_power(&x, row[a->N + n], 1) * g, spread);
            a->y[i] = odt_output(&outputs, odt_sum_rounded(first, second));
        }
    }
    *a->peak = outputs.peak;
}

void odt_divergence_i8(const odt_divergence_i8_t *a) {
    odt_latent_t x = odt_latent(a->factor, *a->sx, a->z);
    uint32_t warmup = (uint32_t)odt_max(1, a->warmup), t = (uint32_t)a->h[0];
    uint32_t rise = odt_scale_div(odt_scale_int(t < warmup ? t + 1 : warmup), odt_scale_int(warmup));
    uint32_t beta = odt_scale_mul(odt_scale(a->beta), rise), unit = odt_scale(a->unit);
    for (int32_t i = odt_limit(a->degree, 0, 2); i > 0; i--) {
        unit = odt_scale_mul(unit, odt_scale_shift(odt_scale(*a->so), -8));
    }
    odt_multiplier_t q = odt_multiplier(odt_scale_div(beta, unit));
    uint64_t total = 0;
    const int8_t *row = a->x;
    for (int32_t b = odt_min(a->B, a->c[ODT_COUNT]); b > 0; b--, row += 2 * a->N) {
        for (int32_t n = 0; n < a->N; n++) {
            int64_t d = odt_max(a->free, odt_latent_divergence(&x, row[n], row[a->N + n]));
            total += (uint64_t)((d * q.m + ((int64_t)1 << (q.s - 1))) >> q.s);
        }
    }
    odt_add_loss_i8(a->c, total);
    uint32_t each = odt_scale_div(beta, odt_scale_int((uint32_t)odt_max(1, a->width)));
    *a->sk = (int32_t)odt_scale_div(each, odt_scale_int((uint32_t)odt_rows(a->c, a->B)));
}

void odt_sampling_dx_i8(const odt_sampling_dx_i8_t *a) {
    odt_normal_t random = odt_normal(a->c[ODT_KEY], a->c, a->id, a->N);
    odt_latent_t x = odt_latent(a->factor, *a->sx, a->z);
    uint32_t sdx = odt_scale(*a->sdx);
    uint32_t scale = odt_scale_div(odt_scale_mul(odt_scale(a->error), odt_scale(*a->se)), sdx);
    uint32_t own = odt_scale_div(odt_scale(*a->sk), sdx);
    odt_multiplier_t incoming = odt_multiplier(scale);
    odt_multiplier_t noise = odt_multiplier(odt_scale_shift(odt_scale_mul(scale, ODT_NORMAL), -1));
    odt_multiplier_t mean = odt_multiplier(odt_scale_mul(own, x.scale));
    odt_multiplier_t spread = odt_multiplier(odt_scale_shift(own, -9));
    odt_outputs_t outputs = odt_outputs_from(0, -127, *a->peak);
    const int8_t *row = a->x;
    int8_t *dx = a->dx;
    int32_t i = 0;
    for (int32_t b = 0; b < a->B; b++, row += 2 * a->N, dx += 2 * a->N) {
        for (int32_t n = 0; n < a->N; n++, i++) {
            int8_t v = row[a->N + n];
            int32_t e = a->e[i], drawn = (odt_latent_power(&x, v, 1) * odt_normal_at(&random, i) + 128) >> 8;
            int32_t first = 0, second = 0;
            if (odt_latent_divergence(&x, row[n], v) >= a->free) {
                first = odt_rescaled((row[n] - x.z) * 256, mean);
                second = odt_rescaled(odt_latent_power(&x, v, 2) - 65536, spread);
            }
            dx[n] = odt_output(&outputs, odt_sum_rounded(odt_rescaled(e * 256, incoming), first));
            dx[a->N + n] = odt_output(&outputs, odt_sum_rounded(odt_rescaled(e * drawn, noise), second));
        }
    }
    *a->peak = outputs.peak;
}
