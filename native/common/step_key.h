// The key of random numbers that a forward pass draws before tick makes it.

#ifndef ODT_STEP_KEY_H
#define ODT_STEP_KEY_H

#include "../fixed.h"
#include "../opcodes.h"

// Key of the current step before its tick, also for its errors; 0 if no step is under way.
static inline int32_t odt_begin_step(const int32_t *h, int32_t *c) {
    if (c[ODT_KEY]) {
        c[ODT_KEY] = (int32_t)odt_hash32((uint32_t)h[1], (uint32_t)h[0] + 1);
    }
    return c[ODT_KEY];
}

#endif
