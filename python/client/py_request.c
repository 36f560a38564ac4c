/* SPDX-License-Identifier: BSD-3-Clause */
#include <Python.h>

#include <stdlib.h>
#include <string.h>
#include <structmember.h>
#include <unistd.h>

#include "python/client/py_request.h"
#include "python/core/errors.h"
#include "python/core/operation.h"

enum { BYTES_WITH_GIL = 32 * 1024 };

/* Copies */

int run_nest(const struct nest *nest, int64_t bytes)
{
    PyThreadState *thread = bytes > BYTES_WITH_GIL ? PyEval_SaveThread() : NULL;
    const mli_status status = nest_run(nest);

    if (thread)
        PyEval_RestoreThread(thread);
    return status == MLI_STATUS_OK ? 0 : raise_last_error(status);
}

void landing_free(struct landing *landing)
{
    if (!landing)
        return;
    view_release(&landing->out);
    free(landing);
}

/* Life of a request */

static void forget_memory(struct py_request *request)
{
    for (int i = 0; i < 2; i++) {
        struct memory *memory = request->kept[i];

        if (memory && !memory->buffer && !memory->pooled)
            memory_settle(memory);
        request->kept[i] = NULL;
        Py_XDECREF((PyObject *)memory);
    }
    if (request->owns_landing)
        landing_free((struct landing *)(uintptr_t)request->landing);
    request->landing = NULL;
    if (request->keeper)
        request->keeper->pending--;
    Py_XDECREF((PyObject *)request->keeper);
    request->keeper = NULL;
}

/* Frees a request that has ended, and that has no ticket. */
static void py_request_free(struct py_request *request)
{
    forget_memory(request);
    if (request->fd >= 0)
        close(request->fd);
    Py_XDECREF(request->value);
    Py_XDECREF(request->store);
    Py_XDECREF(request->callbacks);
    free(request->error);
    free(request);
}

struct ticket {
    PyObject_HEAD struct py_request *request;
    struct connection *connection; /* strong */
    PyObject *weak;
};

static PyMemberDef weak[] = {
    {"__weaklistoffset__", T_PYSSIZET, offsetof(struct ticket, weak), READONLY, NULL},
    {NULL, 0, 0, 0, NULL},
};

static PyTypeObject *ticket_type;

/* Returns the ticket of a new request, or null. When the request has ended, the ticket owns it. */
static PyObject *ticket_new(struct connection *connection, struct py_request *request)
{
    struct ticket *ticket = PyObject_GC_New(struct ticket, ticket_type);

    if (!ticket)
        return NULL;
    ticket->request = request;
    ticket->connection = (struct connection *)Py_NewRef((PyObject *)connection);
    ticket->weak = NULL;
    request->has_object = true;
    PyObject_GC_Track(ticket);
    return (PyObject *)ticket;
}

struct py_request *py_request_create(struct connection *connection, enum request_kind kind,
                                     PyObject **ticket)
{
    struct py_request *request = calloc(1, sizeof(*request));

    if (!request) {
        PyErr_NoMemory();
        return NULL;
    }
    request->kind = kind;
    request->connection = connection;
    request->serial = ++connection->serial;
    request->fd = -1;
    *ticket = ticket_new(connection, request);
    if (*ticket)
        return request;
    free(request);
    return NULL;
}

void py_request_add(struct py_request *request)
{
    struct connection *connection = request->connection;

    request->previous = connection->last;
    if (connection->last)
        connection->last->next = request;
    else
        connection->first = request;
    connection->last = request;
}

static void leave_list(struct py_request *request)
{
    struct connection *connection = request->connection;

    if (request->next)
        request->next->previous = request->previous;
    else
        connection->last = request->previous;
    if (request->previous)
        request->previous->next = request->next;
    else
        connection->first = request->next;
    request->next = request->previous = NULL;
}

void py_request_drop(struct py_request *request, PyObject *ticket)
{
    request->state = REQUEST_FAILED;
    Py_DECREF(ticket); /* frees the request */
}

static void call_callbacks(struct py_request *request)
{
    PyObject *callbacks = request->callbacks, *ticket = request->ticket;

    request->callbacks = request->ticket = NULL;
    for (Py_ssize_t i = 0; callbacks && i < PyList_Size(callbacks); i++) {
        PyObject *returned =
            PyObject_CallFunctionObjArgs(PyList_GetItem(callbacks, i), ticket, NULL);

        if (!returned)
            connection_keep_exception(request->connection);
        Py_XDECREF(returned);
    }
    Py_XDECREF(callbacks);
    Py_XDECREF(ticket); /* may free the request */
}

/* Ends a request that is no longer in the list. */
static void end(struct py_request *request, enum request_state state)
{
    request->state = state;
    forget_memory(request);
    if (!request->has_object)
        py_request_free(request);
    else if (request->callbacks)
        call_callbacks(request);
}

void py_request_end(struct py_request *request)
{
    end(request, REQUEST_DONE);
}

/* Keeps an error. If there is no memory for the error, the request fails without a message. */
static void take_error(struct py_request *request, const mli_client_error *error)
{
    request->error = malloc(sizeof(*error));
    if (request->error)
        *request->error = *error;
}

/* Copies the result into the program's array, unless the program has given the result up. Returns 0
 * or -1. */
static int land(struct py_request *request)
{
    const struct landing *landing = request->landing;

    if (!landing || request->abandoned)
        return 0;
    if (run_nest(&landing->nest, (int64_t)request->result.bytes) == 0)
        return 0;
    connection_keep_exception(request->connection);
    return -1;
}

static void fail_landing(struct py_request *request)
{
    mli_client_error error = {.code = MLI_CLIENT_SYSTEM, .name = "SYSTEM"};

    strcpy(error.message, "the result could not be copied into `out`");
    take_error(request, &error);
}

void py_request_on_done(mli_client *Py_UNUSED(client), mli_client_ticket Py_UNUSED(ticket),
                        const mli_client_result *result, const mli_client_error *error, void *user)
{
    struct py_request *request = user;

    leave_list(request);
    if (!error) {
        request->result = *result;
        request->result.owned = NULL;
        if (land(request) == 0) {
            end(request, REQUEST_DONE);
            return;
        }
        fail_landing(request);
    } else {
        take_error(request, error);
    }
    end(request, REQUEST_FAILED);
}

/* Replies to other requests */

static int take_reply(struct py_request *request, const char *line, size_t length)
{
    if (request->kind == REQUEST_PREPARE) {
        const uint32_t number = number_in_reply(line, "\"prepared\":");

        if (number == 0)
            return raise_client_error(MLI_CLIENT_UNREADABLE, "UNREADABLE",
                                      "the reply to job.prepare has no number");
        ((struct prepared_state *)request->value)->id = number;
        return 0;
    }
    request->value = PyBytes_FromStringAndSize(line, (Py_ssize_t)length);
    return request->value ? 0 : -1;
}

void py_request_on_reply(mli_client *Py_UNUSED(client), mli_client_ticket Py_UNUSED(ticket),
                         const char *line, size_t length, int fd, const mli_client_error *error,
                         void *user)
{
    struct py_request *request = user;

    leave_list(request);
    request->fd = fd;
    if (!error && take_reply(request, line, length) == 0) {
        end(request, REQUEST_DONE);
        return;
    }
    if (error)
        take_error(request, error);
    else
        connection_keep_exception(request->connection);
    end(request, REQUEST_FAILED);
}

void py_request_fail_all(struct connection *connection)
{
    mli_client_error error = {.code = MLI_CLIENT_LOST, .name = "LOST"};

    strcpy(error.message, "the client was closed");
    while (connection->first) {
        struct py_request *request = connection->first;

        leave_list(request);
        take_error(request, &error);
        end(request, REQUEST_FAILED);
    }
}

static PyObject *cost_type, *cancel_older;

/* The connection owns the objects of a pending request. */
static int ticket_traverse(struct ticket *self, visitproc visit, void *arg)
{
    Py_VISIT(Py_TYPE((PyObject *)self));
    if (self->request->state != REQUEST_PENDING) {
        Py_VISIT(self->request->value);
        Py_VISIT(self->request->store);
    }
    return 0;
}

static int ticket_clear(struct ticket *self)
{
    if (self->request->state != REQUEST_PENDING) {
        Py_CLEAR(self->request->value);
        Py_CLEAR(self->request->store);
    }
    return 0;
}

static void ticket_dealloc(struct ticket *self)
{
    PyTypeObject *type = Py_TYPE((PyObject *)self);

    PyObject_GC_UnTrack(self);
    if (self->weak)
        PyObject_ClearWeakRefs((PyObject *)self);
    self->request->has_object = false;
    if (self->request->state != REQUEST_PENDING)
        py_request_free(self->request);
    Py_DECREF((PyObject *)self->connection);
    PyObject_GC_Del(self);
    Py_DECREF((PyObject *)type);
}

PyDoc_STRVAR(done_doc,
             "done($self, /)\n--\n\n"
             "Return whether the job has ended. Reads what has arrived, without waiting.");

static PyObject *ticket_done(struct ticket *self, PyObject *Py_UNUSED(unused))
{
    struct connection *connection = self->connection;
    int status = 0;

    if (self->request->state == REQUEST_PENDING && connection_may_read(connection) &&
        connection_enter(connection) == 0) {
        status = connection_dispatch(connection);
        connection_leave(connection);
    }
    return status ? NULL : PyBool_FromLong(self->request->state != REQUEST_PENDING);
}

/* Returns the value of a request that has ended, or null with its exception. */
static PyObject *value_of(struct py_request *request)
{
    static const mli_client_error no_memory = {
        .code = MLI_CLIENT_NO_MEMORY, .name = "NO_MEMORY", .message = "out of memory"};

    if (request->state == REQUEST_DONE && request->store) {
        PyObject *store = request->store, *stored;

        request->store = NULL;
        stored = PyObject_CallObject(store, NULL);
        Py_DECREF(store);
        if (!stored)
            return NULL;
        Py_DECREF(stored);
    }
    if (request->state == REQUEST_DONE)
        return Py_NewRef(request->value ? request->value : Py_None);
    raise_service_error(request->error ? request->error : &no_memory);
    return NULL;
}

static PyObject *wait_for(struct ticket *self, double limit)
{
    struct py_request *request = self->request;
    double seconds = limit < Py_HUGE_VAL ? limit : self->connection->timeout;
    const double all = seconds;

    if (request->state != REQUEST_PENDING)
        return value_of(request);
    if (connection_enter(self->connection))
        return NULL;
    int status = connection_may_wait(self->connection);
    const double end = connection_clock() + seconds;
    while (status == 0 && request->state == REQUEST_PENDING) {
        status = connection_turn(self->connection, seconds);
        if (seconds < Py_HUGE_VAL)
            seconds = end - connection_clock();
        if (status == 0 && seconds <= 0 && request->state == REQUEST_PENDING)
            status = 1;
    }
    connection_leave(self->connection);
    if (status > 0)
        raise_no_reply(all);
    return status ? NULL : value_of(request);
}

PyDoc_STRVAR(
    result_doc,
    "result($self, /, timeout=None)\n--\n\n"
    "Wait until the job has ended, at most `timeout` seconds (default: those of the client),\n"
    "and return the array that holds the result.\n\n"
    "Raises mli.ServiceTimeoutError, a TimeoutError, and the job continues;\n"
    "mli.ServiceError, if the job failed.");

static PyObject *ticket_result(struct ticket *self, PyObject *const *values, Py_ssize_t count,
                               PyObject *names)
{
    const Py_ssize_t named = names ? PyTuple_Size(names) : 0;
    double seconds;

    if (count + named > 1 || (named == 1 && PyUnicode_CompareWithASCIIString(
                                                PyTuple_GetItem(names, 0), "timeout") != 0)) {
        PyErr_SetString(PyExc_TypeError, "result() takes only the argument timeout");
        return NULL;
    }
    if (read_seconds(count + named == 1 ? values[0] : NULL, &seconds))
        return NULL;
    return wait_for(self, seconds);
}

/* Cancelling. A name at the service means the latest job with that name. */

/* Returns how many later pending requests, up to the serial number `serial`, have the name of this
 * request. */
static long count_later(const struct py_request *request, uint64_t serial)
{
    long count = 0;

    for (const struct py_request *later = request->next; later; later = later->next) {
        if (later->serial <= serial && strcmp(later->name, request->name) == 0)
            count++;
    }
    return count;
}

PyDoc_STRVAR(later_doc, "_later($self, serial, /)\n--\n\n"
                        "Return how many later jobs on their way have the same name, up to a\n"
                        "serial number of the connection.");

static PyObject *ticket_later(struct ticket *self, PyObject *number)
{
    const unsigned long long serial = PyLong_AsUnsignedLongLong(number);

    if (serial == (unsigned long long)-1 && PyErr_Occurred())
        return NULL;
    return PyLong_FromLong(count_later(self->request, serial));
}

/* Returns whether the name means this job to the service, and not a later one. */
static bool is_named(const struct py_request *request)
{
    /* A name without "py:" is the program's, which may use it again. */
    if (strncmp(request->name, "py:", 3) != 0)
        return false;
    return !request->keeper || request->keeper->latest == request->serial;
}

PyDoc_STRVAR(named_doc, "_named($self, /)\n--\n\n"
                        "Return whether the name means this job on its way, and not a later one.");

static PyObject *ticket_named(struct ticket *self, PyObject *Py_UNUSED(unused))
{
    return PyBool_FromLong(is_named(self->request));
}

PyDoc_STRVAR(
    cancel_doc,
    "cancel($self, /)\n--\n\n"
    "Request that the job end early. It ends a little later, with the error CANCELLED, or\n"
    "normally, if the job is done before. Does not wait.");

static PyObject *ticket_cancel(struct ticket *self, PyObject *Py_UNUSED(unused))
{
    struct py_request *request = self->request;

    if (request->kind != REQUEST_JOB || request->state != REQUEST_PENDING)
        return Py_NewRef(Py_None);
    return PyObject_CallFunction(cancel_older, "OOO", self->connection, self,
                                 is_named(request) ? Py_True : Py_False);
}

PyDoc_STRVAR(
    wrap_doc,
    "_wrap($self, wrap, store, /)\n--\n\n"
    "Make wrap(array) the result, or the result of each start of a prepared job. store(),\n"
    "or None, is called before the result is returned.");

static PyObject *ticket_wrap(struct ticket *self, PyObject *args)
{
    struct py_request *request = self->request;
    struct prepared_state *prepared = (struct prepared_state *)request->value; /* REQUEST_PREPARE */
    PyObject *wrap, *store;
    int status;

    if (!PyArg_ParseTuple(args, "OO:_wrap", &wrap, &store))
        return NULL;
    if (request->kind == REQUEST_PREPARE)
        status = result_wrap(wrap, store, &prepared->value, &prepared->store);
    else
        status = result_wrap(wrap, store, &request->value, &request->store);
    return status ? NULL : Py_NewRef(Py_None);
}

PyDoc_STRVAR(abandon_doc, "_abandon($self, /)\n--\n\n"
                          "Do not write the result into `out` when it arrives.");

static PyObject *ticket_abandon(struct ticket *self, PyObject *Py_UNUSED(unused))
{
    self->request->abandoned = true;
    return Py_NewRef(Py_None);
}

PyDoc_STRVAR(add_done_callback_doc,
             "add_done_callback($self, callback, /)\n--\n\n"
             "Call `callback(ticket)` when the reply arrives: in a call that waits or dispatches.\n"
             "If it has arrived, call it now. The callback must not wait. Its exception is raised\n"
             "by the call that waits.");

static PyObject *ticket_add_done_callback(struct ticket *self, PyObject *callback)
{
    struct py_request *request = self->request;

    if (request->state != REQUEST_PENDING)
        return PyObject_CallFunctionObjArgs(callback, (PyObject *)self, NULL);
    if (!request->callbacks && !(request->callbacks = PyList_New(0)))
        return NULL;
    if (PyList_Append(request->callbacks, callback) < 0)
        return NULL;
    if (!request->ticket)
        request->ticket = Py_NewRef((PyObject *)self);
    return Py_NewRef(Py_None);
}

PyDoc_STRVAR(take_fd_doc, "_take_fd($self, /)\n--\n\n"
                          "Return the descriptor of the reply, which the caller closes; -1: none.");

static PyObject *ticket_take_fd(struct ticket *self, PyObject *Py_UNUSED(unused))
{
    const int fd = self->request->fd;

    self->request->fd = -1;
    return PyLong_FromLong(fd);
}

static PyObject *ticket_get_number(struct ticket *self, void *Py_UNUSED(unused))
{
    const struct py_request *request = self->request;
    const uint64_t number = request->state == REQUEST_DONE ? request->result.job : 0;

    return number ? PyLong_FromUnsignedLongLong(number) : Py_NewRef(Py_None);
}

static PyObject *ticket_get_name(struct ticket *self, void *Py_UNUSED(unused))
{
    return self->request->name[0] ? PyUnicode_FromString(self->request->name) : Py_NewRef(Py_None);
}

static PyObject *ticket_get_ended(struct ticket *self, void *Py_UNUSED(unused))
{
    return PyBool_FromLong(self->request->state != REQUEST_PENDING);
}

static PyObject *ticket_get_cost(struct ticket *self, void *Py_UNUSED(unused))
{
    const mli_client_result *result = &self->request->result;

    if (self->request->state != REQUEST_DONE || self->request->kind != REQUEST_JOB)
        return Py_NewRef(Py_None);
    return PyObject_CallFunction(
        cost_type, "KIsKK", (unsigned long long)result->bytes, result->channels, result->engine,
        (unsigned long long)result->ns_queued, (unsigned long long)result->ns_moving);
}

static PyMethodDef methods[] = {
    {"done", (PyCFunction)ticket_done, METH_NOARGS, done_doc},
    {"result", (PyCFunction)(void (*)(void))ticket_result, METH_FASTCALL | METH_KEYWORDS,
     result_doc},
    {"cancel", (PyCFunction)ticket_cancel, METH_NOARGS, cancel_doc},
    {"add_done_callback", (PyCFunction)ticket_add_done_callback, METH_O, add_done_callback_doc},
    {"_abandon", (PyCFunction)ticket_abandon, METH_NOARGS, abandon_doc},
    {"__class_getitem__", Py_GenericAlias, METH_O | METH_CLASS, NULL},
    {"_wrap", (PyCFunction)ticket_wrap, METH_VARARGS, wrap_doc},
    {"_named", (PyCFunction)ticket_named, METH_NOARGS, named_doc},
    {"_later", (PyCFunction)ticket_later, METH_O, later_doc},
    {"_take_fd", (PyCFunction)ticket_take_fd, METH_NOARGS, take_fd_doc},
    {NULL, NULL, 0, NULL},
};

static PyGetSetDef members[] = {
    {"number", (getter)ticket_get_number, NULL,
     "Number of the job at the service; None before its end, and of a failed job.", NULL},
    {"name", (getter)ticket_get_name, NULL, "Name of the job.", NULL},
    {"_ended", (getter)ticket_get_ended, NULL, "As done(), without reading.", NULL},
    {"cost", (getter)ticket_get_cost, NULL,
     "mli.JobCost(bytes, channels, engine, ns_queued, ns_moving); None before the end.", NULL},
    {NULL, NULL, NULL, NULL, NULL},
};

PyDoc_STRVAR(ticket_doc, "A job on its way: ticket.result() waits for its end. Dropping the ticket "
                         "does not end the job.");

static PyType_Slot slots[] = {
    {Py_tp_doc, (void *)(uintptr_t)ticket_doc},
    {Py_tp_traverse, ticket_traverse},
    {Py_tp_clear, ticket_clear},
    {Py_tp_members, weak},
    {Py_tp_dealloc, ticket_dealloc},
    {Py_tp_methods, methods},
    {Py_tp_getset, members},
    {0, NULL},
};

static PyType_Spec spec = {
    .name = "mli.Ticket",
    .basicsize = sizeof(struct ticket),
    .flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_HAVE_GC | Py_TPFLAGS_DISALLOW_INSTANTIATION,
    .slots = slots,
};

int ticket_init(PyObject *module)
{
    cost_type = import_attribute("mli._jobs", "JobCost");
    cancel_older = import_attribute("mli._jobs", "cancel");
    ticket_type = (PyTypeObject *)PyType_FromSpec(&spec);
    return cost_type && cancel_older && ticket_type ? PyModule_AddType(module, ticket_type) : -1;
}
