// The module _odt inside a firmware: a MicroPython user C module (micropython.mk, .cmake).

#include "py/binary.h"
#include "py/obj.h"
#include "py/objstr.h"
#include "py/runtime.h"

#ifndef MP_NORETURN // before MicroPython 1.26
#define MP_NORETURN NORETURN
#endif

static MP_DEFINE_CONST_OBJ_TYPE(program_type, MP_QSTR_Program, MP_TYPE_FLAG_NONE);

#define PROGRAM_TYPE (&program_type)
#define RAISE_VALUE_ERROR(text, ...) \
    mp_raise_msg_varg(&mp_type_ValueError, MP_ERROR_TEXT(text), __VA_ARGS__)

// Raises a pending KeyboardInterrupt, runs scheduled callbacks; whether Python code may have run.
static bool poll(void) {
    #if MICROPY_ENABLE_SCHEDULER
    bool runs = MP_STATE_VM(sched_state) == MP_SCHED_PENDING;
    #else
    bool runs = false;
    #endif
    #ifdef MICROPY_VM_HOOK_LOOP
    MICROPY_VM_HOOK_LOOP
    #endif
    mp_handle_pending(true);
    return runs;
}

#include "micropython.h"

#define ROW(name, least, most) {MP_ROM_QSTR(MP_QSTR_##name), MP_ROM_PTR(&object_##name)},
static const mp_rom_map_elem_t globals_table[] = {
    {MP_ROM_QSTR(MP_QSTR___name__), MP_ROM_QSTR(MP_QSTR__odt)},
    {MP_ROM_QSTR(MP_QSTR_VERSION), MP_ROM_INT(ODT_VERSION)},
    {MP_ROM_QSTR(MP_QSTR_Program), MP_ROM_PTR(&program_type)},
    ODT_ENTRY_POINTS(ROW)
};
static MP_DEFINE_CONST_DICT(globals, globals_table);

const mp_obj_module_t odt_module = {
    .base = {&mp_type_module},
    .globals = (mp_obj_dict_t *)&globals,
};

MP_REGISTER_MODULE(MP_QSTR__odt, odt_module);
