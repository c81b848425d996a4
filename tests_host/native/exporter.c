// A CPython module for test_bindings.py: Exporter(buffer, call) is a buffer that first calls `call`, if it is not None,
// and where it is an int, raises that signal, which Python then has not seen yet.

#define PY_SSIZE_T_CLEAN
#include <Python.h>
#include <signal.h>

typedef struct {
    PyObject_HEAD
    PyObject *buffer, *call;
} exporter_t;

static PyObject *exporter_new(PyTypeObject *type, PyObject *args, PyObject *keywords) {
    (void)keywords;
    exporter_t *self = (exporter_t *)type->tp_alloc(type, 0);
    if (self && PyArg_ParseTuple(args, "OO", &self->buffer, &self->call)) {
        Py_INCREF(self->buffer);
        Py_INCREF(self->call);
        return (PyObject *)self;
    }
    return NULL;
}

static void exporter_dealloc(PyObject *object) {
    exporter_t *self = (exporter_t *)object;
    Py_DECREF(self->buffer);
    Py_DECREF(self->call);
    Py_TYPE(object)->tp_free(object);
}

static int exporter_getbuffer(PyObject *object, Py_buffer *view, int flags) {
    exporter_t *self = (exporter_t *)object;
    if (PyLong_Check(self->call)) {
        raise((int)PyLong_AsLong(self->call));
    } else if (self->call != Py_None) {
        PyObject *result = PyObject_CallNoArgs(self->call);
        if (!result) {
            view->obj = NULL;
            return -1;
        }
        Py_DECREF(result);
    }
    return PyObject_GetBuffer(self->buffer, view, flags);
}

static PyBufferProcs procedures = {.bf_getbuffer = exporter_getbuffer};

static PyTypeObject exporter_type = {
    PyVarObject_HEAD_INIT(NULL, 0)
    .tp_name = "exporter.Exporter",
    .tp_basicsize = sizeof(exporter_t),
    .tp_new = exporter_new,
    .tp_dealloc = exporter_dealloc,
    .tp_flags = Py_TPFLAGS_DEFAULT,
    .tp_as_buffer = &procedures,
};

static struct PyModuleDef module = {PyModuleDef_HEAD_INIT, "exporter", NULL, -1, NULL, NULL, NULL, NULL, NULL};

PyMODINIT_FUNC PyInit_exporter(void);
PyMODINIT_FUNC PyInit_exporter(void) {
    PyObject *m = PyType_Ready(&exporter_type) ? NULL : PyModule_Create(&module);
    if (m) {
        Py_INCREF(&exporter_type);
        PyModule_AddObject(m, "Exporter", (PyObject *)&exporter_type);
    }
    return m;
}
