// The module _odt_knn in a file, for stock firmware: what odt.online.KNN computes in C, by itself, so that other
// learners load none of it (natmod.mk).

#include "py/dynruntime.h"

#include "../core.h"
#include "knn.h"
#include "memory.h"

static MP_DEFINE_CONST_FUN_OBJ_VAR_BETWEEN(object_knn, 3, 3, entry_knn);

mp_obj_t mpy_init(mp_obj_fun_bc_t *self, size_t count, size_t keywords, mp_obj_t *args) {
    MP_DYNRUNTIME_INIT_ENTRY
    mp_store_global(MP_QSTR_knn, MP_OBJ_FROM_PTR(&object_knn));
    MP_DYNRUNTIME_INIT_EXIT
}
