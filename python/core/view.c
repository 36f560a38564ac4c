/* SPDX-License-Identifier: BSD-3-Clause */
#include "python/core/view.h"

#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include "python/core/dlpack.h"
#include "python/core/errors.h"
#include "python/core/ndarray.h"

/* Returns whether a format of the buffer protocol has references to objects. */
static bool has_objects(const char *format)
{
    bool name = false; /* between the colons of a field's name */

    for (; *format; format++) {
        if (*format == ':')
            name = !name;
        else if (*format == 'O' && !name)
            return true;
    }
    return false;
}

static int refuse_objects(const char *name)
{
    raise_refused(MLI_STATUS_NOT_SUPPORTED, name, NULL,
                  "elements must be plain bytes, not Python objects");
    return -1;
}

static bool is_output(const char *name)
{
    return strcmp(name, "out") == 0;
}

static const char NEGATIVE_SOURCE[] =
    "strides must not be negative; numpy.ascontiguousarray() makes a copy without negative strides";
static const char NEGATIVE_OUTPUT[] =
    "strides must not be negative; leave `out` away and assign the result: array[...] = result";

/* Checks what all protocols have in common. */
static int check(struct view *view, const char *name)
{
    int64_t end = view->size, span;
    bool empty = false;

    if (view->size < 1) {
        raise_number(MLI_STATUS_NOT_SUPPORTED, name, view->size,
                     "the size of an element must be at least 1 byte");
        return -1;
    }
    for (uint32_t i = 0; i < view->rank; i++)
        empty = empty || view->shape[i] == 0;
    if (!view->data && !empty) {
        raise_refused(MLI_STATUS_BAD_TENSOR, name, NULL, "the address of the elements is null");
        return -1;
    }
    for (uint32_t i = 0; i < view->rank; i++) {
        if (empty || view->shape[i] == 1)
            view->step[i] = 0;
        if (view->step[i] < 0) {
            raise_number(MLI_STATUS_BAD_TENSOR, name, view->step[i], "%s",
                         is_output(name) ? NEGATIVE_OUTPUT : NEGATIVE_SOURCE);
            return -1;
        }
        if (view->shape[i] > 1 &&
            (__builtin_mul_overflow(view->shape[i] - 1, view->step[i], &span) ||
             __builtin_add_overflow(end, span, &end))) {
            raise_number(MLI_STATUS_BAD_TENSOR, name, view->step[i],
                         "the strides must be below 2^63 bytes in all");
            return -1;
        }
    }
    return 0;
}

static int check_rank(Py_ssize_t rank, const char *name)
{
    if (rank >= 0 && rank <= NEST_RANK_MAX)
        return 0;
    raise_number(MLI_STATUS_RANK_MISMATCH, name, (long long)rank,
                 "arrays of at most %d dimensions are allowed", NEST_RANK_MAX);
    return -1;
}

/* Copies a format without the mark of the native byte order, and integers of any size as i or I. */
static void copy_format(char out[VIEW_FORMAT_MAX], const char *format)
{
    const bool native = *format == '@' || *format == '=' ||
                        *format == (__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__ ? '<' : '>');

    format += native;
    if (strlen(format) >= VIEW_FORMAT_MAX)
        return;
    strcpy(out, format);
    /* Of two types of one size, as long and long long, NumPy takes either. */
    if (out[0] && !out[1] && strchr("bhilqn", out[0]))
        out[0] = 'i';
    else if (out[0] && !out[1] && strchr("BHILQN", out[0]))
        out[0] = 'I';
}

/* Makes the steps those of an array without gaps. Returns whether the shape is possible. */
static bool pack(struct view *view)
{
    int64_t packed = view->size;

    for (uint32_t i = view->rank; i-- > 0;) {
        view->step[i] = packed;
        if (view->shape[i] < 0 || __builtin_mul_overflow(packed, view->shape[i], &packed))
            return false;
    }
    return true;
}

/* Copies shape and strides, which an exporter may leave out, as ctypes does. */
static int copy_layout(struct view *view, const Py_buffer *buffer, const char *name)
{
    view->rank = (uint32_t)buffer->ndim;
    for (uint32_t i = 0; i < view->rank; i++)
        view->shape[i] = buffer->shape ? buffer->shape[i] : buffer->len / buffer->itemsize;
    if (!pack(view)) {
        raise_refused(MLI_STATUS_BAD_TENSOR, name, NULL, "the shape must be below 2^63 bytes");
        return -1;
    }
    for (uint32_t i = 0; i < view->rank && buffer->strides; i++)
        view->step[i] = buffer->strides[i];
    return 0;
}

/* Reads the element type from the format of a buffer. */
static int read_format(struct view *view, const char *name)
{
    const char *format = view->buffer.format ? view->buffer.format : "B";

    if (has_objects(format))
        return refuse_objects(name);
    copy_format(view->format, format);
    return 0;
}

/* The buffer protocol. Returns 1 if the object has none. */
static int open_buffer(struct view *view, PyObject *object, const char *name)
{
    if (!PyObject_CheckBuffer(object))
        return 1;
    if (PyObject_GetBuffer(object, &view->buffer, PyBUF_RECORDS_RO) < 0) {
        view->buffer.obj = NULL;
        if (!PyErr_ExceptionMatches(PyExc_ValueError) && !PyErr_ExceptionMatches(PyExc_BufferError))
            return -1;
        return 1; /* NumPy has no buffers for some types, as datetime64 and bfloat16 */
    }
    const Py_buffer *buffer = &view->buffer;
    if (check_rank(buffer->ndim, name) || read_format(view, name))
        return -1;
    view->data = buffer->buf;
    view->size = buffer->itemsize;
    view->readonly = buffer->readonly;
    if (view->size < 1)
        return 0; /* check() refuses it */
    return copy_layout(view, buffer, name);
}

/* __array_interface__ */

static int interface_refused(const char *name, const char *member)
{
    if (!PyErr_Occurred())
        raise_refused(MLI_STATUS_BAD_TENSOR, name, NULL,
                      "the member %s of __array_interface__ is missing or not valid", member);
    return -1;
}

/* Reads a tuple of at most NEST_RANK_MAX numbers. Returns their count, or -1. */
static Py_ssize_t read_numbers(PyObject *tuple, int64_t *out)
{
    const Py_ssize_t count = tuple && PyTuple_Check(tuple) ? PyTuple_Size(tuple) : -1;

    if (count > NEST_RANK_MAX)
        return count;
    for (Py_ssize_t i = 0; i < count; i++) {
        out[i] = PyLong_AsLongLong(PyTuple_GetItem(tuple, i));
        if (out[i] == -1 && PyErr_Occurred())
            return -1;
    }
    return count;
}

/* Reads the size of elements. Refuses types that NumPy does not have, and references to objects. */
static int read_type(struct view *view, PyObject *dict, const char *name)
{
    PyObject *module = PyImport_ImportModule("mli._arrays");
    PyObject *size =
        module ? PyObject_CallMethod(module, "itemsize_of_interface", "Os", dict, name) : NULL;

    Py_XDECREF(module);
    view->size = size ? PyLong_AsLongLong(size) : -1;
    Py_XDECREF(size);
    return PyErr_Occurred() ? -1 : 0;
}

/* Opens "data" that is an object with a buffer, and checks that it has all elements. */
static int open_data(struct view *view, PyObject *dict, PyObject *data, const char *name)
{
    PyObject *offset_object = PyDict_GetItemString(dict, "offset");
    int64_t offset = offset_object ? PyLong_AsLongLong(offset_object) : 0, end;

    if (PyErr_Occurred() || PyObject_GetBuffer(data, &view->buffer, PyBUF_SIMPLE) < 0) {
        view->buffer.obj = NULL;
        return -1;
    }
    end = offset + view->size;
    for (uint32_t i = 0; i < view->rank; i++) {
        int64_t span;

        if (view->shape[i] == 0)
            end = offset;
        if (view->shape[i] < 1 || end == offset)
            break;
        if (view->step[i] < 0 || /* refused later, or outside */
            __builtin_mul_overflow(view->shape[i] - 1, view->step[i], &span) ||
            __builtin_add_overflow(end, span, &end))
            return interface_refused(name, "strides");
    }
    if (offset < 0 || end > view->buffer.len)
        return interface_refused(name, "data");
    view->data = (uint8_t *)view->buffer.buf + offset;
    view->readonly = view->buffer.readonly;
    return 0;
}

/* Reads "data", (address, read-only) or an object with a buffer. */
static int read_data(struct view *view, PyObject *dict, const char *name)
{
    PyObject *data = PyDict_GetItemString(dict, "data");

    if (data && PyObject_CheckBuffer(data))
        return open_data(view, dict, data, name);
    if (!data || !PyTuple_Check(data) || PyTuple_Size(data) != 2)
        return interface_refused(name, "data");
    view->data = PyLong_AsVoidPtr(PyTuple_GetItem(data, 0));
    view->readonly = PyObject_IsTrue(PyTuple_GetItem(data, 1)) != 0;
    return PyErr_Occurred() ? interface_refused(name, "data") : 0;
}

static int read_interface(struct view *view, PyObject *dict, const char *name)
{
    PyObject *strides = PyDict_GetItemString(dict, "strides");
    const Py_ssize_t rank = read_numbers(PyDict_GetItemString(dict, "shape"), view->shape);

    if (rank < 0)
        return interface_refused(name, "shape");
    if (check_rank(rank, name) || read_type(view, dict, name))
        return -1;
    view->rank = (uint32_t)rank;
    if (!pack(view))
        return interface_refused(name, "shape");
    if (strides && strides != Py_None && read_numbers(strides, view->step) != rank)
        return interface_refused(name, "strides");
    return read_data(view, dict, name);
}

/* Returns 1 if the object has no interface. */
static int open_interface(struct view *view, PyObject *object, const char *name)
{
    PyObject *dict = PyObject_GetAttrString(object, "__array_interface__");
    int status;

    if (!dict) {
        if (!PyErr_ExceptionMatches(PyExc_AttributeError))
            return -1;
        PyErr_Clear();
        return 1;
    }
    if (PyDict_Check(dict)) {
        status = read_interface(view, dict, name);
        if (status == 0)
            view->owner = Py_BuildValue("OO", object, dict); /* the dictionary may own the data */
    } else {
        status = interface_refused(name, "shape");
    }
    Py_DECREF(dict);
    return status || view->owner ? status : -1;
}

/* DLPack. Returns 1 if the object has none. */
static int open_dlpack(struct view *view, PyObject *object, const char *name)
{
    const int found = dlpack_take(object, name, &view->managed);

    if (found)
        return found;
    const struct dlpack_tensor *tensor = &view->managed->tensor;
    const int64_t size = (int64_t)tensor->bits * tensor->lanes / 8;
    bool possible;
    if (check_rank(tensor->rank, name))
        return -1;
    if (tensor->bits % 8 != 0 || size == 0) {
        raise_number(MLI_STATUS_NOT_SUPPORTED, name, tensor->bits,
                     "elements must be whole bytes, and their bits a multiple of 8");
        return -1;
    }
    view->data = (uint8_t *)tensor->data + tensor->byte_offset;
    view->size = size;
    view->rank = (uint32_t)tensor->rank;
    for (uint32_t i = 0; i < view->rank; i++)
        view->shape[i] = tensor->shape[i];
    possible = pack(view);
    for (uint32_t i = 0; i < view->rank && tensor->strides && possible; i++)
        possible = !__builtin_mul_overflow(tensor->strides[i], size, &view->step[i]);
    if (possible)
        return 0;
    raise_refused(MLI_STATUS_BAD_TENSOR, name, NULL,
                  "the shape and the strides must be below 2^63 bytes");
    return -1;
}

/* Raises the exception for an object without memory. `reason`: of the buffer protocol, or null. */
static void refuse_object(PyObject *object, const char *name, PyObject *reason)
{
    PyObject *module = PyImport_ImportModule("mli._arrays");
    PyObject *error = module ? PyObject_CallMethod(module, "no_array", "OsO", object, name,
                                                   reason ? reason : Py_None)
                             : NULL;

    if (error)
        PyErr_SetObject((PyObject *)Py_TYPE(error), error);
    Py_XDECREF(error);
    Py_XDECREF(module);
}

/* Opens an object by the first of its protocols that fits. */
static int open_protocol(struct view *view, PyObject *object, const char *name)
{
    int (*const protocols[])(struct view *, PyObject *,
                             const char *) = {open_buffer, open_interface, open_dlpack};
    PyObject *type, *reason = NULL, *trace;
    int status = 1;

    for (size_t i = 0; i < sizeof(protocols) / sizeof(protocols[0]) && status > 0; i++) {
        status = protocols[i](view, object, name);
        if (status > 0 && PyErr_Occurred()) {
            PyErr_Fetch(&type, &reason, &trace);
            Py_XDECREF(type);
            Py_XDECREF(trace);
        }
    }
    if (status > 0)
        refuse_object(object, name, reason);
    Py_XDECREF(reason);
    return status;
}

/*
 * Opens a scalar of NumPy as an array of rank 0 that cannot be written. The buffers of some
 * scalars, as dates, are plain bytes.
 */
static int open_scalar(struct view *view, PyObject *scalar, const char *name)
{
    PyObject *array = ndarray_of_scalar(scalar);
    int status = array ? 0 : -1;

    if (array && !ndarray_read(view, array))
        status = open_protocol(view, array, name);
    view->readonly = true;
    Py_XDECREF(array);
    return status;
}

int view_open(struct view *view, PyObject *object, const char *name)
{
    int status = 0;

    memset(view, 0, offsetof(struct view, format) + 1);
    view->buffer.obj = NULL;
    if (!ndarray_read(view, object))
        status = ndarray_is_scalar(object) ? open_scalar(view, object, name)
                                           : open_protocol(view, object, name);
    if (status == 0 && check(view, name) == 0)
        return 0;
    view_release(view);
    return -1;
}

int view_traverse(const struct view *view, visitproc visit, void *arg)
{
    Py_VISIT(view->buffer.obj);
    Py_VISIT(view->owner);
    return 0;
}

void view_release(struct view *view)
{
    if (view->buffer.obj)
        PyBuffer_Release(&view->buffer);
    Py_CLEAR(view->owner);
    if (view->managed)
        dlpack_release(view->managed);
    view->managed = NULL;
}
