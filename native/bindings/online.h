// rls() for MicroPython, in a firmware (mod_odt.c) and in a file of its own (mod_online.c).

#ifndef ODT_ONLINE_H
#define ODT_ONLINE_H

#include "../kernels/online/rls.h"
#include "buffers.h"

static mp_obj_t entry_rls(size_t count, const mp_obj_t *args) {
    (void)count;
    int learn = mp_obj_is_true(args[4]);
    odt_bytes_t y = args[3] == mp_const_none ? (odt_bytes_t) {NULL, 0} : elements_of(args[3], MP_BUFFER_READ, 'f', 0);
    odt_bytes_t x = elements_of(args[2], MP_BUFFER_READ, 'f', 0);
    odt_bytes_t state = bytes_of(args[0], MP_BUFFER_WRITE), work = bytes_of(args[1], MP_BUFFER_WRITE);
    return MP_OBJ_NEW_SMALL_INT(odt_rls_f32(state, work, x, y, learn));
}

#endif
