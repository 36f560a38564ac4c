/* SPDX-License-Identifier: BSD-3-Clause */
#include <stddef.h>
#include <string.h>

#include "python/core/errors.h"
#include "python/core/view.h"

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

static const char NEGATIVE_SOURCE[] =
    "strides must not be negative; numpy.ascontiguousarray() makes a copy without negative strides";
static const char NEGATIVE_OUTPUT[] =
    "strides must not be negative; leave `out` away and assign the result: array[...] = result";

/* Checks what all protocols have in common. */
static int check(struct view *view, const char *name)
{
    int64_t end = view->size, span;
    bool empty = false;

    if (view->size < 1)
        return raise_number(MLI_STATUS_NOT_SUPPORTED, name, view->size,
                            "the size of an element must be at least 1 byte");
    for (uint32_t i = 0; i < view->rank; i++)
        empty = empty || view->shape[i] == 0;
    if (!view->data && !empty)
        return raise_refused(MLI_STATUS_BAD_TENSOR, name, NULL,
                             "the address of the elements is null");
    for (uint32_t i = 0; i < view->rank; i++) {
        if (empty || view->shape[i] == 1)
            view->step[i] = 0;
        if (view->step[i] < 0)
            return raise_number(MLI_STATUS_BAD_TENSOR, name, view->step[i], "%s",
                                strcmp(name, "out") == 0 ? NEGATIVE_OUTPUT : NEGATIVE_SOURCE);
        if (view->shape[i] > 1 &&
            (__builtin_mul_overflow(view->shape[i] - 1, view->step[i], &span) ||
             __builtin_add_overflow(end, span, &end)))
            return raise_number(MLI_STATUS_BAD_TENSOR, name, view->step[i],
                                "the strides must be below 2^63 bytes in all");
    }
    return 0;
}

static int check_rank(Py_ssize_t rank, const char *name)
{
    if (rank >= 0 && rank <= NEST_RANK_MAX)
        return 0;
    return raise_number(MLI_STATUS_RANK_MISMATCH, name, (long long)rank,
                        "arrays of at most %d dimensions are allowed", NEST_RANK_MAX);
}

/* Copies a format. Leaves out the mark of the native byte order, and writes all integers as i or
 * I. */
static void copy_format(char out[VIEW_FORMAT_MAX], const char *format)
{
    const bool native = *format == '@' || *format == '=' ||
                        *format == (__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__ ? '<' : '>');

    format += native;
    if (strlen(format) >= VIEW_FORMAT_MAX)
        return;
    strcpy(out, format);
    /* Of two types of one size, like long and long long, NumPy takes either. */
    if (out[0] && !out[1] && strchr("bhilqn", out[0]))
        out[0] = 'i';
    else if (out[0] && !out[1] && strchr("BHILQN", out[0]))
        out[0] = 'I';
}

/* Sets the steps of an array without gaps. Returns whether the shape is possible. */
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
    if (!pack(view))
        return raise_refused(MLI_STATUS_BAD_TENSOR, name, NULL,
                             "the shape must be below 2^63 bytes");
    for (uint32_t i = 0; i < view->rank && buffer->strides; i++)
        view->step[i] = buffer->strides[i];
    return 0;
}

/* Reads the element type from the format of a buffer. */
static int read_format(struct view *view, const char *name)
{
    const char *format = view->buffer.format ? view->buffer.format : "B";

    if (has_objects(format))
        return raise_refused(MLI_STATUS_NOT_SUPPORTED, name, NULL,
                             "elements must be plain bytes, not Python objects");
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
        return 1; /* NumPy has no buffers for some types, like datetime64 and bfloat16 */
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
        if (view->step[i] < 0 || /* never accepted */
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

/* Opens an array by its __array_interface__. Returns 1 if the object does not have one. */
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

/* Returns the capsule of an object, or null: without an exception if it has no __dlpack__. */
static PyObject *capsule_of(PyObject *object)
{
    PyObject *method = PyObject_GetAttrString(object, "__dlpack__"), *capsule;

    if (!method) {
        if (PyErr_ExceptionMatches(PyExc_AttributeError))
            PyErr_Clear();
        return NULL;
    }
    capsule = PyObject_CallObject(method, NULL);
    Py_DECREF(method);
    return capsule;
}

enum { DEVICE_PROCESSOR = 1 }; /* kDLCPU */

/* Code of other libraries, like deleters in Python, must not run with an exception set. */
struct pending {
    PyObject *type, *value, *trace;
};

static struct pending set_exception_aside(void)
{
    struct pending pending;

    PyErr_Fetch(&pending.type, &pending.value, &pending.trace);
    return pending;
}

static void put_exception_back(struct pending pending)
{
    if (PyErr_Occurred())
        PyErr_WriteUnraisable(NULL);
    PyErr_Restore(pending.type, pending.value, pending.trace);
}

/* Drops a capsule that was refused: its destructor calls the deleter. */
static void drop_capsule(PyObject *capsule)
{
    const struct pending pending = set_exception_aside();

    Py_DECREF(capsule);
    put_exception_back(pending);
}

/*
 * Takes the tensor of an object: the caller then releases *managed. Returns 0, 1 if the object has
 * no __dlpack__, or -1 with an exception. Tensors of other devices than the processor are refused.
 */
static int dlpack_take(PyObject *object, const char *name, struct dlpack_managed **managed)
{
    PyObject *capsule = capsule_of(object);
    struct dlpack_managed *found;

    if (!capsule)
        return PyErr_Occurred() ? -1 : 1;
    found = PyCapsule_GetPointer(capsule, "dltensor");
    if (found && found->tensor.device_type != DEVICE_PROCESSOR) {
        raise_number(MLI_STATUS_BAD_TENSOR, name, found->tensor.device_type,
                     "the DLPack device must be the processor's memory (1)");
        found = NULL;
    }
    if (!found || PyCapsule_SetName(capsule, "used_dltensor") < 0) {
        drop_capsule(capsule);
        return -1;
    }
    Py_DECREF(capsule);
    *managed = found;
    return 0;
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
    if (tensor->bits % 8 != 0 || size == 0)
        return raise_number(MLI_STATUS_NOT_SUPPORTED, name, tensor->bits,
                            "elements must be whole bytes, and their bits a multiple of 8");
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
    return raise_refused(MLI_STATUS_BAD_TENSOR, name, NULL,
                         "the shape and the strides must be below 2^63 bytes");
}

/* Raises the exception for an object without memory. `reason` is the error of the buffer protocol,
 * or null. */
static void refuse_object(PyObject *object, const char *name, PyObject *reason)
{
    PyObject *module = PyImport_ImportModule("mli._arrays");
    PyObject *error = module ? PyObject_CallMethod(module, "no_array", "OsO", object, name,
                                                   reason ? reason : Py_None)
                             : NULL;

    raise_exception(error);
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

/* References that the module keeps. */
static PyTypeObject *array_type; /* numpy.ndarray; null: the members are not as above */
static PyTypeObject *scalar_type, *boolean_type; /* numpy.generic, numpy.bool_ */
static PyObject *asarray;

/* NumPy's type codes of booleans and numbers. For each of them NumPy has one dtype object. */
static const char CODES[] = "?bBhHiIlLqQefdgFDG";

enum {
    TYPES = sizeof(CODES) - 1,
    INT16 = 3, /* index of the code 'h' in CODES */
};
static PyObject *dtypes[TYPES];
static int64_t sizes[TYPES];

enum {
    WRITEABLE = 0x400,              /* NPY_ARRAY_WRITEABLE */
    WARN_ON_WRITE = (int)(1u << 31) /* NPY_ARRAY_WARN_ON_WRITE: to be read-only in the future */
};

static bool is_readonly(const struct array_head *array)
{
    return !(array->flags & WRITEABLE) || (array->flags & WARN_ON_WRITE);
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

/*
 * Reads the members of a numpy.ndarray directly. Returns false without an exception if the caller
 * must use a protocol: for other objects, for subclasses, for other element types, and for more
 * than NEST_RANK_MAX dimensions.
 */
static bool ndarray_read(struct view *view, PyObject *object)
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

/*
 * Opens a scalar of NumPy as an array of rank 0 that cannot be written. The buffers of some
 * scalars, like dates, are plain bytes.
 */
static int open_scalar(struct view *view, PyObject *scalar, const char *name)
{
    PyObject *array = PyObject_CallFunctionObjArgs(asarray, scalar, NULL);
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
        status = PyObject_TypeCheck(object, scalar_type) ? open_scalar(view, object, name)
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

static void dlpack_release(struct dlpack_managed *managed)
{
    const struct pending pending = set_exception_aside();

    if (managed->deleter)
        managed->deleter(managed);
    put_exception_back(pending);
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

/* Makes an array over `memory` and checks its members. Returns 0, or -1 with an exception. */
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

PyObject *ndarray_dtype(PyObject *array)
{
    if (array_type && PyObject_TypeCheck(array, array_type))
        return Py_NewRef(((const struct array_head *)array)->dtype);
    return PyObject_GetAttrString(array, "dtype");
}

bool ndarray_is_boolean(PyObject *object)
{
    return Py_TYPE(object) == boolean_type;
}
