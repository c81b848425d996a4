// The module _odt_rocket in a file, for stock firmware. Generated from entry_points.h by odt/host/generate.py.

#include "py/dynruntime.h"

#include "../core.h"
#include "features.h"
#include "memory.h"

ODT_FEATURE(rocket, 4, 4)

static MP_DEFINE_CONST_FUN_OBJ_VAR_BETWEEN(object_rocket, 4, 4, entry_rocket);

mp_obj_t mpy_init(mp_obj_fun_bc_t *self, size_t count, size_t keywords, mp_obj_t *args) {
    MP_DYNRUNTIME_INIT_ENTRY
    mp_store_global(MP_QSTR_rocket, MP_OBJ_FROM_PTR(&object_rocket));
    MP_DYNRUNTIME_INIT_EXIT
}
