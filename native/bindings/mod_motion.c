// The module _odt_motion in a file, for stock firmware. Generated from entry_points.h by odt/host/generate.py.

#include "py/dynruntime.h"

#include "../core.h"
#include "features.h"
#include "memory.h"

ODT_FEATURE(motion, 4, 4)
ODT_FEATURE(biquads, 4, 4)

static MP_DEFINE_CONST_FUN_OBJ_VAR_BETWEEN(object_motion, 4, 4, entry_motion);
static MP_DEFINE_CONST_FUN_OBJ_VAR_BETWEEN(object_biquads, 4, 4, entry_biquads);

mp_obj_t mpy_init(mp_obj_fun_bc_t *self, size_t count, size_t keywords, mp_obj_t *args) {
    MP_DYNRUNTIME_INIT_ENTRY
    mp_store_global(MP_QSTR_motion, MP_OBJ_FROM_PTR(&object_motion));
    mp_store_global(MP_QSTR_biquads, MP_OBJ_FROM_PTR(&object_biquads));
    MP_DYNRUNTIME_INIT_EXIT
}
