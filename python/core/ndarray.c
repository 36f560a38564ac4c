/* SPDX-License-Identifier: BSD-3-Clause */
#include "python/core/ndarray.h"

#include <string.h>

#include "python/core/view.h"

/*
 * The first members of NumPy's PyArrayObject, which all versions have had for extensions ("Python
 * types and C-structures" in NumPy's reference). ndarray_init() compares them with the buffer
 * protocol; if they ever change, all arrays are opened by the protocol.
 */
struct array_head {
    PyObject_HEAD;
    uint8_t *data;
    int rank;
    const Py_ssize_t *shape, *strides;
    PyObject *base;
    PyObject *dtype;
    int flags;
};

enum {
    WRITEABLE = 0x400,              /* NPY_ARRAY_WRITEABLE */
    WARN_ON_WRITE = (int)(1u << 31) /* NPY_ARRAY_WARN_ON_WRITE: to be read-only in the future */
};

/* NumPy's type codes of booleans and numbers. For each of them NumPy has one dtype object. */
static const char CODES[] = "?bBhHiIlLqQefdgFDG";

enum {
    TYPES = sizeof(CODES) - 1,
    INT16 = 3, /* the index of 'h' */
};

/* References that the module keeps. */
static PyTypeObject *array_type; /* numpy.ndarray; null: the members are not as above */
static PyObject *dtypes[TYPES];
static int64_t sizes[TYPES];
static PyTypeObject *scalar_type, *boolean_type; /* numpy.generic, numpy.bool_ */
static PyObject *asarray;

static bool is_readonly(const struct array_head *array)
{
    return !(array->flags & WRITEABLE) || (array->flags & WARN_ON_WRITE);
}

/* Returns whether struct array_head and the buffer protocol describe an array alike. */
static bool has_members(PyObject *object)
{
    const struct array_head *array = (const struct array_head *)object;
    PyObject *dtype = PyObject_GetAttrString(object, "dtype");
    Py_buffer buffer;
    bool same;

    if (!dtype || PyObject_GetBuffer(object, &buffer, PyBUF_STRIDED_RO) < 0) {
        Py_XDECREF(dtype);
        return false;
    }
    same =
        array->data == buffer.buf && array->rank == buffer.ndim && array->dtype == dtype &&
        is_readonly(array) == buffer.readonly &&
        memcmp(array->shape, buffer.shape, (size_t)buffer.ndim * sizeof(*buffer.shape)) == 0 &&
        memcmp(array->strides, buffer.strides, (size_t)buffer.ndim * sizeof(*buffer.strides)) == 0;
    PyBuffer_Release(&buffer);
    Py_DECREF(dtype);
    return same;
}

/* Checks the members of an array over the memory of an object. Returns -1 with an exception. */
static int check_members(PyObject *type, PyObject *memory, bool *same)
{
    PyObject *array =
        memory ? PyObject_CallFunction(type, "(ii)OOi(ii)", 2, 3, dtypes[INT16], memory, 2, 16, 4)
               : NULL;

    *same = array && has_members(array);
    Py_XDECREF(array);
    Py_XDECREF(memory);
    return PyErr_Occurred() ? -1 : 0;
}

/* Checks the structure of arrays. Returns 0, or -1 with an exception. */
static int check_structure(PyObject *type)
{
    static const char bytes[64];
    PyObject *size = PyObject_GetAttrString(type, "__basicsize__");
    const Py_ssize_t basic = size ? PyLong_AsSsize_t(size) : -1;
    bool same = false, same_readonly = false;

    Py_XDECREF(size);
    if (basic < (Py_ssize_t)sizeof(struct array_head))
        return PyErr_Occurred() ? -1 : 0;
    if (check_members(type, PyByteArray_FromStringAndSize(bytes, sizeof(bytes)), &same) ||
        check_members(type, PyBytes_FromStringAndSize(bytes, sizeof(bytes)), &same_readonly))
        return -1;
    if (same && same_readonly)
        array_type = (PyTypeObject *)Py_NewRef(type);
    return 0;
}

static int import_dtypes(PyObject *numpy)
{
    for (size_t i = 0; i < TYPES; i++) {
        PyObject *size;

        dtypes[i] = PyObject_CallMethod(numpy, "dtype", "C", (int)CODES[i]);
        size = dtypes[i] ? PyObject_GetAttrString(dtypes[i], "itemsize") : NULL;
        sizes[i] = size ? PyLong_AsLongLong(size) : -1;
        Py_XDECREF(size);
        if (sizes[i] < 0)
            return -1;
    }
    return 0;
}

static int import_functions(PyObject *numpy)
{
    scalar_type = (PyTypeObject *)PyObject_GetAttrString(numpy, "generic");
    boolean_type = scalar_type ? (PyTypeObject *)PyObject_GetAttrString(numpy, "bool_") : NULL;
    asarray = boolean_type ? PyObject_GetAttrString(numpy, "asarray") : NULL;
    return asarray ? 0 : -1;
}

int ndarray_init(void)
{
    PyObject *numpy = PyImport_ImportModule("numpy");
    PyObject *type = numpy ? PyObject_GetAttrString(numpy, "ndarray") : NULL;
    const int status = type && import_functions(numpy) == 0 && import_dtypes(numpy) == 0
                           ? check_structure(type)
                           : -1;

    Py_XDECREF(type);
    Py_XDECREF(numpy);
    return status;
}

static void read_members(struct view *view, const struct array_head *array)
{
    view->data = array->data;
    view->rank = (uint32_t)array->rank;
    view->readonly = is_readonly(array);
    for (uint32_t i = 0; i < view->rank; i++) {
        view->shape[i] = array->shape[i];
        view->step[i] = array->strides[i];
    }
}

bool ndarray_read(struct view *view, PyObject *object)
{
    const struct array_head *array = (const struct array_head *)object;

    if (Py_TYPE(object) != array_type || array->rank > NEST_RANK_MAX)
        return false;
    for (size_t i = 0; i < TYPES; i++) {
        if (dtypes[i] == array->dtype) {
            view->dtype = dtypes[i];
            view->size = sizes[i];
            view->owner = Py_NewRef(object);
            read_members(view, array);
            return true;
        }
    }
    return false;
}

PyObject *ndarray_dtype(PyObject *array)
{
    if (array_type && PyObject_TypeCheck(array, array_type))
        return Py_NewRef(((const struct array_head *)array)->dtype);
    return PyObject_GetAttrString(array, "dtype");
}

bool ndarray_is_scalar(PyObject *object)
{
    return PyObject_TypeCheck(object, scalar_type);
}

PyObject *ndarray_of_scalar(PyObject *scalar)
{
    return PyObject_CallFunctionObjArgs(asarray, scalar, NULL);
}

bool ndarray_is_boolean(PyObject *object)
{
    return Py_TYPE(object) == boolean_type;
}
