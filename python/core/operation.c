/* SPDX-License-Identifier: BSD-3-Clause */
#include "python/core/operation.h"

#include <time.h>

#include "python/core/array.h"
#include "python/core/errors.h"
#include "python/core/integers.h"
#include "python/core/recent.h"

enum {
    BYTES_WITH_GIL = 32 * 1024, /* moved in about 1 us: releasing the GIL would take as long */
};

/* The members of the layout that the caller needs. */
enum part {
    ALL,
    MOVE, /* those that operation_run() reads */
};

/* Imported once; references that the module keeps. */
static PyObject *empty;

int operation_init(void)
{
    PyObject *numpy = PyImport_ImportModule("numpy");

    if (numpy)
        empty = PyObject_GetAttrString(numpy, "empty");
    Py_XDECREF(numpy);
    return empty ? array_init() : -1;
}

/* The result */

/* Returns a new, packed array for the result of a move. */
static PyObject *create_result(struct operation *operation, PyObject *src)
{
    const struct window *window = &operation->layout.window;
    PyObject *shape = tuple_of_integers(window->shape, window->result_rank);
    PyObject *dtype = NULL, *array = NULL;

    if (!shape)
        return NULL;
    dtype = array_dtype(src, &operation->src);
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

/* Checks `out` without its shape. */
static int check_out(struct operation *operation, PyObject *src, PyObject *out)
{
    if (operation->dst.readonly)
        return refuse_out(MLI_STATUS_BAD_TENSOR, "a writable array is required");
    if (operation->dst.size != operation->src.size ||
        !array_types_match(src, &operation->src, out, &operation->dst))
        return refuse_types(operation, src, out);
    return 0;
}

/* Operations */

int operation_check(const struct operation *operation)
{
    mli_status status = MLI_STATUS_OK;

    if (operation->layout.bytes > 0 && operation->layout.single) {
        mli_tensor dst = operation->layout.move.dst;

        status = mli_mov_check(&operation->layout.move.src, &operation->layout.move.cfg, &dst);
    }
    if (status == MLI_STATUS_OK)
        return 0;
    raise_last_error(status);
    return -1;
}

/* Takes the array that holds the result, or null after an exception. */
static int open_result(struct operation *operation, PyObject *result)
{
    operation->result = result;
    return result ? view_open(&operation->dst, result, "out") : -1;
}

/* Opens the arrays, the protocol of each object once, and lays out the move, or only its `part`. */
static int open_arrays(struct operation *operation, const struct arguments *arguments,
                       enum part part)
{
    struct layout *layout = &operation->layout;
    const struct view *src = &operation->src, *dst = &operation->dst;
    const struct layout *known;

    if (view_open(&operation->src, arguments->src, "src"))
        return -1;
    if (arguments->out && (open_result(operation, Py_NewRef(arguments->out)) ||
                           check_out(operation, arguments->src, arguments->out)))
        return -1;
    known = recent_find(arguments, src, arguments->out ? dst : NULL);
    if (known && part == MOVE)
        layout_copy_move(layout, known);
    else if (known)
        *layout = *known;
    else if (window_read(&layout->window, src, arguments->pad, arguments->slice, arguments->step,
                         arguments->perm))
        return -1;
    if (!arguments->out && open_result(operation, create_result(operation, arguments->src)))
        return -1;
    if (known) {
        layout_shift(layout, (uintptr_t)src->data, (uintptr_t)dst->data);
        return 0;
    }
    if (layout_place(layout, src, dst, arguments->at))
        return -1;
    recent_keep(layout, arguments, src, dst);
    return 0;
}

static int open_part(struct operation *operation, const struct arguments *arguments, enum part part)
{
    operation->result = NULL;
    operation->dst.buffer.obj = NULL;
    operation->dst.owner = NULL;
    operation->dst.managed = NULL;
    if (arguments->at && !arguments->out) {
        raise_refused(MLI_STATUS_BAD_FUNC_CFG, "at", arguments->at, "is allowed only with `out`");
        return -1;
    }
    /* view_open() initialises the view of the source, also after an error. */
    if (open_arrays(operation, arguments, part) == 0)
        return 0;
    operation_close(operation);
    return -1;
}

int operation_open(struct operation *operation, const struct arguments *arguments)
{
    return open_part(operation, arguments, ALL);
}

int operation_open_once(struct operation *operation, const struct arguments *arguments)
{
    return open_part(operation, arguments, MOVE);
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
    operation->layout.bytes = 0;
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

    if (operation->layout.single) {
        mli_tensor dst = operation->layout.move.dst;

        return mli_mov_tensor_sync(&operation->layout.move.src, &operation->layout.move.cfg, &dst);
    }
    move_iterator_init(&iterator, &operation->layout.nest);
    while (status == MLI_STATUS_OK && move_iterator_next(&iterator, &move))
        status = mli_mov_tensor_sync(&move.src, &move.cfg, &move.dst);
    return status;
}

int operation_run(const struct operation *operation)
{
    mli_status status;

    if (operation->layout.bytes == 0)
        return 0;
    if (operation->layout.bytes <= BYTES_WITH_GIL) {
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
    for (uint32_t i = 0; i < count && status == MLI_STATUS_OK && operation->layout.bytes > 0; i++)
        status = run(operation);
    clock_gettime(CLOCK_MONOTONIC, &end);
    PyEval_RestoreThread(thread);
    if (status == MLI_STATUS_OK)
        return (end.tv_sec - start.tv_sec) * INT64_C(1000000000) + end.tv_nsec - start.tv_nsec;
    raise_last_error(status);
    return -1;
}
