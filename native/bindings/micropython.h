// The entry points for MicroPython: arguments checked, then native/. run() allocates nothing.
//
// Included by mod_odt.c, compiled into a firmware, and by mod_mpy.c, loaded from a file. Before it
// they define, each in its own way:
//
//     PROGRAM_TYPE                     the type of a Program
//     RAISE_VALUE_ERROR(text, ...)     raises ValueError with a formatted text
//     bool poll(void)                  lets Ctrl-C and callbacks in; whether Python code may have run
//
// and may define RUNNING(words, sequence, regions), which notes what run() is about to run, CALLED, which notes that
// Python has called, and BRING(number), which loads the kernels of an instruction or raises an exception.

#ifndef ODT_MICROPYTHON_H
#define ODT_MICROPYTHON_H

#include "../odt.h"
#include "../opcodes.h"
#include "entry_points.h"

typedef struct {
    mp_obj_base_t base;
    mp_obj_t code; // bytes, or a buffer that nothing writes to; kept from the garbage collector
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
    odt_fault_t fault;
    mp_buffer_info_t info, written;
    // What was verified has to stay: bytes, or a view of bytes or of flash, but none of what Python can write to.
    if (mp_obj_get_type(args[0]) == &mp_type_str || !mp_get_buffer(args[0], &info, MP_BUFFER_READ) ||
        mp_get_buffer(args[0], &written, MP_BUFFER_WRITE)) {
        mp_raise_TypeError(MP_ERROR_TEXT("program must be bytes or a read-only buffer"));
    }
    size_t bytes = info.len;
    if (bytes % 4 || (uintptr_t)info.buf % 4) {
        mp_raise_ValueError(MP_ERROR_TEXT("program: not of whole words, aligned to 4 bytes"));
    }
    const int32_t *words = (const int32_t *)info.buf;
    int error = odt_verify(words, bytes / 4, &fault);
    #ifdef BRING
    while (error == ODT_FAULT_PIECE) {
        BRING(fault.opcode);
        error = odt_verify(words, bytes / 4, &fault);
    }
    #endif
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

// The words of a Program, of which these two are checked to begin instructions.
static const int32_t *words_between(mp_obj_t program, mp_int_t start, mp_int_t stop) {
    if (mp_obj_get_type(program) != PROGRAM_TYPE) {
        mp_raise_TypeError(MP_ERROR_TEXT("expected a Program from load()"));
    }
    const int32_t *words = ((program_t *)MP_OBJ_TO_PTR(program))->words;
#ifdef CALLED
    CALLED
#endif
    if (start < 0 || start > stop || !odt_is_boundary(words, (size_t)start) || !odt_is_boundary(words, (size_t)stop)) {
        RAISE_VALUE_ERROR("words %d to %d are not a run of instructions", (int)start, (int)stop);
    }
    return words;
}

// Runs the instruction at *pc, and moves it to the next; whether a callback has run, which may have moved a buffer.
static inline bool run_next(
    const int32_t *words, mp_int_t *pc, int32_t rows, mp_obj_t sequence, odt_region_t *regions) {
#ifdef RUNNING
    RUNNING(words, sequence, regions)
    #endif
    *pc = (mp_int_t)odt_step(words, (size_t)*pc, regions, rows);
    if (!poll()) {
        return false;
    }
    get_regions(words, sequence, regions);
    return true;
}

static void run_words(const int32_t *words, mp_int_t pc, mp_int_t stop, int32_t rows, mp_obj_t sequence,
    odt_region_t *regions) {
    while (pc < stop) {
        run_next(words, &pc, rows, sequence, regions);
    }
}

static mp_obj_t entry_run(size_t count, const mp_obj_t *args) {
    odt_region_t regions[ODT_REGIONS];
    mp_int_t start = mp_obj_get_int(args[2]), stop = mp_obj_get_int(args[3]);
    int32_t rows = count > 4 ? (int32_t)mp_obj_get_int(args[4]) : 0;
    const int32_t *words = words_between(args[0], start, stop);
    get_regions(words, args[1], regions);
    run_words(words, start, stop, rows, args[1], regions);
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

static mp_obj_t entry_draw(size_t count, const mp_obj_t *args) {
    (void)count;
    uint32_t key = (uint32_t)mp_obj_get_int_truncated(args[1]), first = (uint32_t)mp_obj_get_int_truncated(args[2]);
    mp_buffer_info_t info;
    mp_get_buffer_raise(args[0], &info, MP_BUFFER_WRITE);
    odt_draw(info.buf, info.len / 2, key, first);
    return mp_const_none;
}

static char element_code(mp_buffer_info_t info) {
    return info.typecode == BYTEARRAY_TYPECODE ? 'B' : (char)info.typecode;
}

// The samples of a buffer that is of that kind, else 0.
static inline size_t count_samples(mp_obj_t buffer, mp_obj_t kind) {
    mp_int_t numbers[4];
    for (size_t i = 0; i < 4; i++) {
        size_t count;
        mp_obj_t *items;
        mp_obj_get_array(kind, &count, &items); // again: a number's __int__ may change a list
        if (count != 4) {
            mp_raise_ValueError(MP_ERROR_TEXT("a kind of samples is 4 numbers"));
        }
        numbers[i] = mp_obj_get_int(items[i]);
    }
    mp_buffer_info_t info = get_buffer(buffer);
    return numbers[0] != element_code(info) ? 0
        : odt_count_samples(info.buf, info.len, (int32_t)numbers[1], (int32_t)numbers[2], (int32_t)numbers[3]);
}

static mp_obj_t entry_count_samples(size_t count, const mp_obj_t *args) {
    (void)count;
    return mp_obj_new_int_from_uint(count_samples(args[0], args[1]));
}

// Numbers of predict()'s first argument, in their order.
enum { CODE, FORMAT, ELEMENTS, START, STOP, ROWS, WIDTH, OFFSET, ZERO, SCALE, NUMBERS };

// The samples whose outputs fill the array; 0 if it is none of float32 or they are not whole ones.
static size_t samples_of(mp_obj_t out, mp_int_t width, uint8_t **data) {
    mp_buffer_info_t info;
    mp_get_buffer_raise(out, &info, MP_BUFFER_WRITE);
    size_t floats = info.len / 4;
    *data = info.buf;
    return element_code(info) == 'f' && width > 0 && floats % (size_t)width == 0 ? floats / (size_t)width : 0;
}

static mp_obj_t entry_predict(size_t count, const mp_obj_t *args) {
    mp_int_t n[NUMBERS], position = count > 2 ? mp_obj_get_int(args[2]) : 0;
    int puts = count > 2;
    mp_obj_t *call, program = MP_OBJ_NULL, sequence = MP_OBJ_NULL;
    for (size_t i = 0; i < NUMBERS; i++) {
        mp_obj_get_array(args[0], &count, &call); // again: a number's __int__ may change a list
        if (count != 2 + NUMBERS) {
            mp_raise_ValueError(MP_ERROR_TEXT("a call of predict is 12 items"));
        }
        program = call[0];
        sequence = call[1];
        n[i] = mp_obj_get_int(call[2 + i]);
    }
    const int32_t *words = words_between(program, n[START], n[STOP]);
    odt_region_t regions[ODT_REGIONS];
    get_regions(words, sequence, regions);
    uint8_t *data;
    size_t samples = samples_of(args[1], n[WIDTH], &data), unit = n[SCALE] < 0 ? 4 : 1;
    if (!puts) {
        mp_obj_get_array(sequence, &count, &call);
        mp_buffer_info_t info = get_buffer(call[ODT_X_DATA]);
        if (n[CODE] != element_code(info) || !samples || samples != odt_count_samples(info.buf, info.len,
            (int32_t)n[FORMAT], (int32_t)n[ELEMENTS], 0)) {
            return mp_const_false;
        }
    }
    while (position >= 0 && (size_t)position < samples && n[ROWS] > 0) {
        size_t rows = samples - (size_t)position < (size_t)n[ROWS] ? samples - (size_t)position : (size_t)n[ROWS];
        if (!puts) {
            int32_t *control = (int32_t *)(void *)regions[ODT_CONTROL].data;
            control[ODT_POSITION] = (int32_t)position;
            control[ODT_COUNT] = (int32_t)rows;
            control[ODT_SAMPLES] = (int32_t)samples;
            control[ODT_ORDER] = control[ODT_KEY] = 0;
            run_words(words, n[START], n[STOP], (int32_t)n[ROWS], sequence, regions);
        }
        size_t numbers = rows * (size_t)n[WIDTH]; // not more than fill out
        if (samples_of(args[1], n[WIDTH], &data) != samples || n[OFFSET] < 0
            || (size_t)n[OFFSET] > regions[ODT_ARENA].bytes
            || numbers > (regions[ODT_ARENA].bytes - (size_t)n[OFFSET]) / unit
            || (n[SCALE] >= 0
                && ((size_t)n[SCALE] > regions[ODT_STATE].bytes || regions[ODT_STATE].bytes - (size_t)n[SCALE] < 4))) {
            mp_raise_ValueError(MP_ERROR_TEXT("outputs lie outside of their region"));
        }
        odt_floats(data + 4 * (size_t)position * (size_t)n[WIDTH], regions[ODT_ARENA].data + n[OFFSET], numbers,
            (int32_t)n[ZERO], n[SCALE] < 0 ? NULL : regions[ODT_STATE].data + n[SCALE]);
        if (puts) {
            break;
        }
        position += (mp_int_t)rows;
    }
    return mp_const_true;
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
