/* SPDX-License-Identifier: BSD-3-Clause */
#include "python/core/array.h"

#include <string.h>

#include "python/core/errors.h"
#include "python/core/integers.h"

/* The memory of an object that is no NumPy array, as a buffer of bytes. */
struct memory_view {
    PyObject_HEAD;
    struct view view;
    int64_t span; /* number of bytes from the first to the last byte of the elements */
};

/* Exports the buffer of a view to NumPy, for as long as the view is open. */
struct exporter {
    PyObject_HEAD;
    const Py_buffer *buffer;
};

static PyTypeObject *memory_type, *exporter_type;

/* Imported once; references that the module keeps. */
static PyObject *ndarray, *dtype_of_buffer, *dtype_of_interface, *dtype_of_element, *bytes_type;

static void memory_dealloc(struct memory_view *self)
{
    PyTypeObject *type = Py_TYPE((PyObject *)self);

    view_release(&self->view);
    PyObject_Free(self);
    Py_DECREF((PyObject *)type);
}

static int memory_get_buffer(struct memory_view *self, Py_buffer *buffer, int flags)
{
    static uint8_t nothing;

    return PyBuffer_FillInfo(buffer, (PyObject *)self, self->view.data ? self->view.data : &nothing,
                             self->span, self->view.readonly, flags);
}

static PyType_Slot memory_slots[] = {
    {Py_tp_dealloc, memory_dealloc},
    {Py_bf_getbuffer, memory_get_buffer},
    {0, NULL},
};

static PyType_Spec memory_spec = {
    .name = "mli._core._Memory",
    .basicsize = sizeof(struct memory_view),
    .flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_DISALLOW_INSTANTIATION,
    .slots = memory_slots,
};

static void exporter_dealloc(struct exporter *self)
{
    PyTypeObject *type = Py_TYPE((PyObject *)self);

    PyObject_Free(self);
    Py_DECREF((PyObject *)type);
}

/* NumPy reads the type of the owner of a buffer (`obj`), which must not be null. */
static int exporter_get_buffer(struct exporter *self, Py_buffer *buffer, int Py_UNUSED(flags))
{
    *buffer = *self->buffer;
    buffer->obj = Py_NewRef((PyObject *)self);
    buffer->internal = NULL;
    return 0;
}

static PyType_Slot exporter_slots[] = {
    {Py_tp_dealloc, exporter_dealloc},
    {Py_bf_getbuffer, exporter_get_buffer},
    {0, NULL},
};

static PyType_Spec exporter_spec = {
    .name = "mli._core._Exporter",
    .basicsize = sizeof(struct exporter),
    .flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_DISALLOW_INSTANTIATION,
    .slots = exporter_slots,
};

int array_init(void)
{
    ndarray = import_attribute("numpy", "ndarray");
    dtype_of_buffer = import_attribute("mli._arrays", "dtype_of_buffer");
    dtype_of_interface = import_attribute("mli._arrays", "dtype_of_interface");
    dtype_of_element = import_attribute("mli._arrays", "dtype_of_element");
    bytes_type = import_attribute("mli._arrays", "bytes_type");
    memory_type = (PyTypeObject *)PyType_FromSpec(&memory_spec);
    exporter_type = (PyTypeObject *)PyType_FromSpec(&exporter_spec);
    return ndarray && dtype_of_buffer && dtype_of_interface && dtype_of_element && bytes_type &&
                   memory_type && exporter_type
               ? ndarray_init()
               : -1;
}

/* Returns whether an object is a NumPy array. */
static bool array_is(PyObject *object)
{
    return PyObject_TypeCheck(object, (PyTypeObject *)ndarray);
}

/* Returns the element type that the protocol of a view has given. */
static PyObject *dtype_given(struct view *view)
{
    struct exporter *exporter;
    PyObject *dtype;

    if (view->dtype)
        return Py_NewRef(view->dtype);
    if (view->managed) {
        const struct dlpack_tensor *tensor = &view->managed->tensor;

        return PyObject_CallFunction(dtype_of_element, "iii", (int)tensor->code, (int)tensor->bits,
                                     (int)tensor->lanes);
    }
    if (view->owner)
        return PyObject_CallFunctionObjArgs(dtype_of_interface, PyTuple_GetItem(view->owner, 1),
                                            NULL);
    exporter = PyObject_New(struct exporter, exporter_type);
    if (!exporter)
        return NULL;
    exporter->buffer = &view->buffer;
    dtype = PyObject_CallFunctionObjArgs(dtype_of_buffer, (PyObject *)exporter, NULL);
    Py_DECREF((PyObject *)exporter);
    return dtype;
}

/* Returns the element type of a view. Its size is the element size of the view. */
static PyObject *dtype_of_view(struct view *view)
{
    PyObject *dtype = dtype_given(view);
    PyObject *size = dtype ? PyObject_GetAttrString(dtype, "itemsize") : NULL;
    const long long bytes = size ? PyLong_AsLongLong(size) : -1;

    Py_XDECREF(size);
    if (dtype && bytes == view->size)
        return dtype;
    Py_XDECREF(dtype);
    if (PyErr_Occurred() && !PyErr_ExceptionMatches(PyExc_TypeError) &&
        !PyErr_ExceptionMatches(PyExc_ValueError) && !PyErr_ExceptionMatches(PyExc_RuntimeError))
        return NULL;
    PyErr_Clear(); /* a type that NumPy does not have */
    return PyObject_CallFunction(bytes_type, "L", (long long)view->size);
}

static int64_t span_of(const struct view *view)
{
    int64_t span = view->size;

    for (uint32_t i = 0; i < view->rank; i++) {
        if (view->shape[i] == 0)
            return 0;
        span += (view->shape[i] - 1) * view->step[i];
    }
    return span;
}

/* Takes ownership of the view. */
static PyObject *array_over(struct view *view)
{
    struct memory_view *memory = PyObject_New(struct memory_view, memory_type);
    PyObject *dtype, *shape, *strides, *array = NULL;

    if (!memory) {
        view_release(view);
        return NULL;
    }
    memory->view = *view;
    memory->span = span_of(view);
    dtype = dtype_of_view(&memory->view);
    shape = tuple_of_integers(view->shape, view->rank);
    strides = tuple_of_integers(view->step, view->rank);
    if (dtype && shape && strides)
        array =
            PyObject_CallFunction(ndarray, "OOOiO", shape, dtype, (PyObject *)memory, 0, strides);
    Py_XDECREF(strides);
    Py_XDECREF(shape);
    Py_XDECREF(dtype);
    Py_DECREF((PyObject *)memory);
    return array;
}

PyObject *array_of(PyObject *object, const char *name)
{
    struct view view;

    if (array_is(object))
        return Py_NewRef(object);
    return view_open(&view, object, name) ? NULL : array_over(&view);
}

PyObject *array_dtype(PyObject *object, struct view *view)
{
    return array_is(object) ? ndarray_dtype(object) : dtype_of_view(view);
}

/* Returns whether elements are plain bytes without a type (numpy.void without fields). */
static bool is_raw(PyObject *dtype)
{
    PyObject *kind = PyObject_GetAttrString(dtype, "kind");
    PyObject *fields = PyObject_GetAttrString(dtype, "fields");
    const bool raw = kind && fields == Py_None && PyUnicode_CompareWithASCIIString(kind, "V") == 0;

    Py_XDECREF(fields);
    Py_XDECREF(kind);
    return raw;
}

static bool dtypes_match(PyObject *a, struct view *a_view, PyObject *b, struct view *b_view)
{
    PyObject *a_dtype = array_dtype(a, a_view);
    PyObject *b_dtype = a_dtype ? array_dtype(b, b_view) : NULL;
    const bool match = a_dtype && b_dtype &&
                       (PyObject_RichCompareBool(a_dtype, b_dtype, Py_EQ) > 0 || is_raw(a_dtype) ||
                        is_raw(b_dtype));

    Py_XDECREF(b_dtype);
    Py_XDECREF(a_dtype);
    PyErr_Clear();
    return match;
}

static bool has_type(const struct view *view)
{
    return view->dtype || view->format[0];
}

bool array_types_match(PyObject *a, struct view *a_view, PyObject *b, struct view *b_view)
{
    if (a_view->dtype && a_view->dtype == b_view->dtype)
        return true;
    if (a_view->format[0] && strcmp(a_view->format, b_view->format) == 0)
        return true;
    if ((!has_type(a_view) || !has_type(b_view)) && !(array_is(a) && array_is(b)))
        return true; /* a type that this function does not know */
    return dtypes_match(a, a_view, b, b_view);
}
