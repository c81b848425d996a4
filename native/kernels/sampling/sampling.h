// Functions that sampling and its divergence share: random numbers, and the values of int8 inputs.

#ifndef ODT_SAMPLING_H
#define ODT_SAMPLING_H

#include <stdint.h>

#include "../../fixed.h"

#define ODT_NORMAL 0x3B9CC4BFu // 1 / sqrt(8 * 65535 / 12): the inverse deviation of a sum of eight bytes

// The random numbers of a training step; elsewhere all are 0.
typedef struct {
    uint32_t stream, first;
    int training;
} odt_normal_t;

// `key`: the step's.
odt_normal_t odt_normal(int32_t key, const int32_t *c, int32_t id, int32_t N);

// The random number of output i: the sum of eight random bytes minus its mean.
int32_t odt_normal_at(const odt_normal_t *r, int32_t i);

// An int8 input: its zero point, its scale, and the multipliers that convert 65536 steps to v / (2 ln 2) in Q16, to v
// in Q16, and to the mean in Q8.
typedef struct {
    int32_t z;
    uint32_t scale;
    odt_multiplier_t half, plain, eighth;
} odt_latent_t;

odt_latent_t odt_latent(int32_t factor, int32_t sx, int32_t z);

// exp(v / 2) in Q16; exp(v) if `twice` is 2.
int32_t odt_latent_power(const odt_latent_t *x, int8_t v, int32_t twice);

// The divergence of one dimension in Q16.
int32_t odt_latent_divergence(const odt_latent_t *x, int8_t mean, int8_t v);

#endif
