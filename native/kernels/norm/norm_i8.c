// Normalisation, int8. A tensor is [M][S][G][C]: statistics are of the S * C numbers of a group.
// LayerNorm has S = G = 1, GroupNorm M samples; BatchNorm has M = C = 1, its rows among the S.
// st holds two words a group: the mean of x - z in steps / 1024, and 1 / deviation as a scale.

#include <string.h>

#include "../../core.h"
#include "../../opcodes.h"
#include "../common/elements.h"

enum {
    MEAN_BITS = 10, // a difference to the mean has at most 18 bits, which odt_rescale_by likes
    HAT_BITS = 12,  // of a normalised x
};

// Mean of x - z over S rows of C numbers, stride apart, and their variance times S^2 * C^2.
static int32_t moments(const int8_t *x, int32_t S, int32_t C, int32_t stride, int32_t z, uint64_t *spread) {
    int64_t sum = 0, squares = 0, n = (int64_t)S * C;
    if (n <= 1 << 12) { // of 8 bits and a sign: their sum has 20 bits, their squares' 28
        int32_t total = 0, all = 0;
        for (int32_t s = 0; s < S; s++, x += stride) {
            for (int32_t c = 0; c < C; c++) {
                int32_t v = x[c] - z;
                total += v;
                all += v * v;
            }
        }
        *spread = (uint64_t)n * (uint64_t)all - (uint64_t)((int64_t)total * total);
        return total * (1 << MEAN_BITS) / (int32_t)n;
    }
    for (int32_t s = 0; s < S; s++) {
        for (int32_t c = 0; c < C; c++) {
            int32_t v = x[c] - z;
            sum += v;
            squares += (uint32_t)(v * v);
        }
        x += stride;
    }
    *spread = (uint64_t)n * (uint64_t)squares - (uint64_t)sum * (uint64_t)sum;
    return (int32_t)(sum * (1 << MEAN_BITS) / n);
}

// A positive integer as a scale.
static uint32_t scale_of(uint64_t v) {
    int32_t k = 0;
    while (v >> 32) {
        v >>= 1;
        k++;
    }
    return odt_scale_shift(odt_scale_int((uint32_t)v), k);
}

// 1 / sqrt(variance + eps), in whose place stands only eps where there is no variance.
static int32_t inverse(uint32_t variance, uint32_t eps) {
    uint32_t v = variance ? odt_scale_add(variance, eps) : eps;
    return (int32_t)odt_scale_div(ODT_ONE, odt_scale_sqrt(v));
}

// The scale of x in reals, and eps in x's steps.
static uint32_t unit(int32_t factor, const int32_t *sx) {
    return odt_scale_mul(odt_scale(factor), odt_scale(*sx));
}

static uint32_t eps_in(int32_t eps, uint32_t scale) {
    return odt_scale_div(odt_scale(eps), odt_scale_mul(scale, scale));
}

// The statistics of a group; returns its variance in steps as a scale, or 0.
static uint32_t measure(int32_t *st, const int8_t *x, int32_t S, int32_t C, int32_t stride, int32_t z, uint32_t eps) {
    uint64_t spread;
    uint32_t n = odt_scale_int((uint32_t)(S * C));
    st[0] = moments(x, S, C, stride, z, &spread);
    uint32_t variance = spread ? odt_scale_div(scale_of(spread), odt_scale_mul(n, n)) : 0;
    st[1] = inverse(variance, eps);
    return variance;
}

void odt_norm_stats_i8(const odt_norm_stats_i8_t *a) {
    int32_t width = a->G * a->C, z = odt_limit(a->z, -128, 127);
    uint32_t eps = eps_in(a->eps, unit(a->factor, a->sx));
    for (int32_t m = 0; m < a->M; m++) {
        const int8_t *x = a->x + m * a->S * width;
        for (int32_t g = 0; g < a->G; g++) {
            measure(a->st + 2 * (m * a->G + g), x + g * a->C, a->S, a->C, width, z, eps);
        }
    }
}

void odt_batch_stats_i8(const odt_batch_stats_i8_t *a) {
    if (!a->c[ODT_KEY]) {
        return;
    }
    int32_t z = odt_limit(a->z, -128, 127), rows = odt_limit(a->c[ODT_COUNT], 1, a->B) * a->S;
    uint32_t scale = unit(a->factor, a->sx), eps = eps_in(a->eps, scale);
    for (int32_t n = 0; n < a->N; n++) {
        uint32_t variance = measure(a->st + 2 * n, a->x + n, rows, 1, a->N, z, eps);
        a->va[n] = variance ? (int32_t)odt_scale_mul(variance, odt_scale_mul(scale, scale)) : 0;
    }
}

void odt_running_stats_i8(const odt_running_stats_i8_t *a) {
    const int32_t limit = 1 << 30;
    uint32_t scale = unit(a->factor, a->sx), eps = eps_in(a->eps, scale);
    odt_multiplier_t q = odt_multiplier(odt_scale_div(odt_scale_shift(ODT_ONE, MEAN_BITS - 20), scale));
    uint32_t square = odt_scale_mul(scale, scale);
    for (int32_t n = 0; n < a->N; n++) {
        a->st[2 * n] = odt_limit(odt_rescaled(a->mean[n], q), -limit, limit);
        a->st[2 * n + 1] = inverse(odt_scale_div(odt_scale(a->var[n]), square), eps);
    }
}

void odt_track_i8(const odt_track_i8_t *a) {
    const int32_t limit = 1 << 30;
    uint32_t keep = odt_scale(a->keep), rest = odt_scale(a->rest);
    odt_multiplier_t q = odt_multiplier(odt_scale_shift(unit(a->factor, a->sx), 20 - MEAN_BITS));
    odt_multiplier_t part = odt_multiplier(rest);
    for (int32_t n = 0; n < a->N; n++) {
        int32_t mean = odt_limit(a->mean[n], -limit, limit);
        int32_t target = odt_limit(odt_rescaled(a->st[2 * n], q), -limit, limit);
        a->mean[n] = odt_limit(odt_wrap_add(mean, odt_rescaled(odt_wrap_sub(target, mean), part)), -limit, limit);
        a->var[n] = (int32_t)odt_scale_add(odt_scale_mul(odt_scale(a->var[n]), keep),
            odt_scale_mul(odt_scale(a->va[n]), rest));
    }
}

void odt_affine_i8(const odt_affine_i8_t *a) {
    const int32_t limit = 1 << 30;
    uint32_t sy = odt_scale(*a->sy);
    odt_multiplier_t shift = odt_multiplier(odt_scale_div(odt_scale_shift(ODT_ONE, 8 - 20), sy));
    for (int32_t n = 0; n < a->N; n++) {
        odt_multiplier_t q = {0, 62};
        if (a->gamma[n]) {
            uint32_t gamma = odt_scale_int(odt_magnitude(a->gamma[n]));
            q = odt_multiplier(odt_scale_div(odt_scale_shift(gamma, 8 - 20 - HAT_BITS), sy));
            q.m = a->gamma[n] < 0 ? -q.m : q.m;
        }
        a->q[n] = q;
        a->b[n] = odt_limit(odt_rescaled(a->beta[n], shift), -limit, limit);
    }
}

// What makes a difference to the mean a normalised x with so many bits.
static odt_rescaler_t hat(const int32_t *st, int32_t bits) {
    return odt_rescaler(odt_multiplier(odt_scale_shift(odt_scale(st[1]), bits - MEAN_BITS)));
}

// (x - z - mean) / deviation
static int32_t normalised(int32_t x, int32_t z, int32_t mean, const odt_rescaler_t *q) {
    uint32_t v = ((uint32_t)(x - z) << MEAN_BITS) - (uint32_t)mean;
    return odt_rescale_by(q, (int32_t)v);
}

void odt_norm_i8(const odt_norm_i8_t *a) {
    int32_t width = a->G * a->C, z = odt_limit(a->zx, -128, 127);
    odt_outputs_t outputs = odt_outputs_from(a->zy, a->lo, *a->peak);
    for (int32_t m = 0; m < a->M; m++) {
        for (int32_t g = 0; g < a->G; g++) {
            const int32_t *st = a->st + 2 * (m * a->G + g);
            odt_rescaler_t inverse = hat(st, HAT_BITS), gain = odt_rescaler(odt_checked(&a->q[g * a->C]));
            int32_t at = m * a->S * width + g * a->C;
            for (int32_t s = 0; s < a->S; s++) {
                for (int32_t c = 0; c < a->C; c++) {
                    int32_t n = g * a->C + c;
                    if (a->C > 1) {
                        gain = odt_rescaler(odt_checked(&a->q[n]));
                    }
                    int32_t h = normalised(a->x[at + c], z, st[0], &inverse);
                    a->y[at + c] = odt_output(&outputs, odt_sum_rounded(odt_rescale_by(&gain, h), a->b[n]));
                }
                at += width;
            }
        }
    }
    *a->peak = outputs.peak;
}

void odt_norm_dw_i8(const odt_norm_dw_i8_t *a) {
    int32_t width = a->G * a->C, z = odt_limit(a->zx, -128, 127), bits = odt_limit(a->bits, 0, HAT_BITS);
    memset(a->dw, 0, (size_t)width * sizeof(*a->dw));
    for (int32_t m = 0; m < a->M; m++) {
        for (int32_t g = 0; g < a->G; g++) {
            const int32_t *st = a->st + 2 * (m * a->G + g);
            odt_rescaler_t inverse = hat(st, bits);
            int32_t *dw = a->dw + g * a->C, at = m * a->S * width + g * a->C;
            for (int32_t s = 0; s < a->S; s++) {
                for (int32_t c = 0; c < a->C; c++) {
                    uint32_t h = (uint32_t)normalised(a->x[at + c], z, st[0], &inverse);
                    dw[c] = (int32_t)((uint32_t)dw[c] + (uint32_t)a->e[at + c] * h);
                }
                at += width;
            }
        }
    }
}

// Gammas such that the largest has 14 bits: gain(n) * 2^shift is about gamma[n].
typedef struct {
    const int32_t *gamma;
    int32_t shift;
} gains_t;

static gains_t gains(const int32_t *gamma, int32_t count) {
    uint32_t top = 0;
    for (int32_t n = 0; n < count; n++) {
        uint32_t size = odt_magnitude(gamma[n]);
        top = size > top ? size : top;
    }
    gains_t all = {gamma, -14};
    while (top) {
        top >>= 1;
        all.shift++;
    }
    return all;
}

static int32_t gain(const gains_t *all, int32_t n) {
    int32_t v = all->gamma[n];
    return all->shift > 0 ? v >> all->shift : (int32_t)((uint32_t)v << -all->shift);
}

// factor * se / (sx * sdx) of the gains' unit
static uint32_t outer(int32_t factor, const int32_t *se, const int32_t *sx, const int32_t *sdx, const gains_t *all) {
    uint32_t scale = odt_scale_div(odt_scale_mul(odt_scale(factor), odt_scale(*se)), odt_scale(*sx));
    return odt_scale_shift(odt_scale_div(scale, odt_scale(*sdx)), all->shift - 20);
}

// Whether a number has at most that many bits and a sign.
static inline int has_bits(int32_t v, int32_t bits) {
    return ((uint32_t)v + (1u << bits)) >> (bits + 1) == 0;
}

// v * h, of which v seldom has more than 23 bits and h seldom more than 17.
static inline int64_t product(int32_t v, int32_t h) {
    if (ODT_M0 && !ODT_SMALL && has_bits(v, 24) && has_bits(h, 17)) {
        return (int64_t)((v >> 12) * h) * 4096 + (v & 4095) * h;
    }
    return (int64_t)v * h;
}

// h * slope, of which HAT_BITS are rounded away.
static inline int64_t scaled_hat(int32_t h, int32_t slope) {
    if (ODT_M0 && !ODT_SMALL && has_bits(h, 17) && has_bits(slope, 24)) {
        return h * (slope >> HAT_BITS) + ((h * (slope & ((1 << HAT_BITS) - 1)) + (1 << (HAT_BITS - 1))) >> HAT_BITS);
    }
    return ((int64_t)h * slope + (1 << (HAT_BITS - 1))) >> HAT_BITS;
}

// Rounded at random: to nearest, errors that are small beside the peak would vanish.
void odt_norm_dx_i8(const odt_norm_dx_i8_t *a) {
    int32_t width = a->G * a->C, z = odt_limit(a->zx, -128, 127), S = a->S;
    uint32_t key = odt_hash32((uint32_t)a->c[ODT_KEY], (uint32_t)a->id);
    uint32_t before = (uint32_t)a->c[ODT_POSITION] * (uint32_t)a->F; // by place in the epoch, as dropout
    gains_t all = gains(a->gamma, width);
    uint32_t scale = outer(a->factor, a->se, a->sx, a->sdx, &all);
    odt_outputs_t outputs = odt_outputs_from(0, -127, *a->peak);
    if (a->rows > 0) {
        int64_t rows = (int64_t)odt_max(a->c[ODT_COUNT], 1) * a->rows;
        S = rows < S ? (int32_t)rows : S;
        memset(a->dx, 0, (size_t)(a->M * a->S) * (size_t)width);
    }
    for (int32_t m = 0; m < a->M; m++) {
        for (int32_t g = 0; g < a->G; g++) {
            const int32_t *st = a->st + 2 * (m * a->G + g);
            odt_rescaler_t inverse = hat(st, HAT_BITS);
            odt_rescaler_t q = odt_rescaler(odt_multiplier(odt_scale_mul(odt_scale(st[1]), scale)));
            int64_t sum = 0, n = (int64_t)S * a->C;
            uint64_t products = 0;
            int32_t first = m * a->S * width + g * a->C, at = first;
            for (int32_t s = 0; s < S; s++, at += width) {
                for (int32_t c = 0; c < a->C; c++) {
                    int32_t v = a->e[at + c] * gain(&all, g * a->C + c), h = normalised(a->x[at + c], z, st[0], &inverse);
                    sum += v;
                    products += (uint64_t)product(v, h);
                }
            }
            int32_t mean = (int32_t)(sum / n);
            int32_t slope = odt_sat32((int64_t)products / (n << HAT_BITS));
            at = first;
            for (int32_t s = 0; s < S; s++, at += width) {
                for (int32_t c = 0; c < a->C; c++) {
                    int32_t v = a->e[at + c] * gain(&all, g * a->C + c) - mean;
                    int32_t h = normalised(a->x[at + c], z, st[0], &inverse);
                    v = odt_sat32(v - scaled_hat(h, slope));
                    v = odt_rescale_random_by(&q, v, odt_hash32(key, before + (uint32_t)(at + c)));
                    a->dx[at + c] = odt_output(&outputs, v);
                }
            }
        }
    }
    *a->peak = outputs.peak;
}

void odt_affine_dx_i8(const odt_affine_dx_i8_t *a) {
    odt_outputs_t outputs = odt_outputs_from(0, -127, *a->peak);
    gains_t all = gains(a->gamma, a->N);
    uint32_t scale = outer(a->factor, a->se, a->sx, a->sdx, &all);
    for (int32_t n = 0; n < a->N; n++) {
        odt_rescaler_t q = odt_rescaler(odt_multiplier(odt_scale_mul(odt_scale(a->st[2 * n + 1]), scale)));
        int32_t factor = gain(&all, n);
        for (int32_t m = 0; m < a->M; m++) {
            a->dx[m * a->N + n] = odt_output(&outputs, odt_rescale_by(&q, a->e[m * a->N + n] * factor));
        }
    }
    *a->peak = outputs.peak;
}
