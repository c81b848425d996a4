// The module _odt_features in a file, for stock firmware: log-mel in C, by itself, so that a model loads none of it and a
// sensor no executor (natmod.mk).

#include "py/dynruntime.h"

#include "../core.h"
#include "features.h"
#include "memory.h"

ODT_FEATURE(log_mel, odt_logmel_i16)

static MP_DEFINE_CONST_FUN_OBJ_VAR_BETWEEN(object_log_mel, 4, 4, entry_log_mel);

mp_obj_t mpy_init(mp_obj_fun_bc_t *self, size_t count, size_t keywords, mp_obj_t *args) {
    MP_DYNRUNTIME_INIT_ENTRY
    mp_store_global(MP_QSTR_log_mel, MP_OBJ_FROM_PTR(&object_log_mel));
    MP_DYNRUNTIME_INIT_EXIT
}
