// The module _odt in a file, _odt.mpy, that stock firmware loads (natmod.mk). All of it lies in RAM.

#include "py/dynruntime.h"

#include <stdarg.h>

#ifndef MP_NORETURN // before MicroPython 1.26
#define MP_NORETURN NORETURN
#endif

// tools/mpy_ld.py finds names by reading this file: MP_QSTR_load, MP_QSTR_run, MP_QSTR_crc32,
// MP_QSTR_find_nonfinite, MP_QSTR_typecode, MP_QSTR_nbytes, MP_QSTR_count_samples, MP_QSTR_predict.

// Zeroed memory, not static, is what a module may have; the garbage collector searches it.
mp_obj_full_type_t program_type;
mp_obj_t poll_function;

#define PROGRAM_TYPE ((const mp_obj_type_t *)&program_type)
#define RAISE_VALUE_ERROR raise_value_error

typedef struct {
    char data[120];
    size_t length;
} text_t;

static void text_append(void *self, const char *data, size_t length) {
    text_t *text = self;
    for (size_t i = 0; i < length && text->length < sizeof(text->data); i++) {
        text->data[text->length++] = data[i];
    }
}

static MP_NORETURN void raise_value_error(const char *format, ...) {
    text_t text = {.length = 0};
    mp_print_t print = {&text, text_append};
    va_list values;
    va_start(values, format);
    mp_vprintf(&print, format, values);
    va_end(values);
    mp_raise_type_arg(&mp_type_ValueError, mp_obj_new_str(text.data, text.length));
}

// No function that firmware gives a module looks for Ctrl-C: Python code does, at a jump (poll.py).
static bool poll(void) {
    mp_obj_t once = mp_const_true;
    mp_call_function_n_kw(poll_function, 1, 0, &once);
    return true;
}

static mp_obj_t set_poll(mp_obj_t function) {
    poll_function = function;
    return mp_const_none;
}
static MP_DEFINE_CONST_FUN_OBJ_1(object_set_poll, set_poll);

#include "micropython.h"

// The compiler calls these; the firmware has them.
void *memcpy(void *to, const void *from, size_t bytes) {
    return mp_fun_table.memmove_(to, from, bytes);
}

void *memmove(void *to, const void *from, size_t bytes) {
    return mp_fun_table.memmove_(to, from, bytes);
}

void *memset(void *to, int value, size_t bytes) {
    return mp_fun_table.memset_(to, value, bytes);
}

mp_obj_t mpy_init(mp_obj_fun_bc_t *self, size_t count, size_t keywords, mp_obj_t *args) {
    MP_DYNRUNTIME_INIT_ENTRY
    program_type.base.type = &mp_type_type;
    program_type.name = MP_QSTR_Program;
    mp_store_global(MP_QSTR__set_poll, MP_OBJ_FROM_PTR(&object_set_poll)); // for poll.py
    mp_store_global(MP_QSTR_VERSION, MP_OBJ_NEW_SMALL_INT(ODT_VERSION));
    mp_store_global(MP_QSTR_Program, MP_OBJ_FROM_PTR(&program_type));
    #define STORE(name, least, most) \
    mp_store_global(MP_QSTR_##name, MP_OBJ_FROM_PTR(&object_##name));
    ODT_ENTRY_POINTS(STORE)
    #undef STORE
    MP_DYNRUNTIME_INIT_EXIT
}
