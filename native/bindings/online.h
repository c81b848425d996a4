// rls() for MicroPython, in a firmware (mod_odt.c) and in a file of its own (mod_online.c).

#ifndef ODT_ONLINE_H
#define ODT_ONLINE_H

#include "../kernels/online/rls.h"

static odt_bytes_t bytes_of(mp_obj_t object, mp_uint_t flags) {
    mp_buffer_info_t info;
    mp_get_buffer_raise(object, &info, flags);
    return (odt_bytes_t) {info.buf, info.len};
}

// Of what is no buffer of float32: no bytes, and no NULL.
static odt_bytes_t floats_of(mp_obj_t object) {
    static const uint8_t none = 0;
    mp_buffer_info_t info;
    if (!mp_get_buffer(object, &info, MP_BUFFER_READ) || info.typecode != 'f' || !info.len) {
        return (odt_bytes_t) {(uint8_t *)&none, 0};
    }
    return (odt_bytes_t) {info.buf, info.len};
}

static mp_obj_t entry_rls(size_t count, const mp_obj_t *args) {
    (void)count;
    int learn = mp_obj_is_true(args[4]);
    odt_bytes_t y = args[3] == mp_const_none ? (odt_bytes_t) {NULL, 0} : floats_of(args[3]);
    odt_bytes_t x = floats_of(args[2]), state = bytes_of(args[0], MP_BUFFER_WRITE), work = bytes_of(args[1], MP_BUFFER_WRITE);
    return MP_OBJ_NEW_SMALL_INT(odt_rls_f32(state, work, x, y, learn));
}

#endif
