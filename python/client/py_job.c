/* SPDX-License-Identifier: BSD-3-Clause */
#include <Python.h>

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "python/client/py_job.h"
#include "python/core/array.h"
#include "python/core/errors.h"
#include "python/core/integers.h"
#include "python/core/window.h"

enum { LIMIT_MS_MAX = 86400000, PRIORITY_MAX = 1 };

static const char NAME_CHARACTERS[] =
    "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_.:-";

static PyObject *references_of;

static bool is_given(PyObject *object)
{
    return object && object != Py_None;
}

/* Reads a whole number in a range. */
static int read_between(PyObject *object, const char *field, int64_t least, int64_t most,
                        int64_t *number)
{
    if (!is_given(object))
        return 0;
    if (read_integer(object, field, -1, number))
        return -1;
    if (*number >= least && *number <= most)
        return 0;
    return raise_number(MLI_STATUS_ARGUMENT_ERROR, field, *number, "%lld to %lld are allowed",
                        (long long)least, (long long)most);
}

int read_priority(PyObject *object, int32_t *priority)
{
    int64_t number = 0;

    if (read_between(object, "priority", -PRIORITY_MAX, PRIORITY_MAX, &number))
        return -1;
    *priority = (int32_t)number;
    return 0;
}

int read_channels(PyObject *object, uint32_t *channels)
{
    int64_t number = 1;

    if (read_between(object, "channels", 1, MLI_MOV_MAX_CHANNELS, &number))
        return -1;
    *channels = (uint32_t)number;
    return 0;
}

int read_limit_ms(PyObject *object, uint32_t *ms)
{
    double seconds;

    *ms = 0;
    if (!is_given(object))
        return 0;
    seconds = PyFloat_AsDouble(object);
    if (seconds == -1 && PyErr_Occurred())
        return -1;
    if (!(seconds > 0) || seconds > LIMIT_MS_MAX / 1000)
        return raise_refused(MLI_STATUS_ARGUMENT_ERROR, "timeout", object,
                             "seconds above 0, up to %d, are allowed", LIMIT_MS_MAX / 1000);
    *ms = (uint32_t)ceil(seconds * 1000);
    return 0;
}

int read_name(PyObject *object, const struct connection *connection, char *name, size_t size)
{
    Py_ssize_t length;
    const char *text;

    if (!is_given(object)) {
        snprintf(name, size, "py:%x:%llu", (unsigned)connection->token,
                 (unsigned long long)connection->serial + 1);
        return 0;
    }
    text = PyUnicode_Check(object) ? PyUnicode_AsUTF8AndSize(object, &length) : NULL;
    if (!text) {
        if (!PyErr_Occurred())
            PyErr_Format(PyExc_TypeError, "name: a string is required, not %R", object);
        return -1;
    }
    if (length == 0 || (size_t)length >= size || strlen(text) != (size_t)length ||
        strncmp(text, "py:", 3) == 0)
        return raise_refused(MLI_STATUS_ARGUMENT_ERROR, "name", object,
                             "1 to %d characters are allowed; names from 'py:' on are reserved",
                             (int)size - 1);
    if (text[strspn(text, NAME_CHARACTERS)] != '\0')
        return raise_refused(MLI_STATUS_ARGUMENT_ERROR, "name", object,
                             "the characters A-Z a-z 0-9 _ . : - are allowed");
    memcpy(name, text, (size_t)length + 1);
    return 0;
}

/* Reads one reference: the number or the name of a job. */
static int read_reference(PyObject *item, mli_client_ref *ref)
{
    if (PyUnicode_Check(item)) {
        ref->name = PyUnicode_AsUTF8AndSize(item, NULL);
        return ref->name ? 0 : -1;
    }
    ref->number = PyLong_AsUnsignedLongLong(item);
    return PyErr_Occurred() ? -1 : 0;
}

int read_references(struct references *references, struct connection *connection, PyObject *object)
{
    references->count = 0;
    references->owner = NULL;
    if (!is_given(object))
        return 0;
    references->owner = PyObject_CallFunction(references_of, "OO", connection, object);
    if (!references->owner)
        return -1;
    const Py_ssize_t count = PyTuple_Size(references->owner);
    if (count > MLI_CLIENT_AFTER_MAX)
        return raise_number(MLI_STATUS_ARGUMENT_ERROR, "after", (long long)count,
                            "at most %d jobs are allowed", MLI_CLIENT_AFTER_MAX);
    for (Py_ssize_t i = 0; i < count; i++) {
        references->ref[i] = (mli_client_ref){0};
        if (read_reference(PyTuple_GetItem(references->owner, i), &references->ref[i]))
            return -1;
    }
    references->count = (size_t)(count > 0 ? count : 0);
    return 0;
}

void references_release(struct references *references)
{
    Py_CLEAR(references->owner);
}

static PyObject *ndarray;

int py_job_init(void)
{
    ndarray = import_attribute("numpy", "ndarray");
    references_of = import_attribute("mli._jobs", "references");
    return ndarray && references_of ? array_init() : -1;
}

/* The array for the result */

/* Creates a NumPy array in memory, with the element type of `like`, a NumPy array. */
static PyObject *array_in(struct memory *memory, size_t offset, PyObject *like,
                          const int64_t *shape, uint32_t rank)
{
    PyObject *extents = tuple_of_integers(shape, rank);
    PyObject *start = PyLong_FromSize_t(offset);
    PyObject *dtype = PyObject_GetAttrString(like, "dtype");
    PyObject *array = NULL;

    if (extents && start && dtype)
        array =
            PyObject_CallFunctionObjArgs(ndarray, extents, dtype, (PyObject *)memory, start, NULL);
    Py_XDECREF(dtype);
    Py_XDECREF(start);
    Py_XDECREF(extents);
    return array;
}

/* Returns the size of a shape in bytes, or -1 with an exception if it exceeds the address space. */
static int64_t bytes_of(const int64_t *shape, uint32_t rank, int64_t size)
{
    int64_t bytes = size;

    for (uint32_t i = 0; i < rank; i++) {
        if (__builtin_mul_overflow(bytes, shape[i], &bytes)) {
            PyErr_NoMemory();
            return -1;
        }
    }
    return bytes;
}

/* Creates the result in memory of the pool. An empty result needs no memory of the service. */
static PyObject *create_result(struct connection *connection, const struct arguments *arguments)
{
    struct window window;
    struct memory *memory = NULL;
    PyObject *array = NULL;
    struct view src;

    if (view_open(&src, arguments->src, "src"))
        return NULL;
    if (window_read(&window, &src, arguments->pad, arguments->slice, arguments->step,
                    arguments->perm) == 0) {
        const int64_t bytes = bytes_of(window.shape, window.result_rank, src.size);

        if (bytes >= 0)
            memory = memory_take(connection, (size_t)bytes);
        if (memory)
            array = array_in(memory, 0, arguments->src, window.shape, window.result_rank);
        Py_XDECREF((PyObject *)memory);
    }
    view_release(&src);
    return array;
}

/* Packing: copies of the source's samples, and of the result, that have no gaps */

/* Sets the steps of axes so that they are packed. Returns their packed size. The last axis is the
 * innermost. */
static int64_t pack_steps(struct axis *axis, uint32_t count, int64_t size, bool dst)
{
    for (uint32_t i = count; i-- > 0;) {
        const int64_t extent = dst ? axis_extent(&axis[i]) : axis[i].samples;

        if (dst)
            axis[i].dst_step = size;
        else
            axis[i].src_step = size;
        size *= extent > 0 ? extent : 1; /* an axis of zeros reads no samples */
    }
    return size;
}

/* Prepares the copy of a packed result into `out`. */
static int pack_dst(struct py_job *job, struct connection *connection, struct axis *axis,
                    uint32_t count)
{
    struct operation *operation = &job->operation;
    struct axis whole[NEST_RANK_MAX];
    struct landing *landing = calloc(1, sizeof(*landing));

    job->landing = landing;
    if (!landing) {
        PyErr_NoMemory();
        return -1;
    }
    job->dst = memory_take(connection, (size_t)operation->layout.bytes);
    if (!job->dst)
        return -1;
    for (uint32_t i = 0; i < count; i++)
        whole[i] = (struct axis){.samples = axis_extent(&axis[i]), .dst_step = axis[i].dst_step};
    pack_steps(axis, count, operation->dst.size, true);
    for (uint32_t i = 0; i < count; i++)
        whole[i].src_step = axis[i].dst_step;
    nest_fold(&landing->nest, job->dst->address, operation->layout.nest.dst,
              (size_t)operation->dst.size, whole, count);
    landing->out = operation->dst;
    operation->dst.buffer.obj = NULL;
    operation->dst.owner = NULL;
    operation->dst.managed = NULL;
    return 0;
}

static int refuse_pieces(void)
{
    return raise_refused(
        MLI_STATUS_NOT_SUPPORTED, "src", NULL,
        "the service moves up to 4 dimensions (after neighbours are joined), with at "
        "most 255 zeros on each side of a dimension; split the move, or use mli.move()");
}

static bool is_packed(const mli_tensor *tensor, const uint32_t *extent)
{
    int64_t step = 1;

    for (uint32_t i = tensor->rank; i-- > 0;) {
        if (extent[i] > 1 && tensor->mem_stride[i] != step)
            return false;
        step *= extent[i];
    }
    return true;
}

static void describe(struct py_job *job, const struct move *move)
{
    mli_client_job *args = &job->args;
    uint32_t extent[MLI_MAX_RANK];

    mli_client_job_init(args);
    args->src = move->src;
    args->cfg = move->cfg;
    for (uint32_t i = 0; i < move->src.rank; i++) {
        const uint32_t all =
            move->src.shape[i] + move->cfg.padding_pre[i] + move->cfg.padding_post[i];

        extent[i] = move->cfg.size[i];
        if (extent[i] == all) /* the default, which is shorter on the wire */
            args->cfg.size[i] = 0;
    }
    if (is_packed(&move->src, move->src.shape))
        memset(args->src.mem_stride, 0, sizeof(args->src.mem_stride));
    for (uint32_t i = 0; i < move->src.rank && !is_packed(&move->dst, extent); i++)
        args->cfg.dst_mem_stride[i] = move->dst.mem_stride[i];
    args->src_memory = (mli_client_memory){
        .buffer = job->src->buffer,
        .fd = job->src->fd,
        .offset = (uint64_t)((uint8_t *)move->src.data.mem.pi8 - job->src->address)};
    args->dst_memory = (mli_client_memory){
        .buffer = job->dst->buffer,
        .fd = job->dst->fd,
        .offset = (uint64_t)((uint8_t *)move->dst.data.mem.pi8 - job->dst->address),
        .fresh = job->landing != NULL};
}

static int pack_src(struct py_job *job, struct connection *connection, struct axis *axis,
                    uint32_t count);
/* Packs arrays that are outside the connection's shared memory; folds the other operations into one
 * move. */
static int plan_copies(struct py_job *job, struct connection *connection)
{
    struct operation *operation = &job->operation;
    struct axis axis[NEST_RANK_MAX];
    int64_t offset = 0;
    const uint32_t count = window_axes(&operation->layout.window, &operation->src, axis, &offset);
    struct nest nest;
    struct move_iterator iterator;
    struct move move;
    mli_status status;

    for (uint32_t i = 0; i < count; i++)
        axis[i].dst_step = i < operation->layout.window.result_rank ? operation->dst.step[i] : 0;
    const uint8_t *src = operation->layout.nest.src;
    uint8_t *dst = operation->layout.nest.dst;
    if (!job->src || !operation->layout.single) {
        Py_CLEAR(job->src);
        if (pack_src(job, connection, axis, count))
            return -1;
        src = job->src->address;
    }
    if (!job->dst) {
        if (pack_dst(job, connection, axis, count))
            return -1;
        dst = job->dst->address;
    }
    nest_fold(&nest, src, dst, (size_t)operation->src.size, axis, count);
    if (!nest_is_single(&nest))
        return refuse_pieces();
    move_iterator_init(&iterator, &nest);
    move_iterator_next(&iterator, &move);
    mli_tensor checked = move.dst;
    status = mli_mov_check(&move.src, &move.cfg, &checked);
    if (status != MLI_STATUS_OK)
        return raise_last_error(status);
    describe(job, &move);
    return 0;
}

static int place(struct py_job *job, struct connection *connection)
{
    struct operation *operation = &job->operation;
    struct memory *src = memory_at(connection, operation->layout.nest.src);
    struct memory *dst = memory_at(connection, operation->layout.nest.dst);

    job->src = src ? (struct memory *)Py_NewRef((PyObject *)src) : NULL;
    job->dst = dst ? (struct memory *)Py_NewRef((PyObject *)dst) : NULL;
    if (!job->src || !job->dst || !operation->layout.single)
        return plan_copies(job, connection);
    describe(job, &operation->layout.move);
    return 0;
}

/* Sets the source steps of all axes for samples that are packed in the order of the source. */
static int pack_src(struct py_job *job, struct connection *connection, struct axis *axis,
                    uint32_t count)
{
    const struct window *window = &job->operation.layout.window;
    struct axis samples[NEST_RANK_MAX];
    uint32_t place[NEST_RANK_MAX], at = 0;

    for (uint32_t d = 0; d < window->rank; d++) {
        for (uint32_t i = 0; i < window->result_rank; i++) {
            if (window->order[i] == d)
                place[at++] = i;
        }
    }
    for (uint32_t i = 0; i < at; i++)
        samples[i] = (struct axis){.samples = axis[place[i]].samples};
    job->pack_bytes = pack_steps(samples, at, job->operation.src.size, false);
    for (uint32_t i = 0; i < count; i++) {
        if (i >= at || axis[i].samples == 0) /* the move reads nothing */
            job->pack_bytes = 0;
    }
    job->src = memory_take(connection, job->pack_bytes ? (size_t)job->pack_bytes : 1);
    if (!job->src)
        return -1;
    for (uint32_t i = 0; i < at; i++) {
        const int64_t packed = samples[i].src_step;

        samples[i].src_step = axis[place[i]].src_step;
        samples[i].dst_step = packed;
        axis[place[i]].src_step = packed;
    }
    job->packs = job->pack_bytes > 0;
    if (job->packs)
        nest_fold(&job->pack, job->operation.layout.nest.src, job->src->address,
                  (size_t)job->operation.src.size, samples, at);
    return 0;
}

/* Describing the job */

/* Opens the operation of a job. `complete->src` is a NumPy array. */
static int open_operation(struct py_job *job, struct connection *connection,
                          const struct arguments *given, struct arguments *complete)
{
    PyObject *result = NULL;
    int status;

    if (!given->out && !given->at) {
        complete->out = result = create_result(connection, complete);
        if (!result)
            return -1;
    }
    status = operation_open(&job->operation, complete, false);
    Py_XDECREF(result);
    return status;
}

int py_job_open(struct py_job *job, struct connection *connection,
                const struct arguments *arguments)
{
    struct arguments complete = *arguments;
    int status;

    memset(job, 0, sizeof(*job));
    complete.src = array_of(arguments->src, "src");
    if (!complete.src)
        return -1;
    status = open_operation(job, connection, arguments, &complete);
    Py_DECREF(complete.src);
    if (status)
        return -1;
    job->value = Py_NewRef(job->operation.result);
    if (job->operation.layout.bytes == 0 || place(job, connection) == 0) {
        if (!arguments->out)
            job->args.dst_memory.fresh = true;
        return 0;
    }
    py_job_close(job);
    return -1;
}

int py_job_pack(const struct py_job *job)
{
    return job->packs ? run_nest(&job->pack, job->pack_bytes) : 0;
}

void py_job_hand_over(struct py_job *job, struct py_request *request)
{
    request->kept[0] = job->src;
    request->kept[1] = job->dst;
    request->value = job->value;
    request->landing = job->landing;
    request->owns_landing = job->landing != NULL;
    job->src = job->dst = NULL;
    job->value = NULL;
    job->landing = NULL;
}

void py_job_close(struct py_job *job)
{
    operation_close(&job->operation);
    Py_CLEAR(job->src);
    Py_CLEAR(job->dst);
    Py_CLEAR(job->value);
    landing_free(job->landing);
    job->landing = NULL;
}
