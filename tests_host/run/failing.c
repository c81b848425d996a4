// A CPython module for test_allocation.py: `fail_at(n)` lets allocation n from now on fail, once;
// `stop()` ends it and returns how many there were.

#define PY_SSIZE_T_CLEAN
#include <Python.h>

static const PyMemAllocatorDomain domains[] = {PYMEM_DOMAIN_MEM, PYMEM_DOMAIN_OBJ};
static PyMemAllocatorEx originals[2];
static long seen, failing;
static unsigned long thread; // pytest-xdist has another one, whose allocations do not count
static int installed;

static int fails(void) {
    return PyThread_get_thread_ident() == thread && ++seen == failing;
}

static void *hook_malloc(void *original, size_t size) {
    PyMemAllocatorEx *to = original;
    return fails() ? NULL : to->malloc(to->ctx, size);
}

static void *hook_calloc(void *original, size_t count, size_t size) {
    PyMemAllocatorEx *to = original;
    return fails() ? NULL : to->calloc(to->ctx, count, size);
}

static void *hook_realloc(void *original, void *data, size_t size) {
    PyMemAllocatorEx *to = original;
    return fails() ? NULL : to->realloc(to->ctx, data, size);
}

static void hook_free(void *original, void *data) {
    PyMemAllocatorEx *to = original;
    to->free(to->ctx, data);
}

static PyObject *fail_at(PyObject *self, PyObject *at) {
    (void)self;
    long number = PyLong_AsLong(at);
    if (PyErr_Occurred()) {
        return NULL;
    }
    for (int i = 0; i < 2 && !installed; i++) {
        PyMemAllocatorEx hook = {&originals[i], hook_malloc, hook_calloc, hook_realloc, hook_free};
        PyMem_GetAllocator(domains[i], &originals[i]);
        PyMem_SetAllocator(domains[i], &hook);
    }
    installed = 1;
    thread = PyThread_get_thread_ident();
    seen = 0;
    failing = number;
    Py_RETURN_NONE;
}

static PyObject *stop(PyObject *self, PyObject *unused) {
    (void)self;
    (void)unused;
    failing = 0;
    long count = seen;
    for (int i = 0; i < 2 && installed; i++) {
        PyMem_SetAllocator(domains[i], &originals[i]);
    }
    installed = 0;
    return PyLong_FromLong(count);
}

static PyMethodDef methods[] = {
    {"fail_at", fail_at, METH_O, NULL},
    {"stop", stop, METH_NOARGS, NULL},
    {NULL, NULL, 0, NULL},
};

static struct PyModuleDef module = {PyModuleDef_HEAD_INIT, "failing", NULL, -1, methods, NULL, NULL, NULL, NULL};

PyMODINIT_FUNC PyInit_failing(void);
PyMODINIT_FUNC PyInit_failing(void) {
    return PyModule_Create(&module);
}
