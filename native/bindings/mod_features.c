// The module _odt_features in a file, for stock firmware. Generated from entry_points.h by odt/host/generate.py.

#include "py/dynruntime.h"

#include "../core.h"
#include "features.h"
#include "memory.h"

ODT_FEATURE(log_mel, 4, 4)

static MP_DEFINE_CONST_FUN_OBJ_VAR_BETWEEN(object_log_mel, 4, 4, entry_log_mel);

mp_obj_t mpy_init(mp_obj_fun_bc_t *self, size_t count, size_t keywords, mp_obj_t *args) {
    MP_DYNRUNTIME_INIT_ENTRY
    mp_store_global(MP_QSTR_log_mel, MP_OBJ_FROM_PTR(&object_log_mel));
    MP_DYNRUNTIME_INIT_EXIT
}
