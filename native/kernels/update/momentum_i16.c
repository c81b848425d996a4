// Momentum and Nesterov momentum of int8 models with state in int16: gradients [N, K] become directions.

#include "../../fixed.h"
#include "../../opcodes.h"
#include "exponents_i16.h"

// Row n. With `ahead`, directions look one step ahead.
static void momentum_row(const odt_momentum_i16_t *a, int32_t n, uint32_t G, const odt_dither_t *dither, int ahead) {
    enum { LEVEL = 11 };
    int32_t K = a->K, ex = a->ex[n], *d = a->d + n * K;
    int16_t *v = a->v + n * K;
    int32_t bits = odt_bits_of(d, K), need = odt_needed_exponent(bits, G, LEVEL);
    if (need > ex) {
        odt_state_shift_right(v, K, need - ex);
        ex = need;
    }
    uint32_t scale = odt_scale_shift(G, 16 - ex), mu = (uint32_t)a->mu, any = 0;
    int32_t before = odt_max(bits - 16, 0), exponent = odt_short_exponent(scale) + before;
    uint32_t factor = (uint32_t)odt_short_factor(scale) << odt_limit(exponent, 0, 31);
    int32_t shift = odt_limit(-exponent, 0, 31);
    uint32_t x = dither->first + ((uint32_t)a->at + (uint32_t)n) * (uint32_t)K * dither->step;
    for (int32_t k = 0; k < K; k++, x += dither->step) {
        uint32_t g = (uint32_t)((int32_t)((uint32_t)(d[k] >> before) * factor) >> shift);
        v[k] = (int16_t)((int32_t)((uint32_t)v[k] * mu + g + (x & 65535)) >> 16);
        d[k] = ahead ? (int32_t)(g + (uint32_t)v[k] * mu) >> 12 : v[k];
        any |= (uint32_t)(v[k] ^ v[k] >> 15);
    }
    a->ds[n] = (int32_t)odt_scale_shift(ODT_ONE, ahead ? ex - 4 : ex);
    if (any >= 1 << 14) {
        odt_state_shift_right(v, K, 1);
        ex++;
    } else if (need < ex - 3 && any > 0 && any < 1 << (LEVEL - 3) && ex > -100) {
        for (int32_t k = 0; k < K; k++) {
            v[k] = (int16_t)(v[k] * 4);
        }
        ex -= 2;
    }
    a->ex[n] = (int8_t)ex;
}

static void momentum(const odt_momentum_i16_t *a, int ahead) {
    uint32_t G = odt_scale_mul(odt_scale(a->factor), odt_scale(*a->gs));
    odt_dither_t dither = odt_dither(a->c[ODT_KEY], a->id);
    for (int32_t n = 0; n < a->N; n++) {
        momentum_row(a, n, G, &dither, ahead);
    }
}

void odt_momentum_i16(const odt_momentum_i16_t *a) {
    momentum(a, 0);
}

void odt_nesterov_i16(const odt_nesterov_i16_t *a) {
    odt_momentum_i16_t as_momentum = {.d = a->d, .ds = a->ds, .v = a->v, .ex = a->ex, .gs = a->gs, .c = a->c, .N = a->N,
        .K = a->K, .factor = a->factor, .id = a->id, .mu = a->mu, .at = a->at};
    momentum(&as_momentum, 1);
}
