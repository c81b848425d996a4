// The entry points for MicroPython: arguments checked, then native/. run() allocates nothing.
//
// Included by mod_odt.c, compiled into a firmware, and by mod_mpy.c, loaded from a file. Before it
// they define, each in its own way:
//
//     PROGRAM_TYPE                     the type of a Program
//     RAISE_VALUE_ERROR(text, ...)     raises ValueError with a formatted text
//     bool poll(void)                  lets Ctrl-C and callbacks in; whether Python code may have run
//
// and may define RUNNING(words, sequence, regions), which notes what run() is about to run.

#ifndef ODT_MICROPYTHON_H
#define ODT_MICROPYTHON_H

#include "../odt.h"
#include "../opcodes.h"
#include "entry_points.h"

typedef struct {
    mp_obj_base_t base;
    mp_obj_t code; // bytes, which stay as they are; kept from the garbage collector
    const int32_t *words;
} program_t;

static MP_NORETURN void raise_fault(int error, const odt_fault_t *f) {
    switch (error) {
        #define FAULT(code, text, ...) \
        case code: \
            RAISE_VALUE_ERROR(text, __VA_ARGS__);
        ODT_FAULTS(FAULT)
        #undef FAULT
    }
    mp_raise_ValueError(NULL);
}

static mp_obj_t entry_load(size_t count, const mp_obj_t *args) {
    (void)count;
    size_t bytes;
    odt_fault_t fault;
    if (mp_obj_get_type(args[0]) != &mp_type_bytes) {
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
    program_t *program = mp_obj_malloc(program_t, PROGRAM_TYPE);
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
            RAISE_VALUE_ERROR("region %s has %d bytes, program needs %d", names[i],
                (int)info.len, (int)needs);
        }
        if (needs && ODT_REGION_IS_ALIGNED(i) && (uintptr_t)info.buf % 4) {
            RAISE_VALUE_ERROR("region %s is not aligned to 4 bytes", names[i]);
        }
        regions[i].data = info.buf;
        regions[i].bytes = info.len;
    }
    int shared = odt_shared_region(words, regions);
    if (shared) {
        RAISE_VALUE_ERROR("region %s has memory of one that is written", names[shared]);
    }
}

static mp_obj_t entry_run(size_t count, const mp_obj_t *args) {
    odt_region_t regions[ODT_REGIONS];
    if (mp_obj_get_type(args[0]) != PROGRAM_TYPE) {
        mp_raise_TypeError(MP_ERROR_TEXT("expected a Program from load()"));
    }
    const int32_t *words = ((program_t *)MP_OBJ_TO_PTR(args[0]))->words;
    mp_int_t pc = mp_obj_get_int(args[2]), stop = mp_obj_get_int(args[3]);
    if (pc < 0 || pc > stop || !odt_is_boundary(words, (size_t)pc)
        || !odt_is_boundary(words, (size_t)stop)) {
        RAISE_VALUE_ERROR("words %d to %d are not a run of instructions", (int)pc, (int)stop);
    }
    int32_t rows = count > 4 ? (int32_t)mp_obj_get_int(args[4]) : 0;
    get_regions(words, args[1], regions);
    while (pc < stop) {
        #ifdef RUNNING
        RUNNING(words, args[1], regions)
        #endif
        pc = (mp_int_t)odt_step(words, (size_t)pc, regions, rows);
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

// In these, numbers come first: a number's __int__ may move a buffer.
static mp_obj_t entry_crc32(size_t count, const mp_obj_t *args) {
    uint32_t crc = count > 1 ? (uint32_t)mp_obj_get_int_truncated(args[1]) : 0;
    mp_buffer_info_t info = get_buffer(args[0]);
    return mp_obj_new_int_from_uint(odt_crc32(info.buf, info.len, crc));
}

static mp_obj_t entry_find_nonfinite(size_t count, const mp_obj_t *args) {
    (void)count;
    mp_buffer_info_t info = get_buffer(args[0]);
    return mp_obj_new_int(odt_find_nonfinite(info.buf, info.len / 4));
}

static char element_code(mp_buffer_info_t info) {
    return info.typecode == BYTEARRAY_TYPECODE ? 'B' : (char)info.typecode;
}

static mp_obj_t entry_count_samples(size_t count, const mp_obj_t *args) {
    mp_int_t numbers[4];
    for (size_t i = 0; i < 4; i++) {
        mp_obj_t *kind;
        mp_obj_get_array(args[1], &count, &kind); // anew: a number's __int__ may change a list
        if (count != 4) {
            mp_raise_ValueError(MP_ERROR_TEXT("a kind of samples is 4 numbers"));
        }
        numbers[i] = mp_obj_get_int(kind[i]);
    }
    mp_buffer_info_t info = get_buffer(args[0]);
    if (numbers[0] != element_code(info)) {
        return MP_OBJ_NEW_SMALL_INT(0);
    }
    return mp_obj_new_int_from_uint(odt_count_samples(info.buf, info.len, (int32_t)numbers[1], (int32_t)numbers[2],
        (int32_t)numbers[3]));
}

static mp_obj_t entry_typecode(size_t count, const mp_obj_t *args) {
    (void)count;
    char text = element_code(get_buffer(args[0]));
    return mp_obj_new_str(&text, 1);
}

static mp_obj_t entry_nbytes(size_t count, const mp_obj_t *args) {
    (void)count;
    return mp_obj_new_int_from_uint(get_buffer(args[0]).len);
}

#define OBJECT(name, least, most) \
    static MP_DEFINE_CONST_FUN_OBJ_VAR_BETWEEN(object_##name, least, most, entry_##name);
ODT_ENTRY_POINTS(OBJECT)

#endif
