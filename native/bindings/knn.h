// knn() for MicroPython, in a firmware (mod_odt.c) and in a file of its own (mod_knn.c).

#ifndef ODT_KNN_BINDING_H
#define ODT_KNN_BINDING_H

#include "../kernels/online/knn.h"
#include "buffers.h"

static mp_obj_t entry_knn(size_t count, const mp_obj_t *args) {
    (void)count;
    odt_bytes_t state = bytes_of(args[0], MP_BUFFER_READ), work = bytes_of(args[1], MP_BUFFER_WRITE), x = {NULL, 0};
    int floats = 1;
    if (args[2] != mp_const_none) {
        x = elements_of(args[2], MP_BUFFER_READ, 'f', 0);
        if (!x.bytes) {
            x = elements_of(args[2], MP_BUFFER_READ, 'h', 0);
            floats = 0;
        }
    }
    return mp_obj_new_int(odt_knn_i16(state, work, x, floats));
}

#endif
