// What a training step of one batch begins with: step() of both bindings.

#ifndef ODT_BINDINGS_STEP_H
#define ODT_BINDINGS_STEP_H

#include "../opcodes.h"

static inline void begin_step(void *region, size_t samples, int32_t rate) {
    int32_t *control = region;
    control[ODT_SAMPLES] = control[ODT_COUNT] = (int32_t)samples;
    control[ODT_POSITION] = control[ODT_ORDER] = 0;
    control[ODT_LOSS] = control[ODT_LOSS_HIGH] = control[ODT_CORRECT] = 0;
    control[ODT_RATE] = rate;
    control[ODT_KEY] = 1; // dropout drops
}

#endif
