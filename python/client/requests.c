/* SPDX-License-Identifier: BSD-3-Clause */
#include "python/client/requests.h"

#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <structmember.h>
#include <unistd.h>

#include "python/client/errand.h"
#include "python/client/jobs.h"
#include "python/client/memory.h"
#include "python/client/service_error.h"
#include "python/core/integers.h"
#include "python/core/window.h"

enum { FDS_MAX = 16 };

PyTypeObject *connection_type;

static void on_ignored(mli_client *client, mli_client_ticket ticket, const char *line,
                       size_t length, int fd, const mli_client_error *error, void *user)
{
    (void)client, (void)ticket, (void)line, (void)length, (void)error, (void)user;
    if (fd >= 0)
        close(fd);
}

void requests_send_quietly(struct connection *connection, const char *method, const char *params)
{
    mli_client_ticket ticket;

    mli_client_call_async(connection->client, method, params, NULL, 0, on_ignored, NULL, &ticket,
                          NULL);
}

PyDoc_STRVAR(submit_doc, "submit($self, src, /, **arguments)\n--\n\nSee mli.Client.start.");
PyDoc_STRVAR(prepare_doc, "prepare($self, src, /, **arguments)\n--\n\nSee mli.Client.plan.");

/* Reads descriptors, which libmli_client checks. Returns 0, or -1 with an exception. */
static int read_descriptors(PyObject *fds, Py_ssize_t count, mli_client_attachment *attachments)
{
    if (count > FDS_MAX) {
        raise_client_error(MLI_CLIENT_MISUSE, "MISUSE", "fds: %zd given; at most %d are allowed",
                           count, FDS_MAX);
        return -1;
    }
    for (Py_ssize_t i = 0; i < count; i++) {
        int64_t fd;

        if (read_integer(PyTuple_GetItem(fds, i), "fds", i, &fd))
            return -1;
        attachments[i] =
            (mli_client_attachment){.fd = fd < 0 || fd > INT_MAX ? -1 : (int)fd, .send = true};
    }
    return 0;
}

PyDoc_STRVAR(call_doc,
             "call($self, method, params=None, fds=(), /)\n--\n\n"
             "Send a request. `params` is JSON text. The result of the ticket is the reply, as\n"
             "bytes.");

static PyObject *call(struct connection *self, PyObject *args)
{
    mli_client_attachment attachments[FDS_MAX];
    const char *method, *params = NULL;
    PyObject *fds = NULL, *ticket = NULL;
    mli_client_ticket number;
    mli_client_error error;
    Py_ssize_t count;

    if (!PyArg_ParseTuple(args, "s|zO!:call", &method, &params, &PyTuple_Type, &fds) ||
        (strcmp(method, "buffer.alloc") == 0 && memory_check_descriptor()))
        return NULL;
    count = fds ? PyTuple_Size(fds) : 0;
    if (read_descriptors(fds, count, attachments))
        return NULL;
    if (connection_enter(self))
        return NULL;
    struct errand *errand = errand_create(self, ERRAND_CALL, &ticket);
    if (errand && mli_client_call_async(self->client, method, params, attachments, (size_t)count,
                                        errand_on_reply, errand, &number, &error)) {
        raise_service_error(&error);
        errand_drop(errand, ticket);
        ticket = NULL;
    } else if (errand) {
        errand_depart(errand);
    }
    connection_leave(self);
    return ticket;
}

PyDoc_STRVAR(send_doc, "send($self, method, params, /)\n--\n\n"
                       "Send a request and drop its reply.");

static PyObject *send_method(struct connection *self, PyObject *args)
{
    const char *method, *params;

    if (!PyArg_ParseTuple(args, "ss:send", &method, &params) || connection_enter(self))
        return NULL;
    requests_send_quietly(self, method, params);
    if (!self->dispatching)
        mli_client_flush(self->client, NULL);
    connection_leave(self);
    return Py_NewRef(Py_None);
}

PyDoc_STRVAR(map_doc, "map($self, fd, size, buffer, writable, /)\n--\n\n"
                      "Map a descriptor, which the result owns, and return its Memory.");

static PyObject *map(struct connection *self, PyObject *args)
{
    struct memory *memory = NULL;
    unsigned long buffer;
    int fd, writable;
    Py_ssize_t size;

    if (!PyArg_ParseTuple(args, "inkp:map", &fd, &size, &buffer, &writable) ||
        connection_enter(self))
        return NULL;
    if (size > 0 && buffer <= UINT32_MAX)
        memory = memory_map(self, fd, (size_t)size, (uint32_t)buffer, writable);
    else
        PyErr_SetString(PyExc_ValueError, "size: at least 1 is required");
    connection_leave(self);
    return (PyObject *)memory;
}

/* Waits and event loops */

PyDoc_STRVAR(turn_doc, "turn($self, timeout=None, /)\n--\n\n"
                       "Wait until the service has sent something, at most `timeout` seconds, and\n"
                       "dispatch it. Return whether something arrived.");

static PyObject *turn(struct connection *self, PyObject *args)
{
    PyObject *timeout = Py_None;
    double seconds;
    int status;

    if (!PyArg_ParseTuple(args, "|O:turn", &timeout) || read_seconds(timeout, &seconds) ||
        connection_enter(self))
        return NULL;
    status = connection_may_wait(self);
    if (status == 0)
        status = connection_turn(self, seconds);
    connection_leave(self);
    return status < 0 ? NULL : PyBool_FromLong(status == 0);
}

PyDoc_STRVAR(dispatch_doc, "dispatch($self, /)\n--\n\n"
                           "Send and receive without waiting, and call callbacks.");

static PyObject *dispatch(struct connection *self, PyObject *unused)
{
    int status;

    (void)unused;
    if (connection_enter(self))
        return NULL;
    status = connection_may_wait(self);
    if (status == 0)
        status = connection_dispatch(self);
    connection_leave(self);
    return status ? NULL : Py_NewRef(Py_None);
}

PyDoc_STRVAR(flush_doc, "flush($self, /)\n--\n\n"
                        "Send queued requests without waiting. Errors appear in the tickets.");

static PyObject *flush(struct connection *self, PyObject *unused)
{
    (void)unused;
    if (connection_enter(self))
        return NULL;
    mli_client_flush(self->client, NULL);
    connection_leave(self);
    return Py_NewRef(Py_None);
}

PyDoc_STRVAR(close_doc, "close($self, /)\n--\n\nClose the connection. Tickets fail.");

static PyObject *close_method(struct connection *self, PyObject *unused)
{
    (void)unused;
    if (!self->client)
        return Py_NewRef(Py_None);
    if (self->owner == getpid()) {
        if (connection_enter(self))
            return NULL;
        const int status = connection_may_wait(self);

        connection_leave(self);
        if (status)
            return NULL;
    }
    connection_close(self);
    return connection_raise(self) ? NULL : Py_NewRef(Py_None);
}

PyDoc_STRVAR(set_notify_doc, "set_notify($self, callback, /)\n--\n\n"
                             "Call `callback(line)` for each notification, as bytes; None: never.");

static PyObject *set_notify(struct connection *self, PyObject *callback)
{
    Py_XDECREF(self->notify);
    self->notify = callback == Py_None ? NULL : Py_NewRef(callback);
    return Py_NewRef(Py_None);
}

PyDoc_STRVAR(exit_code_doc, "exit_code($self, /)\n--\n\n"
                            "Return the exit code of the command of spawn(); None: it runs.");

static PyObject *exit_code(struct connection *self, PyObject *unused)
{
    int code;

    (void)unused;
    if (connection_enter(self))
        return NULL;
    Py_BEGIN_ALLOW_THREADS code = mli_client_command_status(self->client);
    Py_END_ALLOW_THREADS connection_leave(self);
    return code < 0 ? Py_NewRef(Py_None) : PyLong_FromLong(code);
}

static PyObject *get_fd(struct connection *self, void *unused)
{
    (void)unused;
    return PyLong_FromLong(self->client ? mli_client_fd(self->client) : -1);
}

static PyObject *get_events(struct connection *self, void *unused)
{
    (void)unused;
    return PyLong_FromLong(self->client ? mli_client_poll_events(self->client) : 0);
}

static PyObject *get_connected(struct connection *self, void *unused)
{
    (void)unused;
    return PyBool_FromLong(self->client && mli_client_connected(self->client));
}

static PyObject *get_closed(struct connection *self, void *unused)
{
    (void)unused;
    return PyBool_FromLong(!self->client);
}

static PyObject *get_path(struct connection *self, void *unused)
{
    (void)unused;
    return PyUnicode_DecodeFSDefault(self->client ? mli_client_path(self->client) : "");
}

static PyObject *get_inlined(struct connection *self, void *unused)
{
    (void)unused;
    return PyBool_FromLong(self->inlined);
}

static PyObject *get_greeting(struct connection *self, void *unused)
{
    (void)unused;
    return Py_NewRef(self->greeting ? self->greeting : Py_None);
}

static PyObject *get_pending(struct connection *self, void *unused)
{
    (void)unused;
    return PyLong_FromSize_t(self->client ? mli_client_pending(self->client) : 0);
}

static PyObject *get_timeout(struct connection *self, void *unused)
{
    (void)unused;
    return self->timeout < Py_HUGE_VAL ? PyFloat_FromDouble(self->timeout) : Py_NewRef(Py_None);
}

static int set_timeout(struct connection *self, PyObject *value, void *unused)
{
    double seconds;

    (void)unused;
    if (read_seconds(value, &seconds))
        return -1;
    self->timeout = seconds;
    return 0;
}

static PyObject *get_has_room(struct connection *self, void *unused)
{
    (void)unused;
    return PyBool_FromLong(connection_has_room(self));
}

PyDoc_STRVAR(set_nonblocking_doc, "set_nonblocking($self, /)\n--\n\n"
                                  "Make submit() queue a job if there is no room, instead of "
                                  "waiting: see has_room.");

static PyObject *set_nonblocking(struct connection *self, PyObject *unused)
{
    (void)unused;
    self->nonblocking = true;
    return Py_NewRef(Py_None);
}

static PyObject *get_serial(struct connection *self, void *unused)
{
    (void)unused;
    return PyLong_FromUnsignedLongLong(self->serial);
}

static PyMethodDef methods[] = {
    {"submit", (PyCFunction)(void (*)(void))jobs_submit, METH_VARARGS | METH_KEYWORDS, submit_doc},
    {"prepare", (PyCFunction)(void (*)(void))jobs_prepare, METH_VARARGS | METH_KEYWORDS,
     prepare_doc},
    {"call", (PyCFunction)call, METH_VARARGS, call_doc},
    {"send", (PyCFunction)send_method, METH_VARARGS, send_doc},
    {"map", (PyCFunction)map, METH_VARARGS, map_doc},
    {"turn", (PyCFunction)turn, METH_VARARGS, turn_doc},
    {"dispatch", (PyCFunction)dispatch, METH_NOARGS, dispatch_doc},
    {"flush", (PyCFunction)flush, METH_NOARGS, flush_doc},
    {"close", (PyCFunction)close_method, METH_NOARGS, close_doc},
    {"set_notify", (PyCFunction)set_notify, METH_O, set_notify_doc},
    {"set_nonblocking", (PyCFunction)set_nonblocking, METH_NOARGS, set_nonblocking_doc},
    {"exit_code", (PyCFunction)exit_code, METH_NOARGS, exit_code_doc},
    {NULL, NULL, 0, NULL},
};

static PyGetSetDef members[] = {
    {"fd", (getter)get_fd, NULL, "Descriptor to poll; -1: the connection is lost.", NULL},
    {"events", (getter)get_events, NULL, "Events to poll for.", NULL},
    {"connected", (getter)get_connected, NULL, "False after the loss of the connection.", NULL},
    {"closed", (getter)get_closed, NULL, "True after close().", NULL},
    {"path", (getter)get_path, NULL, "Path of the socket, or the command.", NULL},
    {"inlined", (getter)get_inlined, NULL, "True: no descriptors, no shared memory.", NULL},
    {"greeting", (getter)get_greeting, NULL, "First line of the service; None: not yet.", NULL},
    {"pending", (getter)get_pending, NULL, "Requests without a reply.", NULL},
    {"timeout", (getter)get_timeout, (setter)set_timeout,
     "Seconds of waits without a limit of their own; None: forever.", NULL},
    {"has_room", (getter)get_has_room, NULL,
     "False while many jobs with descriptors are queued in this process.", NULL},
    {"serial", (getter)get_serial, NULL, "Number of requests with a ticket.", NULL},
    {NULL, NULL, NULL, NULL, NULL},
};

PyDoc_STRVAR(connection_doc, "A connection to a service, over libmli_client.");

static PyType_Slot slots[] = {
    {Py_tp_doc, (void *)(uintptr_t)connection_doc},
    {Py_tp_dealloc, connection_dealloc},
    {Py_tp_methods, methods},
    {Py_tp_getset, members},
    {0, NULL},
};

static PyType_Spec spec = {
    .name = "mli._client.Connection",
    .basicsize = sizeof(struct connection),
    .flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_DISALLOW_INSTANTIATION,
    .slots = slots,
};

int requests_init(PyObject *module)
{
    connection_type = (PyTypeObject *)PyType_FromSpec(&spec);
    return connection_type ? PyModule_AddType(module, connection_type) : -1;
}
