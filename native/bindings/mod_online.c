// The module _odt_online in a file, for stock firmware: what odt.online computes in C, by itself, so that a model loads
// none of it and a stream loads no executor (natmod.mk).

#include "py/dynruntime.h"

#include "../core.h"
#include "online.h"
#include "memory.h"

static MP_DEFINE_CONST_FUN_OBJ_VAR_BETWEEN(object_rls, 5, 5, entry_rls);

mp_obj_t mpy_init(mp_obj_fun_bc_t *self, size_t count, size_t keywords, mp_obj_t *args) {
    MP_DYNRUNTIME_INIT_ENTRY
    mp_store_global(MP_QSTR_rls, MP_OBJ_FROM_PTR(&object_rls));
    MP_DYNRUNTIME_INIT_EXIT
}
