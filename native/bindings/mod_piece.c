// A piece of the kernels for stock firmware, in a file of its own that _odt.load() imports: _odt_conv.mpy and others
// (odt/host/release/pieces.py). Its opcodes.c, of that piece alone, is what differs between them.

#include "py/dynruntime.h"

#include "../core.h"
#include "fast.h"
#include "memory.h"
#include "piece.h"

const odt_shared_t *shared;

#if ODT_FAST

#define FASTER(number, name) {(odt_kernel_t)odt_##name, ODT_##number},
static const odt_faster_t faster[] = {
    #if ODT_FAST == 1
    ODT_FAST_1(FASTER)
    #else
    ODT_FAST_2(FASTER)
    #endif
    {NULL, 0}
};
#undef FASTER
const odt_piece_t odt_piece = {ODT_STAMP, ODT_PIECES + ODT_FAST - 1, faster};

#else

#define CALL(arguments, name, values) \
    void odt_##name arguments { \
        shared->name values; \
    }
ODT_SHARED(CALL)
#undef CALL

#endif

mp_obj_t mpy_init(mp_obj_fun_bc_t *self, size_t count, size_t keywords, mp_obj_t *args) {
    MP_DYNRUNTIME_INIT_ENTRY
    mp_obj_t base = mp_import_name(MP_QSTR__odt, mp_const_none, MP_OBJ_NEW_SMALL_INT(0));
    mp_obj_t type = mp_load_attr(base, MP_QSTR__Piece);
    const mp_obj_type_t *checked = MP_OBJ_TO_PTR(type);
    if (mp_obj_get_type(type) != &mp_type_type || checked->name != MP_QSTR__Piece || checked->slot_index_make_new) {
        mp_raise_TypeError("_odt is not odt's");
    }
    piece_object_t *object = mp_obj_malloc(piece_object_t, checked);
    object->piece = &odt_piece;
    object->shared = &shared;
    mp_obj_t argument = MP_OBJ_FROM_PTR(object);
    mp_call_function_n_kw(mp_load_attr(base, MP_QSTR__add), 1, 0, &argument);
    MP_DYNRUNTIME_INIT_EXIT
}
