// The module _odt in a file, _odt.mpy, that stock firmware loads (natmod.mk). All of it lies in RAM, so it has what
// every model needs; other kernels are in files of their own (mod_piece.c), which load() imports.

#include "py/dynruntime.h"

#include <stdarg.h>

#ifndef MP_NORETURN // before MicroPython 1.26
#define MP_NORETURN NORETURN
#endif

#include "../table.h"
#include "fast.h"
#include "memory.h"

// tools/mpy_ld.py finds names by reading this file: MP_QSTR_load, MP_QSTR_run, MP_QSTR_crc32,
// MP_QSTR_find_nonfinite, MP_QSTR_draw, MP_QSTR_typecode, MP_QSTR_nbytes, MP_QSTR_count_samples, MP_QSTR_predict.

// Zeroed memory, not static, is what a module may have; the garbage collector searches it.
mp_obj_empty_type_t program_type, piece_type;
mp_obj_t poll_function, bring_function;
uint32_t instructions; // that ran since the last poll, or since Python called
const odt_opcode_t *piece_rows[ODT_PIECES + ODT_FAST_PIECES]; // NULL of one that is not loaded

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

// No function that firmware gives a module looks for Ctrl-C: Python code does, at a jump (natmod.py). That takes some
// 3,800 cycles of an RP2040, more than most instructions of a small model: after every ninth instruction in a row.
static bool poll(void) {
    if (++instructions <= 8) {
        return false;
    }
    instructions = 0;
    mp_obj_t once = mp_const_true;
    mp_call_function_n_kw(poll_function, 1, 0, &once);
    return true;
}

static mp_obj_t set_functions(mp_obj_t poll, mp_obj_t bring) {
    poll_function = poll;
    bring_function = bring;
    return mp_const_none;
}
static MP_DEFINE_CONST_FUN_OBJ_2(object_set_functions, set_functions);

static void bring_piece(mp_obj_t name) {
    mp_call_function_n_kw(bring_function, 1, 0, &name);
}

#define CALLED instructions = 0;
#define PIECE_ROWS piece_rows
#define BRING_PIECE bring_piece
#include "pieces.h"
#include "micropython.h"

mp_obj_t mpy_init(mp_obj_fun_bc_t *self, size_t count, size_t keywords, mp_obj_t *args) {
    MP_DYNRUNTIME_INIT_ENTRY
    program_type.base.type = &mp_type_type;
    program_type.name = MP_QSTR_Program;
    piece_type.base.type = &mp_type_type;
    piece_type.name = MP_QSTR__Piece;
    piece_rows[0] = odt_piece.rows;
    mp_store_global(MP_QSTR__set, MP_OBJ_FROM_PTR(&object_set_functions)); // for natmod.py
    mp_store_global(MP_QSTR__Piece, MP_OBJ_FROM_PTR(&piece_type)); // for pieces
    mp_store_global(MP_QSTR__add, MP_OBJ_FROM_PTR(&object_add_piece));
    mp_store_global(MP_QSTR_VERSION, MP_OBJ_NEW_SMALL_INT(ODT_VERSION));
    mp_store_global(MP_QSTR_Program, MP_OBJ_FROM_PTR(&program_type));
    #define STORE(name, least, most) \
    mp_store_global(MP_QSTR_##name, MP_OBJ_FROM_PTR(&object_##name));
    ODT_ENTRY_POINTS(STORE)
    #undef STORE
    MP_DYNRUNTIME_INIT_EXIT
}
