/* SPDX-License-Identifier: BSD-3-Clause */
#include "python/client/ticket.h"

#include <string.h>
#include <structmember.h>

#include "python/client/prepared.h"
#include "python/client/service_error.h"
#include "python/core/integers.h"

struct ticket {
    PyObject_HEAD struct errand *errand;
    struct connection *connection; /* strong */
    PyObject *weak;
};

static PyTypeObject *ticket_type;
static PyObject *cost_type, *cancel_older;

PyObject *ticket_new(struct connection *connection, struct errand *errand)
{
    struct ticket *ticket = PyObject_GC_New(struct ticket, ticket_type);

    if (!ticket)
        return NULL;
    ticket->errand = errand;
    ticket->connection = (struct connection *)Py_NewRef((PyObject *)connection);
    ticket->weak = NULL;
    errand->has_object = true;
    PyObject_GC_Track(ticket);
    return (PyObject *)ticket;
}

/* The connection owns the objects of an errand on its way. */
static int ticket_traverse(struct ticket *self, visitproc visit, void *arg)
{
    Py_VISIT(Py_TYPE((PyObject *)self));
    if (self->errand->state != ERRAND_FLYING) {
        Py_VISIT(self->errand->value);
        Py_VISIT(self->errand->store);
    }
    return 0;
}

static int ticket_clear(struct ticket *self)
{
    if (self->errand->state != ERRAND_FLYING) {
        Py_CLEAR(self->errand->value);
        Py_CLEAR(self->errand->store);
    }
    return 0;
}

static void ticket_dealloc(struct ticket *self)
{
    PyTypeObject *type = Py_TYPE((PyObject *)self);

    PyObject_GC_UnTrack(self);
    if (self->weak)
        PyObject_ClearWeakRefs((PyObject *)self);
    self->errand->has_object = false;
    if (self->errand->state != ERRAND_FLYING)
        errand_free(self->errand);
    Py_DECREF((PyObject *)self->connection);
    PyObject_GC_Del(self);
    Py_DECREF((PyObject *)type);
}

PyDoc_STRVAR(done_doc,
             "done($self, /)\n--\n\n"
             "Return whether the job has ended. Reads what has arrived, without waiting.");

static PyObject *ticket_done(struct ticket *self, PyObject *unused)
{
    struct connection *connection = self->connection;
    int status = 0;

    (void)unused;
    if (self->errand->state == ERRAND_FLYING && connection_may_read(connection) &&
        connection_enter(connection) == 0) {
        status = connection_dispatch(connection);
        connection_leave(connection);
    }
    return status ? NULL : PyBool_FromLong(self->errand->state != ERRAND_FLYING);
}

/* Returns the value of an errand that has ended, or null with its exception. */
static PyObject *value_of(struct errand *errand)
{
    static const mli_client_error no_memory = {
        .code = MLI_CLIENT_NO_MEMORY, .name = "NO_MEMORY", .message = "out of memory"};

    if (errand->state == ERRAND_DONE && errand->store) {
        PyObject *store = errand->store, *stored;

        errand->store = NULL;
        stored = PyObject_CallObject(store, NULL);
        Py_DECREF(store);
        if (!stored)
            return NULL;
        Py_DECREF(stored);
    }
    if (errand->state == ERRAND_DONE)
        return Py_NewRef(errand->value ? errand->value : Py_None);
    raise_service_error(errand->error ? errand->error : &no_memory);
    return NULL;
}

static PyObject *wait_for(struct ticket *self, double limit)
{
    struct errand *errand = self->errand;
    double seconds = limit < Py_HUGE_VAL ? limit : self->connection->timeout;
    const double all = seconds;

    if (errand->state != ERRAND_FLYING)
        return value_of(errand);
    if (connection_enter(self->connection))
        return NULL;
    int status = connection_may_wait(self->connection);
    const double end = connection_clock() + seconds;
    while (status == 0 && errand->state == ERRAND_FLYING) {
        status = connection_turn(self->connection, seconds);
        if (seconds < Py_HUGE_VAL)
            seconds = end - connection_clock();
        if (status == 0 && seconds <= 0 && errand->state == ERRAND_FLYING)
            status = 1;
    }
    connection_leave(self->connection);
    if (status > 0)
        raise_no_reply(all);
    return status ? NULL : value_of(errand);
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

/* Returns how many later errands on their way have the name of this one, up to a serial number. */
static long count_later(const struct errand *errand, uint64_t serial)
{
    long count = 0;

    for (const struct errand *later = errand->next; later; later = later->next) {
        if (later->serial <= serial && strcmp(later->name, errand->name) == 0)
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
    return PyLong_FromLong(count_later(self->errand, serial));
}

/* Returns whether the name means this job to the service, and not a later one. */
static bool is_named(const struct errand *errand)
{
    if (strncmp(errand->name, "py:", 3) != 0) /* the program's: it may use it again */
        return false;
    return !errand->keeper || prepared_latest_start(errand->keeper) == errand->serial;
}

PyDoc_STRVAR(named_doc, "_named($self, /)\n--\n\n"
                        "Return whether the name means this job on its way, and not a later one.");

static PyObject *ticket_named(struct ticket *self, PyObject *unused)
{
    (void)unused;
    return PyBool_FromLong(is_named(self->errand));
}

PyDoc_STRVAR(
    cancel_doc,
    "cancel($self, /)\n--\n\n"
    "Request that the job end early. It ends a little later, with the error CANCELLED, or\n"
    "with its own end if that is faster. Does not wait.");

static PyObject *ticket_cancel(struct ticket *self, PyObject *unused)
{
    struct errand *errand = self->errand;

    (void)unused;
    if (errand->kind != ERRAND_JOB || errand->state != ERRAND_FLYING)
        return Py_NewRef(Py_None);
    return PyObject_CallFunction(cancel_older, "OOO", self->connection, self,
                                 is_named(errand) ? Py_True : Py_False);
}

PyDoc_STRVAR(wrap_doc,
             "_wrap($self, wrap, store, /)\n--\n\n"
             "Make wrap(array) the result, of a prepared job that of its starts. store(),\n"
             "or None, is called before the result is returned.");

static PyObject *ticket_wrap(struct ticket *self, PyObject *args)
{
    struct errand *errand = self->errand;
    PyObject *wrap, *store;
    int status;

    if (!PyArg_ParseTuple(args, "OO:_wrap", &wrap, &store))
        return NULL;
    if (errand->kind == ERRAND_PREPARE)
        status = prepared_wrap(errand->value, wrap, store);
    else
        status = wrap_result(wrap, store, &errand->value, &errand->store);
    return status ? NULL : Py_NewRef(Py_None);
}

PyDoc_STRVAR(abandon_doc, "_abandon($self, /)\n--\n\n"
                          "Do not write the result into `out` when it arrives.");

static PyObject *ticket_abandon(struct ticket *self, PyObject *unused)
{
    (void)unused;
    self->errand->abandoned = true;
    return Py_NewRef(Py_None);
}

PyDoc_STRVAR(add_done_callback_doc,
             "add_done_callback($self, callback, /)\n--\n\n"
             "Call `callback(ticket)` when the reply arrives: in a call that waits or dispatches.\n"
             "If it has arrived, call it now. The callback must not wait. Its exception is raised\n"
             "by the call that waits.");

static PyObject *ticket_add_done_callback(struct ticket *self, PyObject *callback)
{
    struct errand *errand = self->errand;

    if (errand->state != ERRAND_FLYING)
        return PyObject_CallFunctionObjArgs(callback, (PyObject *)self, NULL);
    if (!errand->callbacks && !(errand->callbacks = PyList_New(0)))
        return NULL;
    if (PyList_Append(errand->callbacks, callback) < 0)
        return NULL;
    if (!errand->ticket)
        errand->ticket = Py_NewRef((PyObject *)self);
    return Py_NewRef(Py_None);
}

PyDoc_STRVAR(take_fd_doc, "_take_fd($self, /)\n--\n\n"
                          "Return the descriptor of the reply, which the caller closes; -1: none.");

static PyObject *ticket_take_fd(struct ticket *self, PyObject *unused)
{
    const int fd = self->errand->fd;

    (void)unused;
    self->errand->fd = -1;
    return PyLong_FromLong(fd);
}

static PyObject *ticket_get_number(struct ticket *self, void *unused)
{
    const struct errand *errand = self->errand;
    const uint64_t number = errand->state == ERRAND_DONE ? errand->result.job : 0;

    (void)unused;
    return number ? PyLong_FromUnsignedLongLong(number) : Py_NewRef(Py_None);
}

static PyObject *ticket_get_name(struct ticket *self, void *unused)
{
    (void)unused;
    return self->errand->name[0] ? PyUnicode_FromString(self->errand->name) : Py_NewRef(Py_None);
}

static PyObject *ticket_get_ended(struct ticket *self, void *unused)
{
    (void)unused;
    return PyBool_FromLong(self->errand->state != ERRAND_FLYING);
}

static PyObject *ticket_get_cost(struct ticket *self, void *unused)
{
    const mli_client_result *result = &self->errand->result;

    (void)unused;
    if (self->errand->state != ERRAND_DONE || self->errand->kind != ERRAND_JOB)
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

static PyMemberDef weak[] = {
    {"__weaklistoffset__", T_PYSSIZET, offsetof(struct ticket, weak), READONLY, NULL},
    {NULL, 0, 0, 0, NULL},
};

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
    PyObject *jobs = PyImport_ImportModule("mli._jobs");

    if (jobs) {
        cost_type = PyObject_GetAttrString(jobs, "JobCost");
        cancel_older = PyObject_GetAttrString(jobs, "cancel");
    }
    Py_XDECREF(jobs);
    ticket_type = (PyTypeObject *)PyType_FromSpec(&spec);
    return cost_type && cancel_older && ticket_type ? PyModule_AddType(module, ticket_type) : -1;
}
