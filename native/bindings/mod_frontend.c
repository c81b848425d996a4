// The module _odt_frontend in a file, for stock firmware. Generated from entry_points.h by odt/host/generate.py.

#include "py/dynruntime.h"

#include "../core.h"
#include "features.h"
#include "memory.h"

ODT_FEATURE(frontend, 4, 4)

static MP_DEFINE_CONST_FUN_OBJ_VAR_BETWEEN(object_frontend, 4, 4, entry_frontend);

mp_obj_t mpy_init(mp_obj_fun_bc_t *self, size_t count, size_t keywords, mp_obj_t *args) {
    MP_DYNRUNTIME_INIT_ENTRY
    mp_store_global(MP_QSTR_frontend, MP_OBJ_FROM_PTR(&object_frontend));
    MP_DYNRUNTIME_INIT_EXIT
}
