// The module _odt inside a firmware: a MicroPython user C module (micropython.mk, .cmake).

#include "py/binary.h"
#include "py/obj.h"
#include "py/objstr.h"
#include "py/runtime.h"

#ifndef MP_NORETURN // before MicroPython 1.26
#define MP_NORETURN NORETURN
#endif

#include "../threads.h"

static MP_DEFINE_CONST_OBJ_TYPE(program_type, MP_QSTR_Program, MP_TYPE_FLAG_NONE);

#define PROGRAM_TYPE (&program_type)
// Not MP_ERROR_TEXT, which may compress: MicroPython 1.25 has a byte too few to decompress the longest format of a
// firmware.
#define RAISE_VALUE_ERROR(text, ...) \
    mp_raise_msg_varg(&mp_type_ValueError, (mp_rom_error_text_t)(text), __VA_ARGS__)

// Whether a KeyboardInterrupt or a scheduled callback may be pending.
static inline bool is_pending(void) {
    #ifdef MICROPY_VM_HOOK_LOOP
    MICROPY_VM_HOOK_LOOP
    #endif
    #if MICROPY_ENABLE_SCHEDULER
    return MP_STATE_VM(sched_state) == MP_SCHED_PENDING || MP_STATE_THREAD(mp_pending_exception) != MP_OBJ_NULL;
    #else
    return true;
    #endif
}

// Raises the KeyboardInterrupt, runs the callbacks.
static void run_pending(void) {
    odt_join(); // what follows may leave the kernel, and its buffers be freed
    mp_handle_pending(true);
}

// The same if any are pending; returns whether Python code may have run.
static bool poll(void) {
    if (!is_pending()) { // what an interrupt schedules from here on is for the next poll: none may run and not be told
        return false;
    }
    run_pending();
    return true;
}

#include <string.h>

#include "../odt.h"
#include "../table.h"

// What the main thread runs now, innermost: its regions, and where they come from. Callbacks run there.
static struct running {
    const int32_t *words;
    mp_obj_t sequence;
    odt_region_t *regions;
} running;

#define RUNNING(...) \
    if (mp_thread_is_main_thread()) { \
        running = (struct running) {__VA_ARGS__}; \
    }

MP_REGISTER_ROOT_POINTER(void *odt_pieces); // CMake's scan for it knows no definitions of a module's

#if ODT_OUTSIDE

static MP_DEFINE_CONST_OBJ_TYPE(piece_type, MP_QSTR__Piece, MP_TYPE_FLAG_NONE);
// Into a native module's own data, which MicroPython keeps until a soft reset.
static const odt_opcode_t *piece_rows[ODT_PIECES];

// A soft reset frees all objects: this one's end forgets the pieces.
static mp_obj_t forget_pieces(mp_obj_t self) {
    (void)self;
    memset(piece_rows, 0, sizeof(piece_rows));
    MP_STATE_VM(odt_pieces) = NULL;
    return mp_const_none;
}
static MP_DEFINE_CONST_FUN_OBJ_1(object_forget_pieces, forget_pieces);
static const mp_rom_map_elem_t pieces_table[] = {{MP_ROM_QSTR(MP_QSTR___del__), MP_ROM_PTR(&object_forget_pieces)}};
static MP_DEFINE_CONST_DICT(pieces_locals, pieces_table);
static MP_DEFINE_CONST_OBJ_TYPE(pieces_type, MP_QSTR__Piece, MP_TYPE_FLAG_NONE, locals_dict, &pieces_locals);

static void keep_pieces(void) {
    if (!MP_STATE_VM(odt_pieces)) {
        MP_STATE_VM(odt_pieces) = mp_obj_malloc_with_finaliser(mp_obj_base_t, &pieces_type);
    }
}

// By Python, which says what has it where it is missing. CMake's scan for names does not see this part.
static void bring_piece(mp_obj_t name) {
    mp_obj_t module = mp_import_name(qstr_from_str("odt.base.extension"), mp_const_true, MP_OBJ_NEW_SMALL_INT(0));
    mp_call_function_1(mp_load_attr(module, qstr_from_str("bring")), name);
}

#define PIECE_ROWS piece_rows
#define BRING_PIECE bring_piece
#define KEEP_PIECES keep_pieces
#include "pieces.h"

#endif

#include "micropython.h"
#include "../calibrate.h"
#ifndef ODT_WITHOUT_sensors
#include "features.h"
#endif
#ifndef ODT_WITHOUT_online
#include "knn.h"
#include "online.h"
#endif
#include "step.h"

// What one instruction is run on.
typedef struct {
    const int32_t *words;
    mp_obj_t sequence, scales;
    odt_region_t *regions;
    void *place; // of the scales
} run_t;

static mp_buffer_info_t scales_of(mp_obj_t scales) {
    mp_buffer_info_t info = {.buf = NULL, .len = 0};
    if (scales != mp_const_none) {
        mp_get_buffer_raise(scales, &info, MP_BUFFER_WRITE);
    }
    return info;
}

static mp_obj_t raise_moved(void) {
    mp_raise_msg(&mp_type_RuntimeError, MP_ERROR_TEXT("a callback moved a buffer that a step uses"));
    return mp_const_none;
}

static int run_one(void *context, size_t at) {
    run_t *run = context;
    mp_int_t pc = (mp_int_t)at;
    if (!run_next(run->words, &pc, 0, run->sequence, run->regions)) {
        return 1;
    }
    if (scales_of(run->scales).buf != run->place) {
        raise_moved();
    }
    return ODT_RUN_CHANGED;
}

static mp_obj_t entry_calibrate(size_t count, const mp_obj_t *args) {
    odt_region_t regions[ODT_REGIONS];
    mp_int_t start = mp_obj_get_int(args[2]), stop = mp_obj_get_int(args[3]);
    int step = count > 5 && mp_obj_is_true(args[5]);
    mp_int_t parts = count > 6 ? mp_obj_get_int(args[6]) : 1;
    const int32_t *words = words_between(args[0], start, stop);
    mp_buffer_info_t info = scales_of(args[4]);
    if ((uintptr_t)info.buf % 4) {
        mp_raise_ValueError(MP_ERROR_TEXT("scales are not aligned to 4 bytes"));
    }
    get_regions(words, args[1], regions);
    run_t run = {words, args[1], args[4], regions, info.buf};
    int found = odt_calibrate(words, regions, (size_t)start, (size_t)stop, info.buf, (int32_t)(info.len / 4),
        parts < 1 ? 1 : (int32_t)parts, step, run_one, &run);
    return found ? mp_obj_new_bool(found == 2) : raise_moved();
}

// Items of step()'s first argument; those before are x's and y's, a type and a kind each.
enum { STEP_PROGRAM = 4, STEP_REGIONS, STEP_START, STEP_STOP, STEP_BATCH, STEP_ITEMS };

static mp_obj_t entry_step(size_t count, const mp_obj_t *args) {
    static const size_t data[] = {ODT_X_DATA, ODT_Y_DATA};
    mp_int_t rate = mp_obj_get_int(args[1]);
    mp_obj_t *call, *buffers;
    if (!mp_obj_is_type(args[0], &mp_type_tuple)) { // which stays as it is
        mp_raise_TypeError(MP_ERROR_TEXT("a call of step is a tuple"));
    }
    mp_obj_get_array(args[0], &count, &call);
    if (count != STEP_ITEMS) {
        mp_raise_ValueError(MP_ERROR_TEXT("a call of step is 9 items"));
    }
    mp_int_t start = mp_obj_get_int(call[STEP_START]), stop = mp_obj_get_int(call[STEP_STOP]);
    mp_int_t batch = mp_obj_get_int(call[STEP_BATCH]);
    size_t samples[2];
    for (size_t i = 0; i < 2; i++) {
        mp_obj_get_array(call[STEP_REGIONS], &count, &buffers);
        if (count != ODT_REGIONS || MP_OBJ_FROM_PTR(mp_obj_get_type(buffers[data[i]])) != call[2 * i]) {
            return MP_OBJ_NEW_SMALL_INT(0);
        }
        samples[i] = count_samples(buffers[data[i]], call[2 * i + 1]);
    }
    if (samples[0] != samples[1] || batch <= 0 || samples[0] > (size_t)batch || !samples[0]) {
        return MP_OBJ_NEW_SMALL_INT(0);
    }
    const int32_t *words = words_between(call[STEP_PROGRAM], start, stop);
    odt_region_t regions[ODT_REGIONS];
    get_regions(words, call[STEP_REGIONS], regions);
    begin_step(regions[ODT_CONTROL].data, samples[0], (int32_t)rate);
    run_words(words, start, stop, 0, call[STEP_REGIONS], regions);
    return mp_obj_new_int_from_uint(samples[0]);
}

static mp_obj_t entry_draw_bytes(size_t count, const mp_obj_t *args) {
    (void)count;
    mp_int_t at = mp_obj_get_int(args[1]), size = mp_obj_get_int(args[2]);
    uint32_t key = (uint32_t)mp_obj_get_int_truncated(args[3]), first = (uint32_t)mp_obj_get_int_truncated(args[4]);
    int low = mp_obj_is_true(args[5]);
    mp_buffer_info_t info;
    mp_get_buffer_raise(args[0], &info, MP_BUFFER_WRITE);
    if (at < 0 || size < 0 || (size_t)at > info.len || (size_t)size > info.len - (size_t)at) {
        mp_raise_ValueError(MP_ERROR_TEXT("the buffer does not have these bytes"));
    }
    odt_draw_bytes((uint8_t *)info.buf + at, (size_t)size, key, first, low);
    return mp_const_none;
}

ODT_WHOLE_ENTRY_POINTS(OBJECT)
#ifndef ODT_WITHOUT_sensors
ODT_FEATURES_ENTRY_POINTS(ODT_FEATURE)
ODT_FEATURES_ENTRY_POINTS(OBJECT)
#endif
#ifndef ODT_WITHOUT_online
ODT_ONLINE_ENTRY_POINTS(OBJECT)
#endif

#ifdef ODT_WITHOUT
static const MP_DEFINE_STR_OBJ(object_WITHOUT, ODT_WITHOUT); // odt/base/absent.py
#endif

// Runs what is pending within an instruction, which goes on with the pointers that it has; none is to the user's data.
static __attribute__((noinline)) void run_within(void) {
    struct running mine = running;
    run_pending();
    running = mine; // a callback may have run a program of its own
    odt_region_t regions[ODT_REGIONS];
    get_regions(mine.words, mine.sequence, regions);
    for (size_t i = 0; i < ODT_REGIONS; i++) {
        size_t before = (uintptr_t)mine.regions[i].data - (uintptr_t)regions[i].data;
        if (i == ODT_ARENA && before && before < regions[i].bytes
            && mine.regions[i].bytes <= regions[i].bytes - before) {
            continue; // a micro-batch's, of the arenas of all
        }
        if (ODT_REGION_IS_ALIGNED(i) && before) {
            raise_moved();
        }
        mine.regions[i] = regions[i];
    }
}

void odt_poll(void) {
    if (mp_thread_is_main_thread() && is_pending()) {
        run_within();
    }
}

#ifdef ODT_THREADS

int odt_may_split(void) {
    return mp_thread_is_main_thread();
}

static mp_obj_t entry_serve(size_t count, const mp_obj_t *args) {
    (void)count;
    mp_int_t number = mp_obj_get_int(args[0]);
    if (odt_begin((uint32_t)number)) {
        MP_THREAD_GIL_EXIT();
        odt_serve((uint32_t)number);
        MP_THREAD_GIL_ENTER();
    }
    return mp_const_none;
}

static mp_obj_t entry_threads(size_t count, const mp_obj_t *args) {
    if (!count) {
        return MP_OBJ_NEW_SMALL_INT(odt_threads());
    }
    mp_int_t threads = mp_obj_get_int(args[0]);
    if (!odt_may_split()) {
        mp_raise_msg(&mp_type_RuntimeError, MP_ERROR_TEXT("threads are for the main thread to set"));
    }
    return mp_obj_new_int_from_uint(odt_want((int)threads));
}

ODT_THREAD_ENTRY_POINTS(OBJECT)

// At each `import _odt`. After a soft reset, which leaves this module's memory, no worker is there any more.
static mp_obj_t initialise(void) {
    if (odt_may_split()) {
        odt_forget();
    }
    return mp_const_none;
}
static MP_DEFINE_CONST_FUN_OBJ_0(object_initialise, initialise);

#endif

#define ROW(name, least, most) {MP_ROM_QSTR(MP_QSTR_##name), MP_ROM_PTR(&object_##name)},
static const mp_rom_map_elem_t globals_table[] = {
    {MP_ROM_QSTR(MP_QSTR___name__), MP_ROM_QSTR(MP_QSTR__odt)},
    {MP_ROM_QSTR(MP_QSTR_VERSION), MP_ROM_INT(ODT_VERSION)},
    {MP_ROM_QSTR(MP_QSTR_Program), MP_ROM_PTR(&program_type)},
    ODT_ENTRY_POINTS(ROW)
    ODT_WHOLE_ENTRY_POINTS(ROW)
    #ifndef ODT_WITHOUT_online
    ODT_ONLINE_ENTRY_POINTS(ROW)
    #endif
    #ifndef ODT_WITHOUT_sensors
    ODT_FEATURES_ENTRY_POINTS(ROW)
    #endif
    #if defined(ODT_WITHOUT) || defined(NO_QSTR) // CMake's scan for names knows no definitions of a module's
    {MP_ROM_QSTR(MP_QSTR_WITHOUT), MP_ROM_PTR(&object_WITHOUT)},
    #endif
    ODT_THREAD_ENTRY_POINTS(ROW)
    #ifdef ODT_THREADS
    {MP_ROM_QSTR(MP_QSTR___init__), MP_ROM_PTR(&object_initialise)},
    #endif
    #if ODT_OUTSIDE || defined(NO_QSTR)
    {MP_ROM_QSTR(MP_QSTR__Piece), MP_ROM_PTR(&piece_type)},
    {MP_ROM_QSTR(MP_QSTR__add), MP_ROM_PTR(&object_add_piece)},
    #endif
};
static MP_DEFINE_CONST_DICT(globals, globals_table);

const mp_obj_module_t odt_module = {
    .base = {&mp_type_module},
    .globals = (mp_obj_dict_t *)&globals,
};

MP_REGISTER_MODULE(MP_QSTR__odt, odt_module);
