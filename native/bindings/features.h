// What odt.sensors.features computes, for MicroPython: in a firmware (mod_odt.c), and in files of its own (mod_features.c, mod_frontend.c,
// mod_motion.c, mod_rocket.c).

#ifndef ODT_FEATURES_H
#define ODT_FEATURES_H

#include "../kernels/features/biquads.h"
#include "../kernels/features/frontend.h"
#include "../kernels/features/logmel.h"
#include "../kernels/features/motion.h"
#include "../kernels/features/rocket.h"
#include "buffers.h"

// entry_<name>(out, samples, tables, work): out of int16, samples of int16 or raw.
#define ODT_FEATURE(name, kernel) \
    static mp_obj_t entry_##name(size_t count, const mp_obj_t *args) { \
        (void)count; \
        odt_bytes_t out = elements_of(args[0], MP_BUFFER_WRITE, 'h', 0), samples = elements_of(args[1], MP_BUFFER_READ, 'h', 1); \
        odt_bytes_t tables = bytes_of(args[2], MP_BUFFER_READ), work = bytes_of(args[3], MP_BUFFER_WRITE); \
        return MP_OBJ_NEW_SMALL_INT(kernel(out, samples, tables, work)); \
    }

#endif
