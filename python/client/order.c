/* SPDX-License-Identifier: BSD-3-Clause */
#include "python/client/order.h"

#include <stdlib.h>
#include <string.h>

#include "python/client/service_error.h"
#include "python/core/array.h"
#include "python/core/errors.h"
#include "python/core/integers.h"

static PyObject *ndarray;

int order_init(void)
{
    PyObject *numpy = PyImport_ImportModule("numpy");

    if (numpy)
        ndarray = PyObject_GetAttrString(numpy, "ndarray");
    Py_XDECREF(numpy);
    return ndarray ? array_init() : -1;
}

/* The array for the result */

PyObject *array_in(struct memory *memory, size_t offset, PyObject *like, const int64_t *shape,
                   uint32_t rank)
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

/* Returns the bytes of a shape, or -1 with an exception if they exceed the address space. */
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

/* Packing: the samples of the source, and the result, without gaps */

/* Returns the packed size of axes, whose steps it sets. The last axis is the innermost. */
static int64_t pack_steps(struct axis *axis, uint32_t count, int64_t size, bool dst)
{
    for (uint32_t i = count; i-- > 0;) {
        const int64_t extent =
            dst ? axis[i].before + axis[i].samples + axis[i].after : axis[i].samples;

        if (dst)
            axis[i].dst_step = size;
        else
            axis[i].src_step = size;
        size *= extent > 0 ? extent : 1; /* an axis of zeros reads nothing */
    }
    return size;
}

/* Sets the source steps of `axis` to those of its samples, packed in the order of the source. */
static int pack_src(struct order *order, struct connection *connection, struct axis *axis,
                    uint32_t count)
{
    const struct window *window = &order->operation.layout.window;
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
    order->pack_bytes = pack_steps(samples, at, order->operation.src.size, false);
    for (uint32_t i = 0; i < count; i++) {
        if (i >= at || axis[i].samples == 0) /* the move reads nothing */
            order->pack_bytes = 0;
    }
    order->src = memory_take(connection, order->pack_bytes ? (size_t)order->pack_bytes : 1);
    if (!order->src)
        return -1;
    for (uint32_t i = 0; i < at; i++) {
        const int64_t packed = samples[i].src_step;

        samples[i].src_step = axis[place[i]].src_step;
        samples[i].dst_step = packed;
        axis[place[i]].src_step = packed;
    }
    order->packs = order->pack_bytes > 0;
    if (order->packs)
        nest_fold(&order->pack, order->operation.layout.nest.src, order->src->address,
                  (size_t)order->operation.src.size, samples, at);
    return 0;
}

/* Prepares the copy of a packed result into `out`. */
static int pack_dst(struct order *order, struct connection *connection, struct axis *axis,
                    uint32_t count)
{
    struct operation *operation = &order->operation;
    struct axis whole[NEST_RANK_MAX];
    struct landing *landing = calloc(1, sizeof(*landing));

    order->landing = landing;
    if (!landing) {
        PyErr_NoMemory();
        return -1;
    }
    order->dst = memory_take(connection, (size_t)operation->layout.bytes);
    if (!order->dst)
        return -1;
    for (uint32_t i = 0; i < count; i++)
        whole[i] = (struct axis){.samples = axis[i].before + axis[i].samples + axis[i].after,
                                 .dst_step = axis[i].dst_step};
    pack_steps(axis, count, operation->dst.size, true);
    for (uint32_t i = 0; i < count; i++)
        whole[i].src_step = axis[i].dst_step;
    nest_fold(&landing->nest, order->dst->address, operation->layout.nest.dst,
              (size_t)operation->dst.size, whole, count);
    landing->out = operation->dst;
    operation->dst.buffer.obj = NULL;
    operation->dst.owner = NULL;
    operation->dst.managed = NULL;
    return 0;
}

/* Describing the job */

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

static void describe(struct order *order, const struct move *move)
{
    mli_client_job *job = &order->job;
    uint32_t extent[MLI_MAX_RANK];

    mli_client_job_init(job);
    job->src = move->src;
    job->cfg = move->cfg;
    for (uint32_t i = 0; i < move->src.rank; i++) {
        const uint32_t all =
            move->src.shape[i] + move->cfg.padding_pre[i] + move->cfg.padding_post[i];

        extent[i] = move->cfg.size[i];
        if (extent[i] == all) /* the default, which is shorter on the wire */
            job->cfg.size[i] = 0;
    }
    if (is_packed(&move->src, move->src.shape))
        memset(job->src.mem_stride, 0, sizeof(job->src.mem_stride));
    for (uint32_t i = 0; i < move->src.rank && !is_packed(&move->dst, extent); i++)
        job->cfg.dst_mem_stride[i] = move->dst.mem_stride[i];
    job->src_memory = (mli_client_memory){
        .buffer = order->src->buffer,
        .fd = order->src->fd,
        .offset = (uint64_t)((uint8_t *)move->src.data.mem.pi8 - order->src->address)};
    job->dst_memory = (mli_client_memory){
        .buffer = order->dst->buffer,
        .fd = order->dst->fd,
        .offset = (uint64_t)((uint8_t *)move->dst.data.mem.pi8 - order->dst->address),
        .fresh = order->landing != NULL};
}

static int refuse_pieces(void)
{
    raise_refused(MLI_STATUS_NOT_SUPPORTED, "src", NULL,
                  "the service moves up to 4 dimensions (after neighbours are joined), with at "
                  "most 255 zeros on each side of a dimension; split the move, or use mli.move()");
    return -1;
}

/* Packs what is not in memory of the connection, and folds the rest into one move. */
static int plan_copies(struct order *order, struct connection *connection)
{
    struct operation *operation = &order->operation;
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
    if (!order->src || !operation->layout.single) {
        Py_CLEAR(order->src);
        if (pack_src(order, connection, axis, count))
            return -1;
        src = order->src->address;
    }
    if (!order->dst) {
        if (pack_dst(order, connection, axis, count))
            return -1;
        dst = order->dst->address;
    }
    nest_fold(&nest, src, dst, (size_t)operation->src.size, axis, count);
    if (!nest_is_single(&nest))
        return refuse_pieces();
    move_iterator_init(&iterator, &nest);
    move_iterator_next(&iterator, &move);
    mli_tensor checked = move.dst;
    status = mli_mov_check(&move.src, &move.cfg, &checked);
    if (status != MLI_STATUS_OK) {
        raise_last_error(status);
        return -1;
    }
    describe(order, &move);
    return 0;
}

static int place(struct order *order, struct connection *connection)
{
    struct operation *operation = &order->operation;
    struct memory *src = memory_at(connection, operation->layout.nest.src);
    struct memory *dst = memory_at(connection, operation->layout.nest.dst);

    order->src = src ? (struct memory *)Py_NewRef((PyObject *)src) : NULL;
    order->dst = dst ? (struct memory *)Py_NewRef((PyObject *)dst) : NULL;
    if (!order->src || !order->dst || !operation->layout.single)
        return plan_copies(order, connection);
    describe(order, &operation->layout.move);
    return 0;
}

/* Opens the operation of an order. `complete->src` is a NumPy array. */
static int open_operation(struct order *order, struct connection *connection,
                          const struct arguments *given, struct arguments *complete)
{
    PyObject *result = NULL;
    int status;

    if (!given->out && !given->at) {
        complete->out = result = create_result(connection, complete);
        if (!result)
            return -1;
    }
    status = operation_open(&order->operation, complete);
    Py_XDECREF(result);
    return status;
}

int order_open(struct order *order, struct connection *connection,
               const struct arguments *arguments)
{
    struct arguments complete = *arguments;
    int status;

    memset(order, 0, sizeof(*order));
    complete.src = array_of(arguments->src, "src");
    if (!complete.src)
        return -1;
    status = open_operation(order, connection, arguments, &complete);
    Py_DECREF(complete.src);
    if (status)
        return -1;
    order->value = Py_NewRef(order->operation.result);
    if (order->operation.layout.bytes == 0 || place(order, connection) == 0) {
        if (!arguments->out)
            order->job.dst_memory.fresh = true;
        return 0;
    }
    order_close(order);
    return -1;
}

int order_pack(const struct order *order)
{
    return order->packs ? run_nest(&order->pack, order->pack_bytes) : 0;
}

void order_hand_over(struct order *order, struct errand *errand)
{
    errand->kept[0] = order->src;
    errand->kept[1] = order->dst;
    errand->value = order->value;
    errand->landing = order->landing;
    errand->owns_landing = order->landing != NULL;
    order->src = order->dst = NULL;
    order->value = NULL;
    order->landing = NULL;
}

void order_close(struct order *order)
{
    operation_close(&order->operation);
    Py_CLEAR(order->src);
    Py_CLEAR(order->dst);
    Py_CLEAR(order->value);
    landing_free(order->landing);
    order->landing = NULL;
}
