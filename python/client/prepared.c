/* SPDX-License-Identifier: BSD-3-Clause */
#include <Python.h>

#include "python/client/prepared.h"

#include <stdio.h>
#include <string.h>
#include <structmember.h>

#include "python/client/connection.h"
#include "python/core/errors.h"
#include "python/core/integers.h"

struct prepared {
    struct prepared_state state;
    struct connection *connection; /* strong */
    struct py_job job;             /* describes the job; `state` owns its `value` */
    PyObject *weak;
    char name[REQUEST_NAME_MAX];
};

static PyTypeObject *prepared_type;

PyObject *prepared_new(struct connection *connection, struct py_job *job, const char *name)
{
    struct prepared *self = PyObject_GC_New(struct prepared, prepared_type);

    if (!self) {
        py_job_close(job);
        return NULL;
    }
    self->connection = (struct connection *)Py_NewRef((PyObject *)connection);
    self->job = *job;
    self->job.value = NULL;
    self->state.id = self->state.pending = 0;
    self->state.latest = 0;
    self->state.value = job->value;
    self->state.store = self->weak = NULL;
    snprintf(self->name, sizeof(self->name), "%s", name);
    PyObject_GC_Track(self);
    return (PyObject *)self;
}

void prepared_settle(PyObject *prepared)
{
    const struct py_job *job = &((struct prepared *)prepared)->job;

    memory_settle(job->src);
    memory_settle(job->dst);
}

static void release(struct prepared *self)
{
    if (self->state.id)
        connection_unwant(self->connection, "job.release", self->state.id);
    self->state.id = 0;
}

static int prepared_traverse(struct prepared *self, visitproc visit, void *arg)
{
    Py_VISIT(Py_TYPE((PyObject *)self));
    Py_VISIT(self->state.store);
    Py_VISIT(self->state.value);
    return operation_traverse(&self->job.operation, visit, arg);
}

/* Not called while a start is pending, because the start holds a reference. */
static int prepared_clear(struct prepared *self)
{
    PyObject *value = self->state.value;

    release(self);
    py_job_close(&self->job);
    Py_CLEAR(self->state.store);
    self->job.operation.layout.bytes = 0;
    self->state.value = Py_NewRef(Py_None);
    Py_DECREF(value);
    return 0;
}

static void prepared_dealloc(struct prepared *self)
{
    PyTypeObject *type = Py_TYPE((PyObject *)self);

    PyObject_GC_UnTrack(self);
    if (self->weak)
        PyObject_ClearWeakRefs((PyObject *)self);
    release(self);
    py_job_close(&self->job);
    Py_DECREF(self->state.value);
    Py_XDECREF(self->state.store);
    Py_DECREF((PyObject *)self->connection);
    PyObject_GC_Del(self);
    Py_DECREF((PyObject *)type);
}

/* Starts with other arrays than those of the preparation */

static int refuse_layout(const char *name)
{
    return raise_refused(
        MLI_STATUS_SHAPE_MISMATCH, name, NULL,
        "an array with the shape, strides and element size that the job was prepared "
        "with is required");
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
 * Makes a start use `array`, which is in a buffer, instead of `like`, the array of the prepared
 * job: fills `other`. `first` is the first byte of `like` that the job accesses. Returns a new
 * reference to the memory of `array`, or null with an exception.
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
    const struct operation *operation = &self->job.operation;

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
    if (!self->state.id)
        return raise_client_error(MLI_CLIENT_MISUSE, "MISUSE", "the prepared job was released");
    if ((options->src && self->job.packs) || (options->out && self->job.landing))
        return raise_refused(MLI_STATUS_NOT_SUPPORTED, options->src ? "src" : "out", NULL,
                             "prepare the job with arrays in buffers to start it with others");
    if (self->state.pending && (self->job.packs || self->job.landing))
        return raise_client_error(
            MLI_CLIENT_MISUSE, "MISUSE",
            "a start of this job is on its way, and its arrays are not in buffers "
            "(client.buffer()): wait for its end");
    return 0;
}

static int send(struct prepared *self, const mli_client_start_args *args,
                struct py_request *request)
{
    mli_client_ticket ticket;
    mli_client_error error;

    if (mli_client_start(self->connection->client, args, py_request_on_done, request, &ticket,
                         &error))
        return raise_service_error(&error);
    request->keeper = (struct prepared_state *)Py_NewRef((PyObject *)self);
    self->state.pending++;
    self->state.latest = request->serial;
    request->landing = self->job.landing;
    memcpy(request->name, self->name, strlen(self->name));
    py_request_add(request);
    return 0;
}

/* Returns the ticket of a start, or null with an exception. Takes ownership of `kept`. */
static PyObject *start(struct prepared *self, const struct start_options *options,
                       mli_client_start_args *args, struct memory *kept[2])
{
    struct references references = {0};
    PyObject *ticket = NULL;
    struct py_request *request = NULL;

    if (read_references(&references, self->connection, options->after) == 0 &&
        py_job_pack(&self->job) == 0)
        request = py_request_create(self->connection, REQUEST_JOB, &ticket);
    if (request) {
        args->after = references.ref;
        args->after_count = references.count;
        request->value = Py_NewRef(options->out ? options->out : self->state.value);
        request->store = options->out ? NULL : Py_XNewRef(self->state.store);
        request->kept[0] = kept[0];
        request->kept[1] = kept[1];
        kept[0] = kept[1] = NULL;
        if (send(self, args, request)) {
            py_request_drop(request, ticket);
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
    mli_client_start_args args = {.prepared = self->state.id};
    struct memory *kept[2] = {NULL, NULL};
    struct start_options options;
    PyObject *ticket = NULL;

    if (read_options(&options, values, count, names) || connection_enter(self->connection))
        return NULL;
    if (self->job.operation.layout.bytes == 0) { /* no bytes to move */
        struct py_request *request = py_request_create(self->connection, REQUEST_JOB, &ticket);

        if (request) {
            request->value = Py_NewRef(self->state.value);
            request->store = Py_XNewRef(self->state.store);
            py_request_end(request);
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

static PyObject *prepared_release(struct prepared *self, PyObject *Py_UNUSED(unused))
{
    release(self);
    return Py_NewRef(Py_None);
}

static PyObject *prepared_get_out(struct prepared *self, void *Py_UNUSED(unused))
{
    return Py_NewRef(self->state.value);
}

static PyObject *prepared_get_shape(struct prepared *self, void *Py_UNUSED(unused))
{
    const struct window *window = &self->job.operation.layout.window;

    return tuple_of_integers(window->shape, window->result_rank);
}

static PyObject *prepared_get_bytes(struct prepared *self, void *Py_UNUSED(unused))
{
    return PyLong_FromLongLong(self->job.operation.layout.bytes);
}

static PyObject *prepared_get_name(struct prepared *self, void *Py_UNUSED(unused))
{
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
