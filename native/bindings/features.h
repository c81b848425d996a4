// What odt.sensors.features computes, for MicroPython: in a firmware (mod_odt.c), and in files of its own
// (mod_features.c and others, which odt/host/generate.py writes).

#ifndef ODT_FEATURES_H
#define ODT_FEATURES_H

#include "buffers.h"
#include "entry_points.h"

#define ODT_FEATURE_KERNEL(name, least, most) \
    int odt_##name##_i16(odt_bytes_t out, odt_bytes_t samples, odt_bytes_t tables, odt_bytes_t work);
ODT_FEATURES_ENTRY_POINTS(ODT_FEATURE_KERNEL)

// entry_<name>(out, samples, tables, work): out of int16, samples of int16 or raw.
#define ODT_FEATURE(name, least, most) \
    static mp_obj_t entry_##name(size_t count, const mp_obj_t *args) { \
        (void)count; \
        odt_bytes_t out = elements_of(args[0], MP_BUFFER_WRITE, 'h', 0), \
                    samples = elements_of(args[1], MP_BUFFER_READ, 'h', 1); \
        odt_bytes_t tables = bytes_of(args[2], MP_BUFFER_READ), work = bytes_of(args[3], MP_BUFFER_WRITE); \
        return MP_OBJ_NEW_SMALL_INT(odt_##name##_i16(out, samples, tables, work)); \
    }

#endif
