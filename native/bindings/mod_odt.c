// The MicroPython module _odt: arguments checked, then native/. run() allocates nothing.

#include "py/binary.h"
#include "py/obj.h"
#include "py/objstr.h"
#include "py/runtime.h"

#include "../odt.h"
#include "../opcodes.h"
#include "entry_points.h"

#ifndef MP_NORETURN // before MicroPython 1.26
#define MP_NORETURN NORETURN
#endif

typedef struct {
    mp_obj_base_t base;
    mp_obj_t code; // bytes, which stay as they are; kept from the garbage collector
    const int32_t *words;
} program_t;

static MP_DEFINE_CONST_OBJ_TYPE(program_type, MP_QSTR_Program, MP_TYPE_FLAG_NONE);

static MP_NORETURN void raise_fault(int error, const odt_fault_t *f) {
    switch (error) {
        #define FAULT(code, text, ...) \
        case code: \
            mp_raise_msg_varg(&mp_type_ValueError, MP_ERROR_TEXT(text), __VA_ARGS__);
        ODT_FAULTS(FAULT)
        #undef FAULT
    }
    mp_raise_ValueError(NULL);
}

static mp_obj_t entry_load(size_t count, const mp_obj_t *args) {
    (void)count;
    size_t bytes;
    odt_fault_t fault;
    if (!mp_obj_is_type(args[0], &mp_type_bytes)) {
        mp_raise_TypeError(MP_ERROR_TEXT("program must be bytes"));
    }
    const char *data = mp_obj_str_get_data(args[0], &bytes);
    if (bytes % 4 || (uintptr_t)data % 4) {
        mp_raise_ValueError(MP_ERROR_TEXT("program: not of whole words, aligned to 4 bytes"));
    }
    const int32_t *words = (const int32_t *)(const void *)data;
    int error = odt_verify(words, bytes / 4, &fault);
    if (error) {
        raise_fault(error, &fault);
    }
    program_t *program = mp_obj_malloc(program_t, &program_type);
    program->code = args[0];
    program->words = words;
    return MP_OBJ_FROM_PTR(program);
}

static void get_regions(const int32_t *words, mp_obj_t sequence, odt_region_t *regions) {
    static const char *const names[] = ODT_REGION_NAMES;
    size_t count;
    mp_obj_t *buffers;
    mp_obj_get_array(sequence, &count, &buffers);
    if (count != ODT_REGIONS) {
        mp_raise_ValueError(MP_ERROR_TEXT("regions: expected 6"));
    }
    for (size_t i = 0; i < ODT_REGIONS; i++) {
        size_t needs = odt_region_bytes(words, i);
        mp_buffer_info_t info = {.buf = NULL, .len = 0};
        if (buffers[i] != mp_const_none) {
            mp_get_buffer_raise(buffers[i], &info,
                ODT_REGION_IS_WRITTEN(i) && needs ? MP_BUFFER_WRITE : MP_BUFFER_READ);
        }
        if (info.len < needs) {
            mp_raise_msg_varg(&mp_type_ValueError,
                MP_ERROR_TEXT("region %s has %d bytes, program needs %d"), names[i],
                (int)info.len, (int)needs);
        }
        if (needs && ODT_REGION_IS_ALIGNED(i) && (uintptr_t)info.buf % 4) {
            mp_raise_msg_varg(&mp_type_ValueError,
                MP_ERROR_TEXT("region %s is not aligned to 4 bytes"), names[i]);
        }
        regions[i].data = info.buf;
        regions[i].bytes = info.len;
    }
}

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

static mp_obj_t entry_run(size_t count, const mp_obj_t *args) {
    (void)count;
    odt_region_t regions[ODT_REGIONS];
    if (!mp_obj_is_type(args[0], &program_type)) {
        mp_raise_TypeError(MP_ERROR_TEXT("expected a Program from load()"));
    }
    const int32_t *words = ((program_t *)MP_OBJ_TO_PTR(args[0]))->words;
    mp_int_t pc = mp_obj_get_int(args[2]), stop = mp_obj_get_int(args[3]);
    if (pc < 0 || pc > stop || !odt_is_boundary(words, (size_t)pc)
        || !odt_is_boundary(words, (size_t)stop)) {
        mp_raise_msg_varg(&mp_type_ValueError,
            MP_ERROR_TEXT("words %d to %d are not a run of instructions"), (int)pc, (int)stop);
    }
    get_regions(words, args[1], regions);
    while (pc < stop) {
        pc = (mp_int_t)odt_step(words, (size_t)pc, regions);
        if (poll()) { // a callback may have moved a buffer
            get_regions(words, args[1], regions);
        }
    }
    return mp_const_none;
}

static mp_buffer_info_t get_buffer(mp_obj_t buffer) {
    mp_buffer_info_t info;
    mp_get_buffer_raise(buffer, &info, MP_BUFFER_READ);
    return info;
}

static mp_obj_t entry_crc32(size_t count, const mp_obj_t *args) {
    mp_buffer_info_t info = get_buffer(args[0]);
    uint32_t crc = count > 1 ? (uint32_t)mp_obj_get_int_truncated(args[1]) : 0;
    return mp_obj_new_int_from_uint(odt_crc32(info.buf, info.len, crc));
}

static mp_obj_t entry_find_nonfinite(size_t count, const mp_obj_t *args) {
    (void)count;
    mp_buffer_info_t info = get_buffer(args[0]);
    return mp_obj_new_int(odt_find_nonfinite(info.buf, info.len / 4));
}

static mp_obj_t entry_typecode(size_t count, const mp_obj_t *args) {
    (void)count;
    int code = get_buffer(args[0]).typecode;
    char text = code == BYTEARRAY_TYPECODE ? 'B' : (char)code;
    return mp_obj_new_str(&text, 1);
}

static mp_obj_t entry_nbytes(size_t count, const mp_obj_t *args) {
    (void)count;
    return mp_obj_new_int_from_uint(get_buffer(args[0]).len);
}

#define OBJECT(name, least, most) \
    static MP_DEFINE_CONST_FUN_OBJ_VAR_BETWEEN(object_##name, least, most, entry_##name);
ODT_ENTRY_POINTS(OBJECT)

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
