// Advances the step counter, makes the step's random key, and clears memory.

#include <string.h>

#include "../../fixed.h"
#include "../../opcodes.h"

#define TWO_30 (1u << 30)

void odt_clear(const odt_clear_t *a) {
    memset(a->y, 0, (size_t)a->N * sizeof(int32_t));
}

// beta^t in Q30, for the next step.
static uint32_t power(uint32_t p, uint32_t beta) {
    return (uint32_t)(((uint64_t)p * beta + (1u << 29)) >> 30);
}

// (1 - p) * 2^30; p comes from the state and may have any value.
static uint32_t one_less(uint32_t p) {
    return p < TWO_30 ? TWO_30 - p : 0;
}

void odt_tick(const odt_tick_t *a) {
    uint32_t rate = (uint32_t)a->c[ODT_RATE], corrected = ODT_ONE;
    uint32_t t = (uint32_t)a->h[0] + 1;
    a->h[0] = (int32_t)t;
    a->c[ODT_KEY] = (int32_t)odt_hash32((uint32_t)a->h[1], t);
    if (a->beta1 || a->beta2) {
        uint32_t p1 = power((uint32_t)a->h[2], (uint32_t)a->beta1);
        uint32_t p2 = power((uint32_t)a->h[3], (uint32_t)a->beta2);
        a->h[2] = (int32_t)p1;
        a->h[3] = (int32_t)p2;
        uint32_t c = odt_scale_int(odt_isqrt((uint64_t)one_less(p2) << 30));
        corrected = odt_scale_shift(c, -30);
        if (rate) {
            rate = odt_scale_mul(odt_scale((int32_t)rate),
                odt_scale_div(c, odt_scale_int(one_less(p1))));
        }
    }
    a->rate[0] = (int32_t)rate;
    a->rate[1] = (int32_t)corrected;
}

void odt_step_key(const odt_step_key_t *a) {
    if (a->c[ODT_KEY]) {
        a->c[ODT_KEY] = (int32_t)odt_hash32((uint32_t)a->h[1], (uint32_t)a->h[0] + (uint32_t)a->ahead);
    }
}
