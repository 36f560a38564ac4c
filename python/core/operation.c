/* SPDX-License-Identifier: BSD-3-Clause */
#include "python/core/operation.h"

#include <stdio.h>
#include <string.h>
#include <time.h>

#include "python/core/array.h"
#include "python/core/errors.h"

enum {
    BYTES_WITH_GIL = 32 * 1024, /* moved in about 1 us: releasing the GIL would take as long */
};

/* Imported once; references that the module keeps. */
static PyObject *empty, *dtype_word;

int operation_init(void)
{
    PyObject *numpy = PyImport_ImportModule("numpy");

    if (numpy)
        empty = PyObject_GetAttrString(numpy, "empty");
    Py_XDECREF(numpy);
    dtype_word = PyUnicode_InternFromString("dtype");
    return empty && dtype_word ? array_init() : -1;
}

/* Arguments */

enum { NAMES = 7 };

static const struct {
    const char *name;
    size_t at;
} keywords[NAMES] = {
    {"pad", offsetof(struct arguments, pad)},
    {"slice", offsetof(struct arguments, slice)},
    {"step", offsetof(struct arguments, step)},
    {"perm", offsetof(struct arguments, perm)},
    {"out", offsetof(struct arguments, out)},
    {"at", offsetof(struct arguments, at)},
    {"channels", offsetof(struct arguments, channels)},
};

/* Returns the member for a keyword, or null. */
static PyObject **member_named(struct arguments *arguments, PyObject *name)
{
    static PyObject *interned[NAMES];

    for (size_t i = 0; i < NAMES; i++) {
        if (!interned[i])
            interned[i] = PyUnicode_InternFromString(keywords[i].name);
        if (name == interned[i])
            return (PyObject **)(void *)((char *)arguments + keywords[i].at);
    }
    for (size_t i = 0; i < NAMES; i++) {
        if (PyUnicode_CompareWithASCIIString(name, keywords[i].name) == 0)
            return (PyObject **)(void *)((char *)arguments + keywords[i].at);
    }
    return NULL;
}

int arguments_read(struct arguments *arguments, const char *function, PyObject *const *values,
                   Py_ssize_t count, PyObject *names)
{
    const Py_ssize_t named = names ? PyTuple_Size(names) : 0;

    memset(arguments, 0, sizeof(*arguments));
    if (count > 1) {
        PyErr_Format(PyExc_TypeError, "%s() takes 1 positional argument, src; %zd were given",
                     function, count);
        return -1;
    }
    arguments->src = count == 1 ? values[0] : NULL;
    for (Py_ssize_t i = 0; i < named; i++) {
        PyObject *name = PyTuple_GetItem(names, i);
        PyObject **member = member_named(arguments, name);

        if (!member && PyUnicode_CompareWithASCIIString(name, "src") == 0 && !arguments->src)
            member = &arguments->src;
        if (!member) {
            PyErr_Format(PyExc_TypeError, "%s() got an unexpected keyword argument %R", function,
                         name);
            return -1;
        }
        *member = values[count + i] == Py_None ? NULL : values[count + i];
    }
    if (arguments->src)
        return 0;
    PyErr_Format(PyExc_TypeError, "%s() needs the argument src", function);
    return -1;
}

/* The result */

PyObject *tuple_of_integers(const int64_t *number, uint32_t count)
{
    PyObject *tuple = PyTuple_New(count);

    for (uint32_t i = 0; tuple && i < count; i++) {
        PyObject *item = PyLong_FromLongLong(number[i]);

        if (!item || PyTuple_SetItem(tuple, i, item) < 0)
            Py_CLEAR(tuple);
    }
    return tuple;
}

/* Returns a new, packed array for the result of a move. */
static PyObject *create_result(struct operation *operation, PyObject *src)
{
    const struct window *window = &operation->window;
    PyObject *shape = tuple_of_integers(window->shape, window->result_rank);
    PyObject *dtype = NULL, *array = NULL;

    if (!shape)
        return NULL;
    dtype = array_is(src) ? PyObject_GetAttr(src, dtype_word) : array_dtype(src, &operation->src);
    if (dtype)
        array = PyObject_CallFunctionObjArgs(empty, shape, dtype, NULL);
    Py_XDECREF(dtype);
    if (!array && PyErr_ExceptionMatches(PyExc_ValueError)) { /* NumPy: 2^63 bytes or more */
        PyErr_Clear();
        raise_refused(MLI_STATUS_NOT_SUPPORTED, "", shape,
                      "the shape of the result must be below 2^63 bytes");
    }
    Py_DECREF(shape);
    return array;
}

static int refuse_out(mli_status status, const char *text)
{
    raise_refused(status, "out", NULL, "%s", text);
    return -1;
}

static int refuse_types(struct operation *operation, PyObject *src, PyObject *out)
{
    PyObject *given = array_dtype(out, &operation->dst);
    PyObject *required = given ? array_dtype(src, &operation->src) : NULL;

    if (required)
        raise_refused(MLI_STATUS_TYPE_MISMATCH, "out", given, "%R is required, as in src",
                      required);
    Py_XDECREF(given);
    Py_XDECREF(required);
    return -1;
}

/* Checks `out`, or the new array in its place, without its shape. */
static int check_out(struct operation *operation, PyObject *src, PyObject *out)
{
    if (operation->dst.readonly)
        return refuse_out(MLI_STATUS_BAD_TENSOR, "a writable array is required");
    if (operation->dst.size != operation->src.size ||
        !array_types_match(src, &operation->src, out, &operation->dst))
        return refuse_types(operation, src, out);
    return 0;
}

static int refuse_shape(const struct operation *operation, const int64_t *at)
{
    const struct window *window = &operation->window;
    PyObject *shape = tuple_of_integers(operation->dst.shape, operation->dst.rank);
    PyObject *result = tuple_of_integers(window->shape, window->result_rank);

    if (shape && result)
        raise_refused(MLI_STATUS_SHAPE_MISMATCH, "out", shape,
                      at ? "the shape must have room for %R at the offsets `at`"
                         : "the shape %R is required (or give `at`, to write a part)",
                      result);
    Py_XDECREF(shape);
    Py_XDECREF(result);
    return -1;
}

/* Reads `at`, the offsets of the result in `out`. */
static int read_offsets(const struct operation *operation, PyObject *object, int64_t *at)
{
    const uint32_t rank = operation->window.result_rank;
    PyObject *tuple = is_integer(object)
                          ? NULL
                          : tuple_of(object, "at", -1, "an integer, or one for each dimension");
    int status = !tuple && PyErr_Occurred() ? -1 : 0;

    if (tuple && PyTuple_Size(tuple) != (Py_ssize_t)rank) {
        raise_refused(MLI_STATUS_BAD_FUNC_CFG, "at", object,
                      "an integer, or %d integers are required", (int)rank);
        status = -1;
    }
    for (uint32_t i = 0; i < rank && status == 0; i++) {
        status = read_integer(tuple ? PyTuple_GetItem(tuple, i) : object, "at",
                              tuple ? (Py_ssize_t)i : -1, &at[i]);
        if (status == 0 && at[i] < 0) {
            raise_refused(MLI_STATUS_BAD_FUNC_CFG, "at", object, "offsets from 0 on are allowed");
            status = -1;
        }
    }
    Py_XDECREF(tuple);
    return status;
}

/* Checks the shape of the result, and adds the place of its first element to *offset. */
static int place(struct operation *operation, PyObject *at_object, int64_t *offset)
{
    const struct window *window = &operation->window;
    const struct view *dst = &operation->dst;
    int64_t *at = operation->at;

    memset(operation->at, 0, sizeof(operation->at));
    if (at_object && read_offsets(operation, at_object, at))
        return -1;
    if (dst->rank != window->result_rank)
        return refuse_shape(operation, at_object ? at : NULL);
    for (uint32_t i = 0; i < dst->rank; i++) {
        const int64_t room = dst->shape[i] - at[i];

        if (at_object ? window->shape[i] > room : window->shape[i] != room)
            return refuse_shape(operation, at_object ? at : NULL);
        *offset += at[i] * dst->step[i];
    }
    return 0;
}

/* Operations */

/* Builds the only move, or checks that several moves do not interfere. */
static int build_moves(struct operation *operation)
{
    struct move_iterator iterator;

    operation->single = nest_is_single(&operation->nest);
    if (operation->single) {
        move_iterator_init(&iterator, &operation->nest);
        move_iterator_next(&iterator, &operation->move);
        return 0;
    }
    if (nest_is_disjoint(&operation->nest))
        return 0;
    return refuse_out(MLI_STATUS_INCOMPATEBLE_TENSORS,
                      "src and out, or elements of out, overlap or interleave");
}

int operation_check(const struct operation *operation)
{
    mli_status status = MLI_STATUS_OK;

    if (operation->bytes > 0 && operation->single) {
        mli_tensor dst = operation->move.dst;

        status = mli_mov_check(&operation->move.src, &operation->move.cfg, &dst);
    }
    if (status == MLI_STATUS_OK)
        return 0;
    raise_last_error(status);
    return -1;
}

/* Makes a nest of the window and of the place in the destination. */
static int plan(struct operation *operation, PyObject *at)
{
    const struct window *window = &operation->window;
    struct axis axis[NEST_RANK_MAX];
    int64_t src_offset = 0, dst_offset = 0;
    uint32_t axes;

    if (place(operation, at, &dst_offset))
        return -1;
    if (window->empty)
        return 0;
    axes = window_axes(window, &operation->src, axis, &src_offset);
    operation->bytes = operation->src.size;
    for (uint32_t i = 0; i < window->result_rank; i++) {
        axis[i].dst_step = operation->dst.step[i];
        operation->bytes *= window->shape[i]; /* the destination has as many bytes, or more */
    }
    nest_fold(&operation->nest, operation->src.data + src_offset, operation->dst.data + dst_offset,
              (size_t)operation->src.size, axis, axes);
    return build_moves(operation);
}

/* Opens the arrays. Uses the protocol of each object once. */
static int open_arrays(struct operation *operation, const struct arguments *arguments)
{
    PyObject *src = arguments->src;

    if (view_open(&operation->src, src, "src"))
        return -1;
    if (window_read(&operation->window, &operation->src, arguments->pad, arguments->slice,
                    arguments->step, arguments->perm) == 0)
        operation->result =
            arguments->out ? Py_NewRef(arguments->out) : create_result(operation, src);
    if (!operation->result || view_open(&operation->dst, operation->result, "out"))
        return -1;
    return check_out(operation, src, operation->result);
}

int operation_open(struct operation *operation, const struct arguments *arguments)
{
    operation->bytes = 0;
    operation->result = NULL;
    operation->dst.buffer.obj = NULL;
    operation->dst.owner = NULL;
    operation->dst.managed = NULL;
    if (arguments->at && !arguments->out) {
        raise_refused(MLI_STATUS_BAD_FUNC_CFG, "at", arguments->at, "is allowed only with `out`");
        return -1;
    }
    /* view_open() initialises the view of the source, also after an error. */
    if (open_arrays(operation, arguments) == 0 && plan(operation, arguments->at) == 0)
        return 0;
    operation_close(operation);
    return -1;
}

int operation_traverse(const struct operation *operation, visitproc visit, void *arg)
{
    const int status = view_traverse(&operation->src, visit, arg);

    Py_VISIT(operation->result);
    return status ? status : view_traverse(&operation->dst, visit, arg);
}

void operation_clear(struct operation *operation)
{
    operation_close(operation);
    operation->bytes = 0;
    operation->result = Py_NewRef(Py_None);
}

void operation_close(struct operation *operation)
{
    view_release(&operation->src);
    view_release(&operation->dst);
    Py_CLEAR(operation->result);
}

static mli_status run(const struct operation *operation)
{
    struct move_iterator iterator;
    mli_status status = MLI_STATUS_OK;
    struct move move;

    if (operation->single) {
        mli_tensor dst = operation->move.dst;

        return mli_mov_tensor_sync(&operation->move.src, &operation->move.cfg, &dst);
    }
    move_iterator_init(&iterator, &operation->nest);
    while (status == MLI_STATUS_OK && move_iterator_next(&iterator, &move))
        status = mli_mov_tensor_sync(&move.src, &move.cfg, &move.dst);
    return status;
}

int operation_run(const struct operation *operation)
{
    mli_status status;

    if (operation->bytes == 0)
        return 0;
    if (operation->bytes <= BYTES_WITH_GIL) {
        status = run(operation);
    } else {
        PyThreadState *thread = PyEval_SaveThread();

        status = run(operation);
        PyEval_RestoreThread(thread);
    }
    if (status == MLI_STATUS_OK)
        return 0;
    raise_last_error(status);
    return -1;
}

int64_t operation_time(const struct operation *operation, uint32_t count)
{
    PyThreadState *thread = PyEval_SaveThread();
    mli_status status = MLI_STATUS_OK;
    struct timespec start, end;

    clock_gettime(CLOCK_MONOTONIC, &start);
    for (uint32_t i = 0; i < count && status == MLI_STATUS_OK && operation->bytes > 0; i++)
        status = run(operation);
    clock_gettime(CLOCK_MONOTONIC, &end);
    PyEval_RestoreThread(thread);
    if (status == MLI_STATUS_OK)
        return (end.tv_sec - start.tv_sec) * INT64_C(1000000000) + end.tv_nsec - start.tv_nsec;
    raise_last_error(status);
    return -1;
}
