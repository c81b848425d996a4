// Decoupled weight decay: weight -= rate * decay * weight. In int8 the decay is rounded at random, because it is mostly
// below 1/256 step.

#include "../../fixed.h"
#include "../../float32.h"
#include "../../opcodes.h"

void odt_decay_f32(const odt_decay_f32_t *a) {
    if (a->c[ODT_RATE] == 0) {
        return;
    }
    float part = odt_float((uint32_t)a->c[ODT_RATE]) * odt_float((uint32_t)a->decay);
    float rest = 1.0f - part;
    for (int32_t i = 0; i < a->N; i++) {
        a->w[i] = odt_store(a->w[i] * rest);
    }
}

static odt_multiplier_t decayed(const int32_t *c, int32_t decay) {
    return odt_multiplier(odt_scale_mul(odt_scale(c[ODT_RATE]), odt_scale(decay)));
}

void odt_decay_i8(const odt_decay_i8_t *a) {
    const int32_t limit = 32639; // (127 + 127 / 256) * 256
    if (a->c[ODT_RATE] == 0) {
        return;
    }
    odt_multiplier_t q = decayed(a->c, a->decay);
    uint32_t key = odt_hash32((uint32_t)a->c[ODT_KEY], (uint32_t)a->id);
    for (int32_t i = 0; i < a->N; i++) {
        int32_t W = 256 * a->w[i] + a->r[i];
        int64_t exact = (int64_t)W - odt_rescaled_random(W, q, odt_hash32(key, (uint32_t)i));
        W = exact > limit ? limit : exact < -limit ? -limit : (int32_t)exact;
        a->w[i] = (int8_t)((W + 128) >> 8);
        a->r[i] = (int8_t)(W - 256 * a->w[i]);
    }
}

void odt_decay_i32(const odt_decay_i32_t *a) {
    const int64_t limit = 1 << 30;
    if (a->c[ODT_RATE] == 0) {
        return;
    }
    odt_multiplier_t q = decayed(a->c, a->decay);
    uint32_t key = odt_hash32((uint32_t)a->c[ODT_KEY], (uint32_t)a->id);
    for (int32_t i = 0; i < a->N; i++) {
        int64_t b = a->b[i];
        b -= odt_rescaled_random(a->b[i], q, odt_hash32(key, (uint32_t)i));
        a->b[i] = (int32_t)(b > limit ? limit : b < -limit ? -limit : b);
    }
}
