/* SPDX-License-Identifier: BSD-3-Clause */
/* Peer numpy in an embedded interpreter: copyto() from a strided view, fill() for the padding.
 * Only the calls are timed; the views are made beforehand. */
#define PY_SSIZE_T_CLEAN
#include <Python.h>

#include "bench/moves/bench_peer.h"

enum { CALLS = 1 + 2 * CASE_RANK };

struct numpy {
    PyObject *call[CALLS], *args[CALLS];
    int count;
};

static PyObject *ndarray, *copyto;

static bool start(void)
{
    PyConfig config;
    PyStatus status;

    PyConfig_InitIsolatedConfig(&config);
    config.install_signal_handlers = 0;
    /* The path by which Python finds its library; another python3 may be first in PATH. */
    status = PyConfig_SetBytesString(&config, &config.program_name, BENCH_PYTHON);
    if (!PyStatus_Exception(status))
        status = Py_InitializeFromConfig(&config);
    PyConfig_Clear(&config);
    return !PyStatus_Exception(status);
}

static const char *numpy_open(void)
{
    static char text[64];
    PyObject *module, *version;

    if (!start())
        return NULL;
    module = PyImport_ImportModule("numpy");
    if (!module) {
        PyErr_Clear();
        return NULL;
    }
    ndarray = PyObject_GetAttrString(module, "ndarray");
    copyto = PyObject_GetAttrString(module, "copyto");
    version = PyObject_GetAttrString(module, "__version__");
    if (version && PyUnicode_Check(version))
        snprintf(text, sizeof(text), "%s", PyUnicode_AsUTF8(version));
    Py_XDECREF(version);
    Py_DECREF(module);
    if (ndarray && copyto)
        return text;
    PyErr_Clear();
    return NULL;
}

/* Makes a view of `count` elements at `stride`. */
static PyObject *view(const uint8_t *at, const struct box *b, const int64_t *stride, uint32_t elem)
{
    char *memory;
    PyObject *buffer, *shape = PyTuple_New((Py_ssize_t)b->rank),
                      *strides = PyTuple_New((Py_ssize_t)b->rank), *array = NULL;
    Py_ssize_t bytes = elem;

    memcpy(&memory, &at, sizeof(memory));
    for (uint32_t i = 0; shape && strides && i < b->rank; i++) {
        bytes += (Py_ssize_t)((int64_t)(b->count[i] - 1) * stride[i] * elem);
        PyTuple_SET_ITEM(shape, i, PyLong_FromSize_t(b->count[i]));
        PyTuple_SET_ITEM(strides, i, PyLong_FromLongLong(stride[i] * elem));
    }
    buffer = PyMemoryView_FromMemory(memory, bytes, PyBUF_WRITE);
    if (buffer && shape && strides)
        array = PyObject_CallFunction(ndarray, "OsOiO", shape,
                                      elem == 1   ? "u1"
                                      : elem == 2 ? "u2"
                                                  : "u4",
                                      buffer, 0, strides);
    Py_XDECREF(buffer);
    Py_XDECREF(shape);
    Py_XDECREF(strides);
    return array;
}

static void numpy_release(void *state)
{
    struct numpy *n = state;

    for (int i = 0; i < n->count; i++) {
        Py_XDECREF(n->call[i]);
        Py_XDECREF(n->args[i]);
    }
    free(n);
}

static bool add(struct numpy *n, PyObject *call, PyObject *args)
{
    n->call[n->count] = call;
    n->args[n->count++] = args;
    return call && args;
}

static void *numpy_prepare(const struct job *job)
{
    struct box box, borders[2 * CASE_RANK];
    const int count = job_borders(job, borders);
    struct numpy *n = calloc(1, sizeof(*n));
    PyObject *to, *from;
    bool good = n != NULL;

    for (int i = 0; good && i < count; i++) {
        to = view(borders[i].dst, &borders[i], borders[i].to, job->elem);
        good = to && add(n, PyObject_GetAttrString(to, "fill"), Py_BuildValue("(i)", 0));
        Py_XDECREF(to);
    }
    if (good) {
        job_box(job, &box);
        to = view(box.dst, &box, box.to, job->elem);
        from = view(box.src, &box, box.from, job->elem);
        good = to && from && add(n, Py_NewRef(copyto), Py_BuildValue("(OO)", to, from));
        Py_XDECREF(to);
        Py_XDECREF(from);
    }
    if (good)
        return n;
    PyErr_Clear();
    if (n)
        numpy_release(n);
    return NULL;
}

static int numpy_run(void *state)
{
    struct numpy *n = state;

    for (int i = 0; i < n->count; i++) {
        PyObject *result = PyObject_Call(n->call[i], n->args[i], NULL);

        if (!result) {
            PyErr_Clear();
            return -1;
        }
        Py_DECREF(result);
    }
    return 0;
}

const struct peer peer_numpy = {"numpy", numpy_open, numpy_prepare, numpy_run, numpy_release};
