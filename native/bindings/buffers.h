// Buffers for MicroPython's entry points that are no instructions: online.h, features.h.

#ifndef ODT_BUFFERS_H
#define ODT_BUFFERS_H

#include "../bytes.h"

static odt_bytes_t bytes_of(mp_obj_t object, mp_uint_t flags) {
    mp_buffer_info_t info;
    mp_get_buffer_raise(object, &info, flags);
    return (odt_bytes_t) {info.buf, info.len};
}

// Of what is no buffer of this typecode (or of `raw`): no bytes, and no NULL.
static odt_bytes_t elements_of(mp_obj_t object, mp_uint_t flags, int typecode, int raw) {
    static const uint8_t none = 0;
    mp_buffer_info_t info;
    if (!mp_get_buffer(object, &info, flags) || !info.len
        || (info.typecode != typecode && (!raw || (info.typecode != 'B' && info.typecode != BYTEARRAY_TYPECODE)))) {
        return (odt_bytes_t) {(uint8_t *)&none, 0};
    }
    return (odt_bytes_t) {info.buf, info.len};
}

#endif
