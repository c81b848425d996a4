// The CPython extension _odt: arguments checked, then native/. Keeps the GIL, all but a worker (threads.h).

#define PY_SSIZE_T_CLEAN
#include <Python.h>

#include "../calibrate.h"
#include "../odt.h"
#include "../opcodes.h"
#include "../kernels/online/knn.h"
#include "../kernels/online/rls.h"
#include "../threads.h"
#include "entry_points.h"
#include "kept.h"
#include "step.h"

typedef struct {
    PyObject_HEAD
    PyObject *code; // bytes, which stay as they are
    Py_ssize_t start, stop; // words that words_between() found to be a run
    kept_list_t kept; // of the run that predict() makes
    Py_ssize_t kept_start;
} program_t;

static const int32_t *program_words(const program_t *program) {
    return (const int32_t *)(const void *)PyBytes_AS_STRING(program->code);
}

static void program_dealloc(PyObject *self) {
    forget_kept(&((program_t *)self)->kept);
    Py_XDECREF(((program_t *)self)->code);
    Py_TYPE(self)->tp_free(self);
}

static PyTypeObject program_type = {
    PyVarObject_HEAD_INIT(NULL, 0)
    .tp_name = "_odt.Program",
    .tp_basicsize = sizeof(program_t),
    .tp_dealloc = program_dealloc,
    .tp_flags = Py_TPFLAGS_DEFAULT,
    .tp_doc = "A verified program, from load().",
};

static PyObject *raise_fault(int error, const odt_fault_t *f) {
    switch (error) {
        #define FAULT(code, text, ...) \
        case code: \
            return PyErr_Format(PyExc_ValueError, text, __VA_ARGS__);
        ODT_FAULTS(FAULT)
        #undef FAULT
    }
    return PyErr_Format(PyExc_ValueError, "program: error %d", error);
}

// A new reference to bytes that stay as they are: the object itself, or a copy of a read-only buffer, beneath which
// there may be memory that somebody else writes to.
static PyObject *program_bytes(PyObject *object) {
    Py_buffer view;
    if (PyBytes_CheckExact(object)) {
        Py_INCREF(object);
        return object;
    }
    if (PyObject_CheckBuffer(object)) {
        if (PyObject_GetBuffer(object, &view, PyBUF_SIMPLE)) {
            return NULL;
        }
        PyObject *copy = view.readonly ? PyBytes_FromStringAndSize(view.buf, view.len) : NULL;
        int is_written = !view.readonly;
        PyBuffer_Release(&view);
        if (!is_written) {
            return copy;
        }
    }
    return PyErr_Format(PyExc_TypeError, "program must be bytes or a read-only buffer, not %s",
        Py_TYPE(object)->tp_name);
}

static PyObject *entry_load(PyObject *const *args, Py_ssize_t count) {
    (void)count;
    odt_fault_t fault;
    PyObject *code = program_bytes(args[0]);
    if (!code) {
        return NULL;
    }
    Py_ssize_t bytes = PyBytes_GET_SIZE(code);
    if (bytes % 4) {
        Py_DECREF(code);
        return PyErr_Format(PyExc_ValueError, "program: %zd bytes are no whole words", bytes);
    }
    if ((uintptr_t)PyBytes_AS_STRING(code) % 4) {
        Py_DECREF(code);
        return PyErr_Format(PyExc_ValueError, "program: not aligned to 4 bytes");
    }
    int error = odt_verify((const int32_t *)(const void *)PyBytes_AS_STRING(code), (size_t)bytes / 4, &fault);
    if (error) {
        Py_DECREF(code);
        return raise_fault(error, &fault);
    }
    program_t *program = PyObject_New(program_t, &program_type);
    if (program) {
        program->code = code;
        program->start = program->stop = 0;
        program->kept = (kept_list_t) {0};
        program->kept_start = 0;
    } else {
        Py_DECREF(code);
    }
    return (PyObject *)program;
}

// References to a tuple's or list's six items, since code that provides a buffer may change the list; 0 with an
// exception set.
static int get_items(PyObject *sequence, PyObject **items) {
    if (!PyTuple_Check(sequence) && !PyList_Check(sequence)) {
        PyErr_Format(PyExc_TypeError, "regions must be a tuple or a list, not %s",
            Py_TYPE(sequence)->tp_name);
        return 0;
    }
    if (PySequence_Fast_GET_SIZE(sequence) != ODT_REGIONS) {
        PyErr_Format(PyExc_ValueError, "regions: expected %d, got %zd", ODT_REGIONS,
            PySequence_Fast_GET_SIZE(sequence));
        return 0;
    }
    for (int i = 0; i < ODT_REGIONS; i++) {
        items[i] = PySequence_Fast_GET_ITEM(sequence, i);
        Py_INCREF(items[i]);
    }
    return 1;
}

// Fills regions from the items' buffers; 0 with an exception set. The views are held, so that no buffer moves while
// the program runs.
static int get_regions(const int32_t *words, PyObject *const *items, Py_buffer *views, odt_region_t *regions) {
    static const char *const names[] = ODT_REGION_NAMES;
    for (int i = 0; i < ODT_REGIONS; i++) {
        size_t needs = odt_region_bytes(words, (size_t)i);
        if (items[i] != Py_None) {
            int flags = ODT_REGION_IS_WRITTEN(i) && needs ? PyBUF_WRITABLE : PyBUF_SIMPLE;
            if (PyObject_GetBuffer(items[i], &views[i], flags)) {
                return 0;
            }
            regions[i].data = views[i].buf;
            regions[i].bytes = (size_t)views[i].len;
        }
        if (regions[i].bytes < needs) {
            PyErr_Format(PyExc_ValueError, "region %s has %zu bytes, program needs %zu", names[i],
                regions[i].bytes, needs);
            return 0;
        }
        if (needs && ODT_REGION_IS_ALIGNED(i) && (uintptr_t)regions[i].data % 4) {
            PyErr_Format(PyExc_ValueError, "region %s is not aligned to 4 bytes", names[i]);
            return 0;
        }
    }
    int shared = odt_shared_region(words, regions);
    if (shared) {
        PyErr_Format(PyExc_ValueError, "region %s has memory of one that is written", names[shared]);
        return 0;
    }
    return 1;
}

// The words of a Program, of which these two are checked to begin instructions; NULL with an exception set.
static const int32_t *words_between(PyObject *program, Py_ssize_t start, Py_ssize_t stop) {
    if (Py_TYPE(program) != &program_type) {
        PyErr_Format(PyExc_TypeError, "expected a Program from load(), not %s", Py_TYPE(program)->tp_name);
        return NULL;
    }
    program_t *known = (program_t *)program;
    const int32_t *words = program_words(known);
    if (start == known->start && stop == known->stop && stop) {
        return words;
    }
    if (start < 0 || start > stop || !odt_is_boundary(words, (size_t)start) || !odt_is_boundary(words, (size_t)stop)) {
        PyErr_Format(PyExc_ValueError, "words %zd to %zd are not a run of instructions", start, stop);
        return NULL;
    }
    known->start = start;
    known->stop = stop;
    return words;
}

static int run_words(const int32_t *words, Py_ssize_t pc, Py_ssize_t stop, int32_t rows, const odt_region_t *regions) {
    int good = 1;
    while (good && pc < stop) {
        pc = (Py_ssize_t)odt_step(words, (size_t)pc, regions, rows);
        good = PyErr_CheckSignals() == 0;
    }
    return good;
}

// The same of a run that mostly computes with the scales of the run before.
static int run_kept(program_t *program, Py_ssize_t pc, Py_ssize_t stop, int32_t rows, const odt_region_t *regions) {
    const int32_t *words = program_words(program);
    kept_list_t *list = &program->kept;
    if (program->kept_start != pc) {
        forget_kept(list);
        program->kept_start = pc;
    }
    int good = 1;
    for (size_t at = 0; good && pc < stop;) {
        kept_t *kept = kept_at(list, at, words, (size_t)pc);
        at += kept != NULL;
        pc = (Py_ssize_t)(kept ? step_kept(kept, words, regions, rows) : odt_step(words, (size_t)pc, regions, rows));
        good = PyErr_CheckSignals() == 0;
    }
    return good;
}

static void release(PyObject *const *items, Py_buffer *views) {
    for (int i = 0; i < ODT_REGIONS; i++) {
        PyBuffer_Release(&views[i]); // does nothing where there is none
        Py_DECREF(items[i]);
    }
}

static PyObject *entry_run(PyObject *const *args, Py_ssize_t count) {
    Py_buffer views[ODT_REGIONS] = {{0}};
    odt_region_t regions[ODT_REGIONS] = {{0}};
    PyObject *items[ODT_REGIONS];
    Py_ssize_t start = PyLong_AsSsize_t(args[2]), stop = PyLong_AsSsize_t(args[3]);
    long rows = count > 4 ? PyLong_AsLong(args[4]) : 0;
    if (PyErr_Occurred()) {
        return NULL;
    }
    const int32_t *words = words_between(args[0], start, stop);
    if (!words || !get_items(args[1], items)) {
        return NULL;
    }
    int good = get_regions(words, items, views, regions) && run_words(words, start, stop, (int32_t)rows, regions);
    release(items, views);
    if (!good) {
        return NULL;
    }
    Py_RETURN_NONE;
}

// What one instruction is run on.
typedef struct {
    const int32_t *words;
    const odt_region_t *regions;
} run_t;

static int run_one(void *context, size_t pc) {
    run_t *run = context;
    return run_words(run->words, (Py_ssize_t)pc, (Py_ssize_t)pc + 1, 0, run->regions);
}

static PyObject *entry_calibrate(PyObject *const *args, Py_ssize_t count) {
    Py_buffer views[ODT_REGIONS] = {{0}}, scales = {0};
    odt_region_t regions[ODT_REGIONS] = {{0}};
    PyObject *items[ODT_REGIONS];
    Py_ssize_t start = PyLong_AsSsize_t(args[2]), stop = PyLong_AsSsize_t(args[3]);
    int step = count > 5 ? PyObject_IsTrue(args[5]) : 0;
    Py_ssize_t parts = count > 6 ? PyLong_AsSsize_t(args[6]) : 1;
    if (PyErr_Occurred()) {
        return NULL;
    }
    const int32_t *words = words_between(args[0], start, stop);
    if (!words || (args[4] != Py_None && PyObject_GetBuffer(args[4], &scales, PyBUF_WRITABLE))) {
        return NULL;
    }
    int good = (uintptr_t)scales.buf % 4 == 0;
    if (!good) {
        PyErr_SetString(PyExc_ValueError, "scales are not aligned to 4 bytes");
    }
    if (good && (good = get_items(args[1], items)) != 0) {
        run_t run = {words, regions};
        good = !get_regions(words, items, views, regions)
            ? 0
            : odt_calibrate(words, regions, (size_t)start, (size_t)stop, scales.buf, (int32_t)(scales.len / 4),
                parts < 1 ? 1 : (int32_t)parts, step, run_one, &run);
        release(items, views);
    }
    PyBuffer_Release(&scales); // does nothing where there is none
    if (!good) {
        return NULL;
    }
    return PyBool_FromLong(good == 2);
}

static PyObject *entry_crc32(PyObject *const *args, Py_ssize_t count) {
    Py_buffer view;
    unsigned long crc = count > 1 ? PyLong_AsUnsignedLongMask(args[1]) : 0;
    if (PyErr_Occurred() || PyObject_GetBuffer(args[0], &view, PyBUF_SIMPLE)) {
        return NULL;
    }
    crc = odt_crc32(view.buf, (size_t)view.len, (uint32_t)crc);
    PyBuffer_Release(&view);
    return PyLong_FromUnsignedLong(crc);
}

static PyObject *entry_find_nonfinite(PyObject *const *args, Py_ssize_t count) {
    (void)count;
    Py_buffer view;
    if (PyObject_GetBuffer(args[0], &view, PyBUF_SIMPLE)) {
        return NULL;
    }
    Py_ssize_t at = odt_find_nonfinite(view.buf, (size_t)view.len / 4);
    PyBuffer_Release(&view);
    return PyLong_FromSsize_t(at);
}

static PyObject *entry_draw(PyObject *const *args, Py_ssize_t count) {
    (void)count;
    Py_buffer view;
    unsigned long key = PyLong_AsUnsignedLongMask(args[1]);
    unsigned long first = PyErr_Occurred() ? 0 : PyLong_AsUnsignedLongMask(args[2]);
    if (PyErr_Occurred() || PyObject_GetBuffer(args[0], &view, PyBUF_WRITABLE)) {
        return NULL;
    }
    odt_draw(view.buf, (size_t)view.len / 2, (uint32_t)key, (uint32_t)first);
    PyBuffer_Release(&view);
    Py_RETURN_NONE;
}

static PyObject *entry_draw_bytes(PyObject *const *args, Py_ssize_t count) {
    (void)count;
    Py_buffer view;
    Py_ssize_t at = PyLong_AsSsize_t(args[1]), size = PyErr_Occurred() ? 0 : PyLong_AsSsize_t(args[2]);
    unsigned long key = PyErr_Occurred() ? 0 : PyLong_AsUnsignedLongMask(args[3]);
    unsigned long first = PyErr_Occurred() ? 0 : PyLong_AsUnsignedLongMask(args[4]);
    int low = PyErr_Occurred() ? 0 : PyObject_IsTrue(args[5]);
    if (PyErr_Occurred() || PyObject_GetBuffer(args[0], &view, PyBUF_WRITABLE)) {
        return NULL;
    }
    int good = at >= 0 && size >= 0 && at <= view.len && size <= view.len - at;
    if (good) {
        odt_draw_bytes((uint8_t *)view.buf + at, (size_t)size, (uint32_t)key, (uint32_t)first, low);
    }
    PyBuffer_Release(&view);
    if (!good) {
        return PyErr_Format(PyExc_ValueError, "the buffer does not have these bytes");
    }
    Py_RETURN_NONE;
}

// As array's type codes; longer for what is no number.
static const char *element_code(const Py_buffer *view) {
    const char *format = view->format ? view->format : "B";
    if (*format == '@' || *format == '=' || (PY_LITTLE_ENDIAN && *format == '<')) {
        format++;
    }
    return format;
}

// The samples of a buffer that is of that kind, 0 if it is of another; -1 with an exception set.
static Py_ssize_t count_samples(PyObject *buffer, PyObject *kind) {
    int code, format, elements, classes;
    if (!PyTuple_Check(kind)) {
        PyErr_Format(PyExc_TypeError, "a kind of samples is a tuple, not %s", Py_TYPE(kind)->tp_name);
        return -1;
    }
    Py_buffer view;
    if (!PyArg_ParseTuple(kind, "iiii", &code, &format, &elements, &classes)
        || PyObject_GetBuffer(buffer, &view, PyBUF_FORMAT | PyBUF_ND)) {
        return -1;
    }
    const char *found = element_code(&view);
    size_t samples = 0;
    if (*found == code && !found[1]) {
        samples = odt_count_samples(view.buf, (size_t)view.len, format, elements, classes);
    }
    PyBuffer_Release(&view);
    return (Py_ssize_t)samples;
}

static PyObject *entry_count_samples(PyObject *const *args, Py_ssize_t count) {
    (void)count;
    Py_ssize_t samples = count_samples(args[0], args[1]);
    return samples < 0 ? NULL : PyLong_FromSsize_t(samples);
}

static PyObject *entry_step(PyObject *const *args, Py_ssize_t count) {
    (void)count;
    Py_buffer views[ODT_REGIONS] = {{0}};
    odt_region_t regions[ODT_REGIONS] = {{0}};
    PyObject *types[2], *kinds[2], *program, *sequence, *items[ODT_REGIONS];
    Py_ssize_t start, stop, batch;
    long rate = PyLong_AsLong(args[1]);
    if (PyErr_Occurred()) {
        return NULL;
    }
    if (!PyTuple_Check(args[0])) {
        return PyErr_Format(PyExc_TypeError, "a call of step is a tuple, not %s", Py_TYPE(args[0])->tp_name);
    }
    if (!PyArg_ParseTuple(args[0], "OOOOOOnnn", &types[0], &kinds[0], &types[1], &kinds[1], &program, &sequence, &start,
        &stop, &batch)) {
        return NULL;
    }
    const int32_t *words = words_between(program, start, stop);
    if (!words || !get_items(sequence, items)) {
        return NULL;
    }
    Py_ssize_t samples = 0;
    int good = 1;
    if ((PyObject *)Py_TYPE(items[ODT_X_DATA]) == types[0] && (PyObject *)Py_TYPE(items[ODT_Y_DATA]) == types[1]) {
        samples = count_samples(items[ODT_X_DATA], kinds[0]);
        Py_ssize_t labels = samples < 0 ? samples : count_samples(items[ODT_Y_DATA], kinds[1]);
        good = labels >= 0;
        samples = good && samples == labels && samples <= batch ? samples : 0;
    }
    if (samples) {
        good = get_regions(words, items, views, regions);
        if (good) {
            begin_step(regions[ODT_CONTROL].data, (size_t)samples, (int32_t)rate);
            good = run_words(words, start, stop, 0, regions);
        }
    }
    release(items, views);
    return good ? PyLong_FromSsize_t(samples) : NULL;
}

static int samples_are(const Py_buffer *view, int code, int format, int elements, size_t samples) {
    const char *found = element_code(view);
    return *found == code && !found[1]
        && odt_count_samples(view->buf, (size_t)view->len, format, elements, 0) == samples;
}

static PyObject *entry_predict(PyObject *const *args, Py_ssize_t count) {
    Py_buffer views[ODT_REGIONS] = {{0}}, out;
    odt_region_t regions[ODT_REGIONS] = {{0}};
    PyObject *program, *sequence, *items[ODT_REGIONS];
    Py_ssize_t numbers_of[12], position = count > 2 ? PyLong_AsSsize_t(args[2]) : 0;
    if (PyErr_Occurred()) {
        return NULL;
    }
    if (!PyTuple_Check(args[0])) {
        return PyErr_Format(PyExc_TypeError, "a call of predict is a tuple, not %s", Py_TYPE(args[0])->tp_name);
    }
    if (PyTuple_GET_SIZE(args[0]) != 12) {
        return PyErr_Format(PyExc_TypeError, "a call of predict has 12 items, not %zd", PyTuple_GET_SIZE(args[0]));
    }
    program = PyTuple_GET_ITEM(args[0], 0);
    sequence = PyTuple_GET_ITEM(args[0], 1);
    for (int i = 2; i < 12; i++) { // PyArg_ParseTuple() takes as long as a small layer
        numbers_of[i] = PyLong_AsSsize_t(PyTuple_GET_ITEM(args[0], i));
        if (numbers_of[i] == -1 && PyErr_Occurred()) {
            return NULL;
        }
        int is_int = i < 5 || i == 10;
        if (is_int && (int)numbers_of[i] != numbers_of[i]) {
            return PyErr_Format(PyExc_OverflowError, "number %d of a call of predict is too large", i);
        }
    }
    int code = (int)numbers_of[2], format = (int)numbers_of[3], elements = (int)numbers_of[4];
    int zero = (int)numbers_of[10];
    Py_ssize_t start = numbers_of[5], stop = numbers_of[6], rows = numbers_of[7], width = numbers_of[8];
    Py_ssize_t offset = numbers_of[9], scale = numbers_of[11];
    const int32_t *words = words_between(program, start, stop);
    if (!words || !get_items(sequence, items)) {
        return NULL;
    }
    if (PyObject_GetBuffer(args[1], &out, PyBUF_WRITABLE | PyBUF_FORMAT | PyBUF_ND)) {
        for (int i = 0; i < ODT_REGIONS; i++) {
            Py_DECREF(items[i]);
        }
        return NULL;
    }
    int good = get_regions(words, items, views, regions), same = 1;
    const char *found = element_code(&out);
    Py_ssize_t floats = out.len / 4,
               samples = *found == 'f' && !found[1] && width > 0 && floats % width == 0 ? floats / width : 0;
    if (good && count < 3) {
        Py_buffer x;
        good = PyObject_GetBuffer(items[ODT_X_DATA], &x, PyBUF_FORMAT | PyBUF_ND) == 0;
        same = good && samples && samples_are(&x, code, format, elements, (size_t)samples);
        if (good) {
            PyBuffer_Release(&x);
        }
    }
    while (good && same && rows > 0 && position >= 0 && position < samples) {
        Py_ssize_t part = samples - position < rows ? samples - position : rows, numbers = part * width;
        if (count < 3) {
            int32_t *control = (int32_t *)(void *)regions[ODT_CONTROL].data;
            control[ODT_POSITION] = (int32_t)position;
            control[ODT_COUNT] = (int32_t)part;
            control[ODT_SAMPLES] = (int32_t)samples;
            control[ODT_ORDER] = control[ODT_KEY] = 0;
            good = run_kept((program_t *)program, start, stop, (int32_t)(rows > INT32_MAX ? INT32_MAX : rows), regions);
        }
        Py_ssize_t arena = (Py_ssize_t)regions[ODT_ARENA].bytes, state = (Py_ssize_t)regions[ODT_STATE].bytes;
        if (good && (offset < 0 || offset > arena || numbers > (arena - offset) / (scale < 0 ? 4 : 1)
            || (scale >= 0 && (scale > state || state - scale < 4)))) {
            PyErr_SetString(PyExc_ValueError, "outputs lie outside of their region");
            good = 0;
        }
        if (good) {
            odt_floats((uint8_t *)out.buf + 4 * position * width, regions[ODT_ARENA].data + offset, (size_t)numbers,
                zero, scale < 0 ? NULL : regions[ODT_STATE].data + scale);
        }
        position = count < 3 ? position + part : samples;
    }
    PyBuffer_Release(&out);
    release(items, views);
    return good ? PyBool_FromLong(same) : NULL;
}

// The elements of a buffer of one of these typecodes; of any other no bytes, and no NULL. 0 with an exception set where
// something else went wrong.
static int get_elements(PyObject *object, int flags, const char *codes, Py_buffer *view, odt_bytes_t *elements) {
    static uint8_t none;
    *elements = (odt_bytes_t) {&none, 0};
    if (!PyObject_CheckBuffer(object)) {
        return 1;
    }
    if (PyObject_GetBuffer(object, view, flags | PyBUF_FORMAT | PyBUF_ND)) {
        int good = PyErr_ExceptionMatches(PyExc_BufferError) || PyErr_ExceptionMatches(PyExc_ValueError); // with gaps
        if (good) {
            PyErr_Clear();
        }
        return good;
    }
    const char *found = element_code(view);
    if (*found && strchr(codes, *found) && !found[1] && view->len) {
        *elements = (odt_bytes_t) {view->buf, (size_t)view->len};
    }
    return 1;
}

static PyObject *entry_rls(PyObject *const *args, Py_ssize_t count) {
    (void)count;
    Py_buffer views[4] = {{0}};
    odt_bytes_t x, y = {NULL, 0};
    int learn = PyObject_IsTrue(args[4]), done = 0;
    int good = learn >= 0 && PyObject_GetBuffer(args[0], &views[0], PyBUF_WRITABLE) == 0
        && PyObject_GetBuffer(args[1], &views[1], PyBUF_WRITABLE) == 0 && get_elements(args[2], 0, "f", &views[2], &x)
        && (args[3] == Py_None || get_elements(args[3], 0, "f", &views[3], &y));
    if (good) {
        odt_bytes_t state = {views[0].buf, (size_t)views[0].len}, work = {views[1].buf, (size_t)views[1].len};
        done = odt_rls_f32(state, work, x, y, learn);
    }
    for (int i = 0; i < 4; i++) {
        PyBuffer_Release(&views[i]);
    }
    return good ? PyLong_FromLong(done) : NULL;
}

static PyObject *entry_knn(PyObject *const *args, Py_ssize_t count) {
    (void)count;
    Py_buffer views[3] = {{0}};
    odt_bytes_t x = {NULL, 0};
    int32_t label = 0;
    int good = PyObject_GetBuffer(args[0], &views[0], PyBUF_SIMPLE) == 0
        && PyObject_GetBuffer(args[1], &views[1], PyBUF_WRITABLE) == 0
        && (args[2] == Py_None || get_elements(args[2], 0, "fh", &views[2], &x));
    if (good) {
        odt_bytes_t state = {views[0].buf, (size_t)views[0].len}, work = {views[1].buf, (size_t)views[1].len};
        if (x.bytes && views[2].ndim != 1) { // a shape that Python looks at
            x.bytes = 0;
        }
        label = odt_knn_i16(state, work, x, x.bytes && *element_code(&views[2]) == 'f');
    }
    for (int i = 0; i < 3; i++) {
        PyBuffer_Release(&views[i]);
    }
    return good ? PyLong_FromLong(label) : NULL;
}

// What odt.sensors.features computes: out of int16, samples of int16 or raw.
static PyObject *compute_feature(
    PyObject *const *args, int (*kernel)(odt_bytes_t, odt_bytes_t, odt_bytes_t, odt_bytes_t)) {
    Py_buffer views[4] = {{0}};
    odt_bytes_t out, samples;
    int done = 0;
    int good = PyObject_GetBuffer(args[2], &views[2], PyBUF_SIMPLE) == 0
        && PyObject_GetBuffer(args[3], &views[3], PyBUF_WRITABLE) == 0
        && get_elements(args[0], PyBUF_WRITABLE, "h", &views[0], &out)
        && get_elements(args[1], 0, "hB", &views[1], &samples);
    if (good) {
        odt_bytes_t tables = {views[2].buf, (size_t)views[2].len}, work = {views[3].buf, (size_t)views[3].len};
        done = kernel(out, samples, tables, work);
    }
    for (int i = 0; i < 4; i++) {
        PyBuffer_Release(&views[i]);
    }
    return good ? PyLong_FromLong(done) : NULL;
}

#define ODT_FEATURE(name, least, most) \
    int odt_##name##_i16(odt_bytes_t out, odt_bytes_t samples, odt_bytes_t tables, odt_bytes_t work); \
    static PyObject *entry_##name(PyObject *const *args, Py_ssize_t count) { \
        (void)count; \
        return compute_feature(args, odt_##name##_i16); \
    }
ODT_FEATURES_ENTRY_POINTS(ODT_FEATURE)

static PyObject *entry_typecode(PyObject *const *args, Py_ssize_t count) {
    (void)count;
    Py_buffer view;
    if (PyObject_GetBuffer(args[0], &view, PyBUF_FORMAT | PyBUF_ND)) {
        return NULL;
    }
    PyObject *code = PyUnicode_FromString(element_code(&view));
    PyBuffer_Release(&view);
    return code;
}

static PyObject *entry_nbytes(PyObject *const *args, Py_ssize_t count) {
    (void)count;
    Py_buffer view;
    if (PyObject_GetBuffer(args[0], &view, PyBUF_SIMPLE)) {
        return NULL;
    }
    Py_ssize_t bytes = view.len;
    PyBuffer_Release(&view);
    return PyLong_FromSsize_t(bytes);
}

#ifdef ODT_THREADS

#include <pthread.h>

// Who runs a program has the GIL, from a kernel's first part to its last.
int odt_may_split(void) {
    return 1;
}

static PyObject *entry_serve(PyObject *const *args, Py_ssize_t count) {
    (void)count;
    unsigned long number = PyLong_AsUnsignedLong(args[0]);
    if (PyErr_Occurred()) {
        return NULL;
    }
    if (odt_begin((uint32_t)number)) {
        Py_BEGIN_ALLOW_THREADS
        odt_serve((uint32_t)number);
        Py_END_ALLOW_THREADS
    }
    Py_RETURN_NONE;
}

static PyObject *entry_threads(PyObject *const *args, Py_ssize_t count) {
    if (!count) {
        return PyLong_FromLong(odt_threads());
    }
    long threads = PyLong_AsLong(args[0]);
    if (PyErr_Occurred()) {
        return NULL;
    }
    static int has_hook;
    if (!has_hook) { // a process that is forked off has no worker
        has_hook = pthread_atfork(NULL, NULL, odt_forget) == 0;
    }
    return PyLong_FromUnsignedLong(odt_want((int)threads));
}

#endif

// The entry points with their arguments counted.
#define METHOD(name, least, most) \
    static PyObject *method_##name(PyObject *self, PyObject *const *args, Py_ssize_t count) { \
        (void)self; \
        if (count < least || count > most) { \
            return PyErr_Format(PyExc_TypeError, #name "() takes %d to %d arguments, got %zd", \
                least, most, count); \
        } \
        return entry_##name(args, count); \
    }
ODT_ENTRY_POINTS(METHOD)
ODT_WHOLE_ENTRY_POINTS(METHOD)
ODT_ONLINE_ENTRY_POINTS(METHOD)
ODT_FEATURES_ENTRY_POINTS(METHOD)
ODT_THREAD_ENTRY_POINTS(METHOD)

#define ROW(name, least, most) \
    {#name, (PyCFunction)(void (*)(void))method_##name, METH_FASTCALL, NULL},
static PyMethodDef methods[] = {ODT_ENTRY_POINTS(ROW) ODT_WHOLE_ENTRY_POINTS(ROW) ODT_ONLINE_ENTRY_POINTS(ROW)
    ODT_FEATURES_ENTRY_POINTS(ROW) ODT_THREAD_ENTRY_POINTS(ROW) {NULL, NULL, 0, NULL}};

static struct PyModuleDef module = {
    PyModuleDef_HEAD_INIT, "_odt", "The native executor of odt.", -1, methods, NULL, NULL, NULL,
    NULL,
};

PyMODINIT_FUNC PyInit__odt(void);
PyMODINIT_FUNC PyInit__odt(void) {
    if (PyType_Ready(&program_type)) {
        return NULL;
    }
    PyObject *m = PyModule_Create(&module);
    if (!m) {
        return NULL;
    }
    Py_INCREF(&program_type);
    if (PyModule_AddIntConstant(m, "VERSION", ODT_VERSION)
        || PyModule_AddObject(m, "Program", (PyObject *)&program_type)) {
        Py_DECREF(m);
        return NULL;
    }
    return m;
}
