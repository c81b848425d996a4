// Dropout, int8 and float32. A hash of the step, the layer and the element decides what is dropped, so the backward
// pass needs no mask in memory. All may work in place.

#include "../../fixed.h"
#include "../../float32.h"
#include "../../opcodes.h"
#include "../../common/step_key.h"

// A probability in Q16, below 1.
static uint32_t limit(int32_t drop) {
    return (uint32_t)odt_limit(drop, 0, 65535);
}

// An element's hash depends on its place in the epoch, so micro-batches drop the same elements as the whole batch.
typedef struct {
    uint32_t key, first, drop;
    int training;
} mask_t;

static mask_t mask(uint32_t key, const int32_t *c, int32_t id, int32_t N, int32_t drop) {
    mask_t m = {odt_hash32(key, (uint32_t)id), (uint32_t)c[ODT_POSITION] * (uint32_t)N,
                limit(drop), key != 0};
    return m;
}

static int dropped(const mask_t *m, int32_t i) {
    return m->training && odt_hash32(m->key, m->first + (uint32_t)i) >> 16 < m->drop;
}

void odt_dropout_i8(const odt_dropout_i8_t *a) {
    mask_t m = mask((uint32_t)odt_begin_step(a->h, a->c), a->c, a->id, a->N, a->drop);
    uint32_t scale = odt_scale_mul(odt_scale(a->factor), odt_scale(*a->sx));
    if (m.training) {
        scale = odt_scale_div(scale, odt_scale_shift(odt_scale_int(65536 - m.drop), -16));
    }
    int8_t z = (int8_t)odt_limit(a->z, -128, 127);
    for (int32_t i = 0; i < a->B * a->N; i++) {
        a->y[i] = dropped(&m, i) ? z : a->x[i];
    }
    *a->sy = (int32_t)scale;
}

void odt_dropout_dx_i8(const odt_dropout_dx_i8_t *a) {
    mask_t m = mask((uint32_t)a->c[ODT_KEY], a->c, a->id, a->N, a->drop);
    for (int32_t i = 0; i < a->B * a->N; i++) {
        a->dx[i] = dropped(&m, i) ? 0 : a->e[i];
    }
}

void odt_dropout_f32(const odt_dropout_f32_t *a) {
    mask_t m = mask((uint32_t)odt_begin_step(a->h, a->c), a->c, a->id, a->N, a->drop);
    float factor = m.training ? 65536.0f / (float)(int32_t)(65536 - m.drop) : 1.0f;
    for (int32_t i = 0; i < a->B * a->N; i++) {
        a->y[i] = dropped(&m, i) ? 0.0f : a->x[i] * factor;
    }
}

void odt_dropout_dx_f32(const odt_dropout_dx_f32_t *a) {
    mask_t m = mask((uint32_t)a->c[ODT_KEY], a->c, a->id, a->N, a->drop);
    float factor = m.training ? 65536.0f / (float)(int32_t)(65536 - m.drop) : 1.0f;
    for (int32_t i = 0; i < a->B * a->N; i++) {
        a->dx[i] = dropped(&m, i) ? 0.0f : a->e[i] * factor;
    }
}
