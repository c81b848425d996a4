// Zeroth-order training, float32: moves N weights along z and back, and applies the step along z.

#include "../../float32.h"
#include "../../opcodes.h"
#include "zeroth.h"

static void along(float *w, int32_t N, uint32_t key, float step) {
    uint32_t word = 0;
    for (int32_t i = 0; i < N; i++) {
        int32_t z = odt_direction(key, (uint32_t)i, &word);
        if (z) {
            w[i] = odt_store(z > 0 ? w[i] + step : w[i] - step);
        }
    }
}

void odt_perturb_f32(const odt_perturb_f32_t *a) {
    if (odt_moving(a->c)) {
        along(a->w, a->N, odt_hash32((uint32_t)a->c[ODT_KEY], (uint32_t)a->id), odt_float((uint32_t)a->epsilon));
    }
}

void odt_walk_f32(const odt_walk_f32_t *a) {
    if (*a->g != 0.0f) {
        along(a->w, a->N, odt_hash32((uint32_t)a->c[ODT_KEY], (uint32_t)a->id), -*a->g);
    }
}
