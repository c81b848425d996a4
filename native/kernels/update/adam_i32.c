// Adam of int8 models with state in float32: gradients [N, K] become directions. With state in int16: adam_i16.c.

#include "../../core.h"
#include "../../fixed.h"
#include "../../float32.h"
#include "../../opcodes.h"
#include "../common/words.h"
#include "adam__soft.h"

#if ODT_SOFT_FLOAT

// d * G as float bits, G a scale.
static uint32_t gradient(int32_t d, odt_soft_t G, uint32_t bits) {
    uint32_t size = odt_magnitude(d);
    if (size >= 1 << 24 || G.field < 40 || G.field > 190) {
        return odt_bits((float)d * odt_float(bits));
    }
    int32_t up = 24 - odt_bit_length(size);
    odt_soft_t x = {size << up, 150 - up};
    return odt_soft_stored(odt_soft_mul(x, G), d < 0, 1);
}

// A direction of float bits in steps of 2^-20, 4 at most, cut off.
static int32_t in_steps(uint32_t bits) {
    int32_t field = (int32_t)(bits << 1 >> 24), x;
    if (field > 129) {
        x = field == 255 && bits << 9 ? 0 : 1 << 22;
    } else {
        x = field < 107 ? 0 : (int32_t)(((bits & 0x7FFFFF) | 0x800000) >> (130 - field));
        x = odt_min(x, 1 << 22);
    }
    return bits >> 31 ? -x : x;
}

static void make_directions(const odt_adam_i32_t *a, float eps) {
    int32_t count = a->N * a->K;
    uint32_t scale = odt_scale_mul(odt_scale(a->factor), odt_scale(*a->gs));
    odt_soft_t G = {(scale & 0x7FFFFF) | 0x800000, (int32_t)(scale >> 23)};
    for (int32_t i = 0; i < count; i++) {
        odt_store_word(&a->d[i], gradient(a->d[i], G, scale));
    }
    odt_soft_adam(a->d, a->m, a->v, count, (uint32_t)a->b1, (uint32_t)a->c1, (uint32_t)a->b2, (uint32_t)a->c2, odt_bits(eps));
    for (int32_t i = 0; i < count; i++) {
        a->d[i] = in_steps(odt_load_word(&a->d[i]));
    }
}

#else

static void make_directions(const odt_adam_i32_t *a, float eps) {
    float G = odt_float(odt_scale_mul(odt_scale(a->factor), odt_scale(*a->gs)));
    float b1 = odt_float((uint32_t)a->b1), c1 = odt_float((uint32_t)a->c1);
    float b2 = odt_float((uint32_t)a->b2), c2 = odt_float((uint32_t)a->c2);
    for (int32_t i = 0; i < a->N * a->K; i++) {
        float g = (float)a->d[i] * G;
        float m = odt_store(b1 * a->m[i] + c1 * g);
        float v = odt_store2(b2 * a->v[i] + c2 * (g * g));
        a->m[i] = m;
        a->v[i] = v;
        float x = m / (odt_sqrtf(v) + eps);
        x = x > 4.0f ? 4.0f : x < -4.0f ? -4.0f : x;
        a->d[i] = odt_to_int(x * 1048576.0f);
    }
}

#endif

void odt_adam_i32(const odt_adam_i32_t *a) {
    make_directions(a, odt_float((uint32_t)a->eps) * odt_float((uint32_t)a->rate[1]));
    for (int32_t n = 0; n < a->N; n++) {
        a->ds[n] = (int32_t)odt_scale_shift(ODT_ONE, -20);
    }
}
