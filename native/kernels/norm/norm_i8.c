// Normalisation, int8. A tensor is [M][S][G][C]; a group of S * C numbers shares its statistics. LayerNorm has S = G =
// 1. In GroupNorm M is the number of samples. BatchNorm has M = C = 1, and S includes the rows. st holds two words per
// group: the mean of x - z in 1/1024 of a step, and 1 / deviation as a scale.

#include <string.h>

#include "../../core.h"
#include "../../opcodes.h"
#include "../../common/words.h"
#include "../../common/elements.h"

ODT_BESIDE_ASSEMBLY

// Sums of errors times gains, and of these products times h.
typedef struct {
    int64_t errors;    // 0
    uint64_t products; // 8
} sums_t;

#if ODT_M0 && !ODT_SMALL
#include "../../cores/m0/norm_i8__m0.inc"
#endif
#if ODT_RP2040
#include "../../cores/m0/norm_dx_i8__rp2040.inc"
#include "../../cores/m0/norm_stats_i8__rp2040.inc"
#endif
#if ODT_M4
#include "../../cores/m4/norm_stats_i8__m4.h"
#endif

enum {
    MEAN_BITS = 10, // a difference to the mean has at most 18 bits, as odt_rescale_by requires
    HAT_BITS = 12,  // fractional bits of a normalised x
};

// Mean of x - z over S rows of C numbers, stride apart, and their variance times S^2 * C^2.
static int32_t moments(const int8_t *x, int32_t S, int32_t C, int32_t stride, int32_t z, uint64_t *spread) {
    int64_t sum = 0, squares = 0, n = (uint32_t)S * (uint32_t)C; // below 2^32, because operands are
    if (n <= 1 << 12) { // numbers with 8 bits and a sign: their sum has 20 bits, the sum of squares 28
        int32_t total = 0, all = 0;
        for (int32_t s = 0; s < S; s++, x += stride) {
            #if ODT_M4 || (ODT_M0 && !ODT_SMALL)
            int32_t sums[2], step = C == 1 ? stride : 1, count = C == 1 ? S : C;
            sum_squares(x, step, x + count * step, sums);
            total += sums[0] - z * count;
            all += sums[1] - 2 * z * sums[0] + z * z * count;
            if (C == 1) {
                break;
            }
            #else
            for (int32_t c = 0; c < C; c++) {
                int32_t v = x[c] - z;
                total += v;
                all += v * v;
            }
            #endif
        }
        if (n <= 1 << 5) { // all fit 32 bits
            *spread = (uint32_t)((int32_t)n * all - total * total);
        } else {
            *spread = (uint64_t)n * (uint64_t)all - (uint64_t)((int64_t)total * total);
        }
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

// 1 / sqrt(variance + eps); 1 / sqrt(eps) if the variance is 0.
static int32_t inverse(uint32_t variance, uint32_t eps) {
    uint32_t v = variance ? odt_scale_add(variance, eps) : eps;
    return (int32_t)odt_scale_div(ODT_ONE, odt_scale_sqrt(v));
}

// unit: the real scale of x. eps_in: eps in the unit of the variance, x's steps squared.
static uint32_t unit(int32_t factor, const int32_t *sx) {
    return odt_scale_mul(odt_scale(factor), odt_scale(*sx));
}

static uint32_t eps_in(int32_t eps, uint32_t scale) {
    return odt_scale_div(odt_scale(eps), odt_scale_mul(scale, scale));
}

// n^2 as a scale.
static uint32_t square_of(int32_t n) {
    uint32_t scale = odt_scale_int((uint32_t)n);
    return odt_scale_mul(scale, scale);
}

// spread / square; without a division if square is a power of 2, as for 8 or 64 numbers.
static uint32_t variance_of(uint64_t spread, uint32_t square) {
    uint32_t scale = scale_of(spread);
    if (!ODT_SMALL && square << 9 == 0) {
        return odt_scale_shift(scale, 127 - (int32_t)(square >> 23));
    }
    return odt_scale_div(scale, square);
}

// The statistics of a group; returns its variance in steps as a scale, or 0.
static uint32_t measure(int32_t *st, const int8_t *x, int32_t S, int32_t C, int32_t stride, int32_t z, uint32_t square,
    uint32_t eps) {
    uint64_t spread;
    st[0] = moments(x, S, C, stride, z, &spread);
    uint32_t variance = spread ? variance_of(spread, square) : 0;
    st[1] = inverse(variance, eps);
    return variance;
}

void odt_norm_stats_i8(const odt_norm_stats_i8_t *a) {
    int32_t width = a->G * a->C, z = odt_limit(a->z, -128, 127);
    uint32_t eps = eps_in(a->eps, unit(a->factor, a->sx)), square = square_of(a->S * a->C);
    #if ODT_RP2040
    if (a->S == 1 && a->C <= 32 && (a->C & (a->C - 1)) == 0 && eps - (63u << 23) < 128u << 23) {
        int32_t groups = a->M * a->G;
        few_t f = {a->C, -a->C * z, ((int32_t)(square >> 23) - 127) / 2, eps, a->x, a->st, a->st + 2 * groups};
        if (groups) {
            measure_few(&f);
        }
        return;
    }
    #endif
    for (int32_t m = 0; m < a->M; m++) {
        const int8_t *x = a->x + m * a->S * width;
        for (int32_t g = 0; g < a->G; g++) {
            measure(a->st + 2 * (m * a->G + g), x + g * a->C, a->S, a->C, width, z, square, eps);
        }
    }
}

void odt_batch_stats_i8(const odt_batch_stats_i8_t *a) {
    if (!a->c[ODT_KEY]) {
        return;
    }
    int32_t z = odt_limit(a->z, -128, 127), rows = odt_limit(a->c[ODT_COUNT], 1, a->B) * a->S;
    uint32_t scale = unit(a->factor, a->sx), eps = eps_in(a->eps, scale), square = square_of(rows);
    for (int32_t n = 0; n < a->N; n++) {
        uint32_t variance = measure(a->st + 2 * n, a->x + n, rows, 1, a->N, z, square, eps);
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

// The factor that turns a difference to the mean into a normalised x with `bits` fractional bits.
static odt_rescaler_t hat(const int32_t *st, int32_t bits) {
    return odt_rescaler(odt_multiplier(odt_scale_shift(odt_scale(st[1]), bits - MEAN_BITS)));
}

// (x - z - mean) / deviation
static int32_t normalised(int32_t x, int32_t z, int32_t mean, const odt_rescaler_t *q) {
    uint32_t v = ((uint32_t)(x - z) << MEAN_BITS) - (uint32_t)mean;
    return odt_rescale_by(q, (int32_t)v);
}

// Calls odt_poll() once per 256 elements if groups are small.
static void poll_after(int32_t *waited, int32_t count) {
    *waited += count;
    if (*waited >= 256) {
        *waited = 0;
        odt_poll();
    }
}

#if ODT_M0 && !ODT_SMALL

// Whether a number fits into `bits` bits and a sign.
static inline int has_bits(int32_t v, int32_t bits) {
    return ((uint32_t)v + (1u << bits)) >> (bits + 1) == 0;
}

enum { ELEMENTS = 64 }; // at a time

// Prepares what all groups share: a normalised value has `bits` fractional bits; elements are `step` bytes apart; a
// group has `length` elements.
static void begin_hats(hats_t *h, int32_t bits, int32_t z, int32_t step, int32_t length) {
    h->step = step;
    h->length = length;
    h->zero = -z * (1 << MEAN_BITS);
    h->one = 150 - bits;
}

// Prepares a group from its statistics. Returns whether every normalised value is small enough for the loops.
static int group_hats(hats_t *h, const int32_t *st) {
    int32_t offset = odt_wrap_sub(h->zero, st[0]), shift = h->one - (int32_t)((uint32_t)st[1] << 1 >> 24);
    int32_t least = odt_wrap_sub(offset, 128 << MEAN_BITS), most = odt_wrap_add(offset, 127 << MEAN_BITS);
    uint32_t m = (uint32_t)st[1] << 8 | 1u << 31;
    h->st = st + 2;
    if (!has_bits(offset, 20) || !has_bits(least, 18) || !has_bits(most, 18) || shift < 3 || shift > 31) {
        return 0;
    }
    int64_t sum = ((int64_t)offset * (int32_t)(m >> 8) >> MEAN_BITS) + (1 << (shift - 1));
    h->factor = (int32_t)(m >> 8);
    h->offset = (int32_t)sum;
    h->shift = shift;
    odt_multiplier_t q = {(int32_t)(m >> 1), shift + 17};
    return sum == h->offset
        && (shift > 13 || (has_bits(odt_rescaled(least, q), 18) && has_bits(odt_rescaled(most, q), 18)));
}

// Number of rows of a LayerNorm that the loops process in one call.
static int32_t rows_of(int32_t S, int32_t G, int32_t C) {
    return S == 1 && G == 1 && C > 1 && C <= ELEMENTS ? ELEMENTS : 1;
}

// Loads channels n .. n + count - 1; returns whether every h is small enough for them.
static int load_gains(gain_t *to, const odt_norm_i8_t *a, int32_t n, int32_t count) {
    int is_short = 1;
    for (gain_t *end = to + count; to != end; to++, n++) {
        odt_multiplier_t m = odt_checked(&a->q[n]);
        odt_rescaler_t q = odt_rescaler(m);
        to->low = q.low;
        to->high = q.high;
        to->shift = q.shift;
        to->plus = a->b[n] + 128 + a->zy * 256;
        is_short = is_short && q.has_short && has_bits(odt_rescaled(1 << 18, m), 29) && has_bits(a->b[n], 29);
    }
    return is_short;
}

static void limit_outputs(apply_t *apply, const odt_outputs_t *outputs) {
    odt_limits_t limits = odt_limits_of(outputs);
    apply->bottom = limits.bottom;
    apply->range = limits.top - limits.bottom;
    apply->most = limits.most;
    apply->least = limits.least;
    apply->lo = limits.lo;
}

// Processes elements from `at` on, of the loaded channels.
static void apply_all(const odt_norm_i8_t *a, hats_t *h, int32_t at, int32_t count, apply_t *apply, const gain_t *gains,
    odt_outputs_t *outputs) {
    apply->gains = gains;
    h->x = a->x + at;
    h->end = h->x + count * h->step;
    for (;;) {
        h->x = apply_gains(apply);
        if (h->x == h->end) {
            return;
        }
        a->y[h->x - a->x] = odt_output_of_peak(outputs, apply->value - outputs->z);
        limit_outputs(apply, outputs);
        h->x += h->step;
        if (h->x == h->end) {
            return;
        }
    }
}

#endif

// Normalises `count` elements of a group, from `at` on: channels n .., or only n if a group has one channel.
static void norm_elements(const odt_norm_i8_t *a, const int32_t *st, int32_t z, int32_t at, int32_t n, int32_t count,
    int32_t step, odt_outputs_t *outputs) {
    odt_rescaler_t inverse = hat(st, HAT_BITS), gain = odt_rescaler(odt_checked(&a->q[n]));
    for (; count; count--, at += step) {
        if (a->C > 1) {
            gain = odt_rescaler(odt_checked(&a->q[n]));
        }
        int32_t h = normalised(a->x[at], z, st[0], &inverse);
        a->y[at] = odt_output(outputs, odt_sum_rounded(odt_rescale_by(&gain, h), a->b[n]));
        n += a->C > 1;
    }
}

#if ODT_M0 && !ODT_SMALL

// Processes several groups at a time, if the gains of their channels fit, or parts of one group.
void odt_norm_i8(const odt_norm_i8_t *a) {
    int32_t width = a->G * a->C, z = odt_limit(a->zx, -128, 127), waited = 0, many = odt_max(ELEMENTS / a->C, 1);
    int32_t runs = a->C == 1 ? 1 : a->S, step = a->C == 1 ? width : 1, rows = rows_of(a->S, a->G, a->C);
    odt_outputs_t outputs = odt_outputs_from(a->zy, a->lo, *a->peak);
    int usual = odt_is_usual(&outputs);
    gain_t gains[ELEMENTS];
    hats_t h;
    apply_t apply = {
        .delta = (int32_t)(a->y - a->x), .next = a->C == 1 ? -(int32_t)sizeof(gain_t) : 0, .hats = &h, .first = gains};
    limit_outputs(&apply, &outputs);
    begin_hats(&h, HAT_BITS, z, step, a->C);
    for (int32_t i = 0; i < width;) {
        int32_t first = i / a->C, groups = odt_min(many, a->G - first), from = i - first * a->C;
        int32_t channels = odt_min(a->C - from, ELEMENTS), count = a->C == 1 ? a->S : channels;
        int is_gain = load_gains(gains, a, i, groups * channels);
        for (int32_t m = 0; m < a->M; m++) {
            poll_after(&waited, a->S * groups * channels);
            for (int32_t g = 0; g < groups; g++) {
                const int32_t *st = a->st + 2 * (m * a->G + first + g);
                int32_t n = g * a->C, at = m * a->S * width + i + n;
                int is_short = usual && is_gain && group_hats(&h, st);
                int32_t left = odt_min(a->M - m, rows) - 1;
                h.left = left;
                for (int32_t run = 0; run < runs; run++, at += width) {
                    if (is_short) {
                        apply_all(a, &h, at, count, &apply, gains + n, &outputs);
                    } else {
                        norm_elements(a, st, z, at, i + n, count, step, &outputs);
                    }
                }
                m += left - h.left;
                waited += (left - h.left) * width;
            }
        }
        i += groups * channels;
    }
    *a->peak = outputs.peak;
}

#elif ODT_M4

#include "../../cores/m4/norm_i8__m4.inc"

#else

void odt_norm_i8(const odt_norm_i8_t *a) {
    int32_t width = a->G * a->C, z = odt_limit(a->zx, -128, 127), waited = 0;
    int32_t runs = a->C == 1 ? 1 : a->S, length = a->C == 1 ? a->S : a->C, step = a->C == 1 ? width : 1;
    odt_outputs_t outputs = odt_outputs_from(a->zy, a->lo, *a->peak);
    for (int32_t m = 0; m < a->M; m++) {
        poll_after(&waited, a->S * width);
        for (int32_t g = 0; g < a->G; g++) {
            int32_t at = m * a->S * width + g * a->C;
            for (int32_t run = 0; run < runs; run++, at += width) {
                norm_elements(a, a->st + 2 * (m * a->G + g), z, at, g * a->C, length, step, &outputs);
            }
        }
    }
    *a->peak = outputs.peak;
}

#endif

#if ODT_M0 && !ODT_SMALL

// Adds the products of the group whose elements begin at `at`, and of all later groups.
static void norm_dw_groups(const odt_norm_dw_i8_t *a, hats_t *hats, int32_t at, int32_t *dw) {
    int32_t width = a->G * a->C, sums[2];
    hats->x = a->x + at;
    if (a->C == 1) {
        hats->end = hats->x + a->S * width;
        sum_products(hats, a->e + at, sums);
        *dw = odt_wrap_add(*dw, sums[1]);
        return;
    }
    products_t products = {dw, (int32_t)(a->e - a->x), hats};
    for (int32_t s = 0; s < a->S; s++, hats->x += width) {
        hats->end = hats->x + a->C;
        add_products(&products);
    }
}

#endif

void odt_norm_dw_i8(const odt_norm_dw_i8_t *a) {
    int32_t width = a->G * a->C, z = odt_limit(a->zx, -128, 127), bits = odt_limit(a->bits, 0, HAT_BITS), waited = 0;
    memset(a->dw, 0, (size_t)width * sizeof(*a->dw));
    #if ODT_M0 && !ODT_SMALL
    hats_t hats;
    int32_t rows = rows_of(a->S, a->G, a->C);
    begin_hats(&hats, bits, z, a->C == 1 ? width : 1, a->C);
    #endif
    for (int32_t m = 0; m < a->M; m++) {
        poll_after(&waited, a->S * width);
        for (int32_t g = 0; g < a->G; g++) {
            const int32_t *st = a->st + 2 * (m * a->G + g);
            int32_t *dw = a->dw + g * a->C, at = m * a->S * width + g * a->C;
            #if ODT_M0 && !ODT_SMALL
            if (group_hats(&hats, st)) {
                int32_t left = odt_min(a->M - m, rows) - 1;
                hats.left = left;
                norm_dw_groups(a, &hats, at, dw);
                m += left - hats.left;
                waited += (left - hats.left) * width;
                continue;
            }
            #endif
            #if ODT_M4
            hats_t hats;
            if (group_hats(&hats, z, st, bits)) {
                add_products(&hats, a, at, dw);
                continue;
            }
            #endif
            odt_rescaler_t inverse = hat(st, bits);
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

// Gammas shifted so that the largest has 14 bits: gain(n) * 2^shift is about gamma[n].
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

// factor * se / (sx * sdx), in the unit of the gains
static uint32_t outer(int32_t factor, const int32_t *se, const int32_t *sx, const int32_t *sdx, const gains_t *all) {
    uint32_t scale = odt_scale_div(odt_scale_mul(odt_scale(factor), odt_scale(*se)), odt_scale(*sx));
    return odt_scale_shift(odt_scale_div(scale, odt_scale(*sdx)), all->shift - 20);
}

// h * slope, rounded to HAT_BITS fewer bits.
static inline int64_t scaled_hat(int32_t h, int32_t slope) {
    return ((int64_t)h * slope + (1 << (HAT_BITS - 1))) >> HAT_BITS;
}

// The gradient of a group's input: S rows of C elements from `at` on, channels n ..; the multiplier of the remaining
// errors; the numbers of the elements.
typedef struct {
    const odt_norm_dx_i8_t *a;
    const gains_t *gains;
    const int32_t *st;
    odt_multiplier_t q;
    int32_t at, n, S, z, mean, slope, waited; // waited: elements since odt_poll()
    uint32_t key, before;
} group_t;

static void norm_dx_sums(const group_t *p, sums_t *sums) {
    const odt_norm_dx_i8_t *a = p->a;
    int32_t at = p->at, width = a->G * a->C;
    odt_rescaler_t inverse = hat(p->st, HAT_BITS);
    for (int32_t s = 0; s < p->S; s++, at += width) {
        for (int32_t c = 0; c < a->C; c++) {
            int32_t v = a->e[at + c] * gain(p->gains, p->n + c), h = normalised(a->x[at + c], p->z, p->st[0], &inverse);
            sums->errors += v;
            sums->products += (uint64_t)((int64_t)v * h);
        }
    }
}

// Sets the means of the errors and of errors times h.
static void set_means(group_t *p, const sums_t *sums) {
    int64_t n = (uint32_t)p->S * (uint32_t)p->a->C, part = (int64_t)sums->products / (1 << HAT_BITS);
    if (!ODT_SMALL && n < 1 << 10 && part == (int32_t)part) { // a sum of errors has at most 22 bits more than n has
        p->mean = (int32_t)sums->errors / (int32_t)n;
        p->slope = odt_sat32((int32_t)part / (int32_t)n);
    } else {
        p->mean = (int32_t)(sums->errors / n);
        p->slope = odt_sat32(part / n);
    }
}

static void norm_dx_outputs(const group_t *p, odt_outputs_t *outputs) {
    const odt_norm_dx_i8_t *a = p->a;
    int32_t at = p->at, width = a->G * a->C;
    odt_rescaler_t inverse = hat(p->st, HAT_BITS), q = odt_rescaler(p->q);
    for (int32_t s = 0; s < p->S; s++, at += width) {
        for (int32_t c = 0; c < a->C; c++) {
            int32_t v = a->e[at + c] * gain(p->gains, p->n + c) - p->mean;
            int32_t h = normalised(a->x[at + c], p->z, p->st[0], &inverse);
            v = odt_sat32(v - scaled_hat(h, p->slope));
            v = odt_rescale_random_by(&q, v, odt_hash32(p->key, p->before + (uint32_t)(at + c)));
            a->dx[at + c] = odt_output(outputs, v);
        }
    }
}

#if ODT_M0 && !ODT_SMALL

enum { GAINS = 96 }; // at a time, if groups have several channels

// Data of the loops: the gains of `loaded` channels from `first` on, and h and the errors of a block of elements. In v
// the gains lie after the errors. A group with one channel loads no gains and has errors there, too. If a group has few
// channels, a block holds several of its rows, gathered, with repeated gains.
typedef struct {
    hats_t hats;
    errors_t errors;
    random_t random;
    int32_t first, loaded, rows;
    int32_t h[ELEMENTS], v[ELEMENTS + GAINS];
    int8_t x[2 * ELEMENTS]; // also used for e
} loops_t;

// Gains of `count` channels.
static const int32_t *gains_of(loops_t *l, const group_t *p, int32_t c, int32_t count) {
    int32_t n = p->n + c, *gains = l->v + ELEMENTS;
    if (n < l->first || n + count > l->first + l->loaded) {
        l->first = n;
        l->loaded = l->rows > 1 ? count : odt_min(GAINS, p->a->G * p->a->C - n);
        for (int32_t i = 0; i < l->loaded; i++) {
            gains[i] = gain(p->gains, n + i);
        }
        for (int32_t i = count; i < l->rows * count; i++) {
            gains[i] = gains[i - count];
        }
    }
    return gains + (n - l->first);
}

// Begins a block of rows of `count` elements from `at` on; returns its errors.
static const int8_t *begin_block(loops_t *l, const odt_norm_dx_i8_t *a, int32_t at, int32_t count, int32_t rows) {
    const int8_t *x = a->x + at, *e = a->e + at;
    if (rows > 1) {
        int8_t *to = l->x;
        uintptr_t skip = (uintptr_t)(a->G * a->C - count), any = (uintptr_t)x | (uintptr_t)e | skip | (uintptr_t)count;
        for (const int8_t *end = to + rows * count; to != end; x += skip, e += skip) {
            for (const int8_t *stop = to + count; to != stop;) {
                if (any & 3) {
                    to[ELEMENTS] = *e++;
                    *to++ = *x++;
                } else {
                    odt_store_word(to + ELEMENTS, odt_load_word(e));
                    odt_store_word(to, odt_load_word(x));
                    x += 4;
                    e += 4;
                    to += 4;
                }
            }
        }
        x = l->x;
        e = x + ELEMENTS;
    }
    l->hats.x = x;
    l->hats.end = x + rows * count;
    l->errors.delta = (int32_t)(e - x);
    return e;
}

// The sums by loops over blocks of elements. If a group has one channel, all its errors have one gain.
static void norm_dx_sums__m0(const group_t *p, loops_t *l, sums_t *sums) {
    const odt_norm_dx_i8_t *a = p->a;
    int32_t width = a->G * a->C;
    if (a->C == 1) {
        int32_t factor = gain(p->gains, p->n), errors = 0;
        int64_t all = 0;
        l->hats.x = a->x + p->at;
        for (int32_t s = 0; s < p->S; s += 63) { // a product has 25 bits and a sign: 63 products fit an int32
            l->hats.end = l->hats.x + odt_min(p->S - s, 63) * width;
            sum_products(&l->hats, a->e + (l->hats.x - a->x), l->h);
            errors += l->h[0];
            all += l->h[1];
            l->hats.x = l->hats.end;
        }
        sums->errors = (int64_t)errors * factor;
        sums->products = (uint64_t)all * (uint64_t)(int64_t)factor;
        return;
    }
    for (int32_t s = 0, at = p->at, rows; s < p->S; s += rows, at += rows * width) {
        rows = odt_min(p->S - s, l->rows);
        for (int32_t c = 0, count; c < a->C; c += count) {
            count = odt_min(a->C - c, ELEMENTS);
            const int8_t *e = begin_block(l, a, at + c, count, rows);
            list_hats(&l->hats, l->h);
            const int32_t *gains = gains_of(l, p, c, count);
            for (int32_t i = 0; i < rows * count; i += 8) {
                sum_eight(e + i, l->h + i, gains + i, l->h + odt_min(i + 8, rows * count), sums);
            }
        }
    }
}

// Begins a group's errors minus their means, in the scale of its multiplier; returns whether they fit the loops.
static int begin_errors(loops_t *l, const group_t *p, uint32_t scale, const odt_outputs_t *outputs) {
    random_t *random = &l->random;
    int32_t shift = 134 - (int32_t)(scale >> 23);
    l->errors.mean = p->mean;
    l->errors.low = p->slope & ((1 << HAT_BITS) - 1);
    l->errors.high = p->slope >> HAT_BITS;
    random->low = scale & 0xFFFF;
    random->high = (scale >> 16 & 127) | 128;
    random->doubt = -256u << ((32 - shift) & 31);
    random->shift = shift;
    return odt_is_usual(outputs) && has_bits(p->slope, 24) && shift >= 16 && shift <= 30;
}

// Sets the addresses to which the outputs of l->v, rows of `count` elements, are written.
static void place_outputs(
    loops_t *l, const group_t *p, int32_t at, int32_t count, int32_t rows, const odt_outputs_t *outputs) {
    random_t *random = &l->random;
    random->u = p->key + (p->before + (uint32_t)at) * ODT_HASH_GOLDEN;
    random->y = p->a->dx + at;
    random->end = l->v + count;
    random->last = l->v + rows * count;
    random->length = count * (int32_t)sizeof(*l->v);
    random->top = outputs->top;
    random->peak = outputs->peak;
}

// One output without the loops' limits; u: the random word before hashing.
static __attribute__((noinline)) int8_t output_exactly(odt_outputs_t *outputs, int32_t v, uint32_t scale, uint32_t u) {
    return odt_output(outputs, odt_rescaled_random(v, odt_multiplier(scale), odt_hash32(u, 0)));
}

// Rounds l->v to outputs and advances u and y past them.
static void round_errors(loops_t *l, uint32_t scale, odt_outputs_t *outputs) {
    random_t *random = &l->random;
    for (const int32_t *from = l->v; from != random->last;) {
        from = rescale_randomly(from, random, ODT_HASH_SECOND, ODT_HASH_THIRD);
        if (from != random->last) {
            *random->y = output_exactly(outputs, *from++, scale, random->u);
            random->top = outputs->top;
            random->peak = outputs->peak;
            random->y += random->step;
            random->u += random->next;
            if (from == random->end && from != random->last) {
                random->end += random->length / (int32_t)sizeof(*from);
                random->y += random->y_skip;
                random->u += random->u_skip;
            }
        }
    }
}

static int norm_dx_outputs__m0(group_t *p, loops_t *l, uint32_t scale, odt_outputs_t *outputs) {
    const odt_norm_dx_i8_t *a = p->a;
    hats_t *h = &l->hats;
    int32_t width = a->G * a->C, most = a->C == 1 ? ELEMENTS + GAINS : ELEMENTS;
    int32_t runs = a->C == 1 ? 1 : p->S, length = a->C == 1 ? p->S : a->C, only = gain(p->gains, p->n);
    if (!begin_errors(l, p, scale, outputs)) {
        return 0;
    }
    for (int32_t run = 0, first = p->at, rows; run < runs; run += rows, first += rows * width) {
        rows = odt_min(runs - run, l->rows);
        for (int32_t i = 0, at = first, count; i < length; i += count, at += count * h->step) {
            count = odt_min(length - i, most);
            if (a->C == 1) {
                h->x = a->x + at;
                h->end = h->x + count * h->step;
                l->errors.gains = &only;
                list_errors_of_one(h, &l->errors);
            } else {
                (void)begin_block(l, a, at, count, rows);
                l->errors.gains = gains_of(l, p, i, count);
                list_errors(h, &l->errors);
            }
            place_outputs(l, p, at, count, rows, outputs);
            round_errors(l, scale, outputs);
            poll_after(&p->waited, rows * count);
        }
    }
    return 1;
}

#endif

#if ODT_M4
#include "../../cores/m4/norm_dx_i8__m4.inc"
#endif

#if ODT_RP2040

// Rows of a LayerNorm.
typedef struct {
    dx_rows_t rows;
    const odt_norm_dx_i8_t *a;
    uint32_t unit;
    odt_outputs_t *outputs;
    term_t terms[ELEMENTS];
} layer_t;

static int32_t row_output(dx_rows_t *rows, const term_t *after, uint32_t u, int8_t *dx) {
    const layer_t *l = (const layer_t *)rows;
    const term_t *term = after - 1;
    int32_t v = l->a->e[dx - l->a->dx] * term->gain - rows->mean;
    v = odt_sat32(v - scaled_hat(term->h, rows->slope));
    *dx = output_exactly(l->outputs, v, odt_scale_mul(odt_scale(rows->st[1]), l->unit), u);
    rows->top = l->outputs->top;
    return rows->top;
}

// Returns whether no sum of a row can wrap. It can only if all errors are -128 and all gains -2^14.
static int begin_rows(layer_t *l, const group_t *p, uint32_t unit, odt_outputs_t *outputs) {
    const odt_norm_dx_i8_t *a = p->a;
    uint32_t m = (unit & ((1u << 23) - 1)) | 1u << 23;
    hats_t hats;
    begin_hats(&hats, HAT_BITS, p->z, 1, a->C);
    l->a = a;
    l->unit = unit;
    l->outputs = outputs;
    l->rows = (dx_rows_t){.zero = hats.zero, .one = hats.one, .delta = (int32_t)(a->e - a->x),
        .length = a->C, .terms = l->terms, .high = (int32_t)(m >> 12), .low = (int32_t)(m & 4095),
        .shift = 122 - (int32_t)(unit >> 23), .exact = row_output,
        .least = a->C > 32 ? 15 : 14};
    int32_t least = 0;
    for (int32_t c = 0; c < a->C; c++) {
        l->terms[c].gain = gain(p->gains, c);
        least = odt_min(least, l->terms[c].gain);
    }
    return least > -(1 << 14);
}

// Processes rows from m on; returns the first row that is out of range.
static int32_t norm_dx_rows(layer_t *l, const group_t *p, int32_t m) {
    const odt_norm_dx_i8_t *a = p->a;
    dx_rows_t *rows = &l->rows;
    int32_t at = m * a->C;
    rows->x = a->x + at;
    rows->st = a->st + 2 * m;
    rows->u = p->key + (p->before + (uint32_t)at) * ODT_HASH_GOLDEN;
    rows->dx = a->dx + at;
    rows->top = l->outputs->top;
    rows->left = 0;
    while (rows->left == 0 && m < a->M) {
        int32_t count = odt_min(a->M - m, 256 / a->C);
        rows->left = count;
        dx_rows(rows);
        m += count - rows->left;
        odt_poll();
    }
    return m;
}

#endif

// Rounds at random: to nearest, errors that are small compared with the peak would vanish.
void odt_norm_dx_i8(const odt_norm_dx_i8_t *a) {
    int32_t width = a->G * a->C, S = a->S;
    gains_t all = gains(a->gamma, width);
    uint32_t unit = outer(a->factor, a->se, a->sx, a->sdx, &all);
    odt_outputs_t outputs = odt_outputs_from(0, -127, *a->peak);
    group_t p = {.a = a, .gains = &all, .z = odt_limit(a->zx, -128, 127),
        .key = odt_hash32((uint32_t)a->c[ODT_KEY], (uint32_t)a->id),
        .before = (uint32_t)a->c[ODT_POSITION] * (uint32_t)a->F}; // by the place in the epoch, as in dropout
    if (a->rows > 0) {
        int64_t rows = (int64_t)odt_max(a->c[ODT_COUNT], 1) * a->rows;
        S = rows < S ? (int32_t)rows : S;
        memset(a->dx, 0, (size_t)(a->M * a->S) * (size_t)width);
    }
    p.S = S;
    #if ODT_M4
    extent_t extent;
    begin_extents(&extent, &p);
    #endif
    #if ODT_M0 && !ODT_SMALL
    loops_t loops;
    begin_hats(&loops.hats, HAT_BITS, p.z, a->C == 1 ? width : 1, a->C);
    loops.first = loops.loaded = 0;
    loops.rows = S > 1 && a->C > 1 && a->C <= ELEMENTS / 2 ? ELEMENTS / a->C : 1;
    loops.random.y_skip = width - a->C;
    loops.random.u_skip = ODT_HASH_GOLDEN * (uint32_t)(width - a->C);
    loops.errors.v = loops.v;
    loops.errors.delta = (int32_t)(a->e - a->x);
    loops.random.step = loops.hats.step;
    loops.random.next = ODT_HASH_GOLDEN * (uint32_t)loops.hats.step;
    #endif
    #if ODT_RP2040
    layer_t layer;
    int is_layer = rows_of(a->S, a->G, a->C) > 1 && begin_rows(&layer, &p, unit, &outputs);
    #endif
    for (int32_t m = 0; m < a->M; m++) {
        #if ODT_RP2040
        if (is_layer && odt_is_usual(&outputs)) {
            m = norm_dx_rows(&layer, &p, m);
            if (m == a->M) {
                break;
            }
        }
        #endif
        for (int32_t g = 0; g < a->G; g++) {
            sums_t sums = {0, 0};
            p.st = a->st + 2 * (m * a->G + g);
            uint32_t scale = odt_scale_mul(odt_scale(p.st[1]), unit);
            p.q = odt_multiplier(scale);
            p.at = m * a->S * width + g * a->C;
            p.n = g * a->C;
            #if ODT_M4
            if (begin_extent(&extent, &p)) {
                sum_group(&extent, p.at, &sums);
                set_means(&p, &sums);
                if (round_group(&p, &extent, &outputs)) {
                    continue;
                }
                sums = (sums_t){0, 0};
            }
            #endif
            #if ODT_M0 && !ODT_SMALL
            int is_short = group_hats(&loops.hats, p.st) && S < 1 << 20;
            if (is_short) {
                norm_dx_sums__m0(&p, &loops, &sums);
            } else
            #endif
            {
                norm_dx_sums(&p, &sums);
            }
            set_means(&p, &sums);
            #if ODT_M0 && !ODT_SMALL
            if (is_short && norm_dx_outputs__m0(&p, &loops, scale, &outputs)) {
                continue;
            }
            #endif
            norm_dx_outputs(&p, &outputs);
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
