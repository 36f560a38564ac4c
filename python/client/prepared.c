/* SPDX-License-Identifier: BSD-3-Clause */
#include "python/client/prepared.h"

#include <stdio.h>
#include <string.h>
#include <structmember.h>

#include "python/client/limits.h"
#include "python/client/service_error.h"
#include "python/core/errors.h"
#include "python/core/integers.h"

struct prepared {
    PyObject_HEAD struct connection *connection; /* strong */
    struct order order;
    uint32_t id;     /* 0: the service has not replied, or the job is released */
    uint32_t flying; /* starts without a reply */
    uint64_t latest; /* serial number of the latest start's errand */
    PyObject *store; /* of each start; null: nothing to store */
    PyObject *weak;
    char name[ERRAND_NAME_MAX];
};

static PyTypeObject *prepared_type;

PyObject *prepared_new(struct connection *connection, struct order *order, const char *name)
{
    struct prepared *self = PyObject_GC_New(struct prepared, prepared_type);

    if (!self) {
        order_close(order);
        return NULL;
    }
    self->connection = (struct connection *)Py_NewRef((PyObject *)connection);
    self->order = *order;
    self->id = self->flying = 0;
    self->latest = 0;
    self->store = self->weak = NULL;
    snprintf(self->name, sizeof(self->name), "%s", name);
    PyObject_GC_Track(self);
    return (PyObject *)self;
}

int wrap_result(PyObject *wrap, PyObject *store, PyObject **value, PyObject **stored)
{
    PyObject *result = PyObject_CallFunctionObjArgs(wrap, *value, NULL);

    if (!result)
        return -1;
    Py_DECREF(*value);
    *value = result;
    *stored = store == Py_None ? NULL : Py_NewRef(store);
    return 0;
}

int prepared_wrap(PyObject *prepared, PyObject *wrap, PyObject *store)
{
    struct prepared *self = (struct prepared *)prepared;

    return wrap_result(wrap, store, &self->order.value, &self->store);
}

void prepared_settle(PyObject *prepared)
{
    const struct order *order = &((struct prepared *)prepared)->order;

    memory_settle(order->src);
    memory_settle(order->dst);
}

void prepared_set_id(PyObject *prepared, uint32_t id)
{
    ((struct prepared *)prepared)->id = id;
}

uint64_t prepared_latest_start(const PyObject *prepared)
{
    return ((const struct prepared *)(const void *)prepared)->latest;
}

void prepared_start_ended(PyObject *prepared)
{
    ((struct prepared *)prepared)->flying--;
}

static void release(struct prepared *self)
{
    if (self->id)
        connection_unwant(self->connection, "job.release", self->id);
    self->id = 0;
}

static int prepared_traverse(struct prepared *self, visitproc visit, void *arg)
{
    Py_VISIT(Py_TYPE((PyObject *)self));
    Py_VISIT(self->store);
    Py_VISIT(self->order.value);
    return operation_traverse(&self->order.operation, visit, arg);
}

/* Not called while a start is on its way, which has a reference. */
static int prepared_clear(struct prepared *self)
{
    release(self);
    order_close(&self->order);
    Py_CLEAR(self->store);
    self->order.operation.layout.bytes = 0;
    self->order.value = Py_NewRef(Py_None);
    return 0;
}

static void prepared_dealloc(struct prepared *self)
{
    PyTypeObject *type = Py_TYPE((PyObject *)self);

    PyObject_GC_UnTrack(self);
    if (self->weak)
        PyObject_ClearWeakRefs((PyObject *)self);
    release(self);
    order_close(&self->order);
    Py_XDECREF(self->store);
    Py_DECREF((PyObject *)self->connection);
    PyObject_GC_Del(self);
    Py_DECREF((PyObject *)type);
}

/* Other memory for a start */

static int refuse_layout(const char *name)
{
    raise_refused(MLI_STATUS_SHAPE_MISMATCH, name, NULL,
                  "an array with the shape, strides and element size that the job was prepared "
                  "with is required");
    return -1;
}

static bool same_layout(const struct view *a, const struct view *b)
{
    if (a->rank != b->rank || a->size != b->size)
        return false;
    for (uint32_t i = 0; i < a->rank; i++) {
        if (a->shape[i] != b->shape[i] || a->step[i] != b->step[i])
            return false;
    }
    return true;
}

/*
 * Fills `other` for an array in a buffer. `first` is the first byte that the prepared job touches
 * in the array `like`. Returns the memory, a new reference, or null with an exception.
 */
static struct memory *place_other(const struct prepared *self, PyObject *array, const char *name,
                                  const struct view *like, const uint8_t *first,
                                  mli_client_other *other)
{
    struct memory *memory = NULL;
    struct view view;

    if (view_open(&view, array, name))
        return NULL;
    if (!same_layout(&view, like)) {
        refuse_layout(name);
    } else {
        const uint8_t *byte = view.data + (first - like->data);

        memory = memory_at(self->connection, byte);
        if (memory && memory->buffer) {
            *other = (mli_client_other){memory->buffer, true, (uint64_t)(byte - memory->address)};
            Py_INCREF((PyObject *)memory);
        } else {
            memory = NULL;
            raise_refused(MLI_STATUS_NOT_SUPPORTED, name, NULL,
                          "a start takes only arrays in a buffer of its client: client.buffer()");
        }
    }
    view_release(&view);
    return memory;
}

/* Starts */

struct start_options {
    PyObject *src, *out, *priority, *timeout, *after;
};

static int read_options(struct start_options *options, PyObject *const *values, Py_ssize_t count,
                        PyObject *names)
{
    static const char *const words[] = {"src", "out", "priority", "timeout", "after"};
    PyObject **const member[] = {&options->src, &options->out, &options->priority,
                                 &options->timeout, &options->after};

    *options = (struct start_options){0};
    if (count > 0) {
        PyErr_SetString(PyExc_TypeError, "start() takes only keyword arguments");
        return -1;
    }
    for (Py_ssize_t i = 0; names && i < PyTuple_Size(names); i++) {
        PyObject *name = PyTuple_GetItem(names, i);
        size_t k = 0;

        while (k < 5 && PyUnicode_CompareWithASCIIString(name, words[k]) != 0)
            k++;
        if (k == 5) {
            PyErr_Format(PyExc_TypeError, "start() got an unexpected keyword argument %R", name);
            return -1;
        }
        *member[k] = values[i] == Py_None ? NULL : values[i];
    }
    return 0;
}

/* Fills the arguments of a start, and the memory that it keeps. Returns 0 or -1. */
static int describe(struct prepared *self, const struct start_options *options,
                    mli_client_start_args *args, struct memory *kept[2])
{
    const struct operation *operation = &self->order.operation;

    if (options->src) {
        kept[0] = place_other(self, options->src, "src", &operation->src,
                              operation->layout.nest.src, &args->src);
        if (!kept[0])
            return -1;
    }
    if (options->out) {
        kept[1] = place_other(self, options->out, "out", &operation->dst,
                              operation->layout.nest.dst, &args->dst);
        if (!kept[1])
            return -1;
    }
    args->has_priority = options->priority != NULL;
    if (read_priority(options->priority, &args->priority) ||
        read_limit_ms(options->timeout, &args->timeout_ms))
        return -1;
    return 0;
}

/* Starts that share memory of the pool must not overlap. */
static int check(const struct prepared *self, const struct start_options *options)
{
    if (!self->id) {
        raise_client_error(MLI_CLIENT_MISUSE, "MISUSE", "the prepared job was released");
        return -1;
    }
    if ((options->src && self->order.packs) || (options->out && self->order.landing)) {
        raise_refused(MLI_STATUS_NOT_SUPPORTED, options->src ? "src" : "out", NULL,
                      "prepare the job with arrays in buffers to start it with others");
        return -1;
    }
    if (self->flying && (self->order.packs || self->order.landing)) {
        raise_client_error(MLI_CLIENT_MISUSE, "MISUSE",
                           "a start of this job is on its way, and its arrays are not in buffers "
                           "(client.buffer()): wait for its end");
        return -1;
    }
    return 0;
}

static int send(struct prepared *self, const mli_client_start_args *args, struct errand *errand)
{
    mli_client_ticket ticket;
    mli_client_error error;

    if (mli_client_start(self->connection->client, args, errand_on_done, errand, &ticket, &error)) {
        raise_service_error(&error);
        return -1;
    }
    errand->keeper = Py_NewRef((PyObject *)self);
    self->flying++;
    self->latest = errand->serial;
    errand->landing = self->order.landing;
    memcpy(errand->name, self->name, strlen(self->name));
    errand_depart(errand);
    return 0;
}

/* Returns the ticket of a start, or null with an exception. Takes `kept`. */
static PyObject *start(struct prepared *self, const struct start_options *options,
                       mli_client_start_args *args, struct memory *kept[2])
{
    struct references references = {0};
    PyObject *ticket = NULL;
    struct errand *errand = NULL;

    if (read_references(&references, self->connection, options->after) == 0 &&
        order_pack(&self->order) == 0)
        errand = errand_create(self->connection, ERRAND_JOB, &ticket);
    if (errand) {
        args->after = references.ref;
        args->after_count = references.count;
        errand->value = Py_NewRef(options->out ? options->out : self->order.value);
        errand->store = options->out ? NULL : Py_XNewRef(self->store);
        errand->kept[0] = kept[0];
        errand->kept[1] = kept[1];
        kept[0] = kept[1] = NULL;
        if (send(self, args, errand)) {
            errand_drop(errand, ticket);
            ticket = NULL;
        }
    }
    references_release(&references);
    return ticket;
}

PyDoc_STRVAR(
    start_doc,
    "start($self, /, *, src=None, out=None, priority=None, timeout=None, after=None)\n--\n\n"
    "Start the job and return an mli.Ticket at once.\n\n"
    "`src` and `out` are other arrays in buffers of the client, with the same shape and strides.\n"
    "`timeout` is the job's time limit in seconds.");

static PyObject *prepared_start(struct prepared *self, PyObject *const *values, Py_ssize_t count,
                                PyObject *names)
{
    mli_client_start_args args = {.prepared = self->id};
    struct memory *kept[2] = {NULL, NULL};
    struct start_options options;
    PyObject *ticket = NULL;

    if (read_options(&options, values, count, names) || connection_enter(self->connection))
        return NULL;
    if (self->order.operation.layout.bytes == 0) { /* nothing to move */
        struct errand *errand = errand_create(self->connection, ERRAND_JOB, &ticket);

        if (errand) {
            errand->value = Py_NewRef(self->order.value);
            errand->store = Py_XNewRef(self->store);
            errand_arrive(errand);
        }
    } else if (check(self, &options) == 0 && describe(self, &options, &args, kept) == 0) {
        ticket = start(self, &options, &args, kept);
    }
    Py_XDECREF((PyObject *)kept[0]);
    Py_XDECREF((PyObject *)kept[1]);
    connection_leave(self->connection);
    return ticket;
}

PyDoc_STRVAR(release_doc, "release($self, /)\n--\n\n"
                          "Make the service forget the job. Starts on their way continue.");

static PyObject *prepared_release(struct prepared *self, PyObject *unused)
{
    (void)unused;
    release(self);
    return Py_NewRef(Py_None);
}

static PyObject *prepared_get_out(struct prepared *self, void *unused)
{
    (void)unused;
    return Py_NewRef(self->order.value);
}

static PyObject *prepared_get_shape(struct prepared *self, void *unused)
{
    const struct window *window = &self->order.operation.layout.window;

    (void)unused;
    return tuple_of_integers(window->shape, window->result_rank);
}

static PyObject *prepared_get_bytes(struct prepared *self, void *unused)
{
    (void)unused;
    return PyLong_FromLongLong(self->order.operation.layout.bytes);
}

static PyObject *prepared_get_name(struct prepared *self, void *unused)
{
    (void)unused;
    return PyUnicode_FromString(self->name);
}

static PyMethodDef methods[] = {
    {"start", (PyCFunction)(void (*)(void))prepared_start, METH_FASTCALL | METH_KEYWORDS,
     start_doc},
    {"release", (PyCFunction)prepared_release, METH_NOARGS, release_doc},
    {NULL, NULL, 0, NULL},
};

static PyGetSetDef members[] = {
    {"out", (getter)prepared_get_out, NULL, "The array that receives the result.", NULL},
    {"shape", (getter)prepared_get_shape, NULL, "Shape of the result.", NULL},
    {"bytes", (getter)prepared_get_bytes, NULL, "Bytes that each start writes.", NULL},
    {"name", (getter)prepared_get_name, NULL, "Name of the jobs.", NULL},
    {NULL, NULL, NULL, NULL, NULL},
};

PyDoc_STRVAR(prepared_doc, "A job that the service has checked and planned once, to start it "
                           "often: client.plan().");

static PyMemberDef weak[] = {
    {"__weaklistoffset__", T_PYSSIZET, offsetof(struct prepared, weak), READONLY, NULL},
    {NULL, 0, 0, 0, NULL},
};

static PyType_Slot slots[] = {
    {Py_tp_doc, (void *)(uintptr_t)prepared_doc},
    {Py_tp_traverse, prepared_traverse},
    {Py_tp_clear, prepared_clear},
    {Py_tp_members, weak},
    {Py_tp_dealloc, prepared_dealloc},
    {Py_tp_methods, methods},
    {Py_tp_getset, members},
    {0, NULL},
};

static PyType_Spec spec = {
    .name = "mli.Prepared",
    .basicsize = sizeof(struct prepared),
    .flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_HAVE_GC | Py_TPFLAGS_DISALLOW_INSTANTIATION,
    .slots = slots,
};

int prepared_init(PyObject *module)
{
    prepared_type = (PyTypeObject *)PyType_FromSpec(&spec);
    return prepared_type ? PyModule_AddType(module, prepared_type) : -1;
}
