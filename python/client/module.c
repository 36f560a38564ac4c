/* SPDX-License-Identifier: BSD-3-Clause */
/* The extension module mli._client: see connection.h. The package mli is its public interface. */
#include <Python.h>

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <time.h>
#include <unistd.h>

#include "python/client/connection.h"
#include "python/client/memory.h"
#include "python/client/prepared.h"
#include "python/client/py_job.h"
#include "python/client/py_request.h"
#include "python/client/tied_process.h"
#include "python/core/errors.h"
#include "python/core/integers.h"

struct job_arguments {
    struct arguments move;
    PyObject *priority, *timeout, *after, *name;
};

static int read_arguments(struct job_arguments *a, PyObject *args, PyObject *kwargs)
{
    static char *names[] = {KEYWORD("src"),
                            KEYWORD("pad"),
                            KEYWORD("slice"),
                            KEYWORD("step"),
                            KEYWORD("perm"),
                            KEYWORD("out"),
                            KEYWORD("at"),
                            KEYWORD("channels"),
                            KEYWORD("priority"),
                            KEYWORD("timeout"),
                            KEYWORD("after"),
                            KEYWORD("name"),
                            NULL};
    struct arguments *move = &a->move;
    PyObject **const optional[] = {&move->pad, &move->slice, &move->step,    &move->perm,
                                   &move->out, &move->at,    &move->channels};

    *a = (struct job_arguments){0};
    if (!PyArg_ParseTupleAndKeywords(args, kwargs, "O|$OOOOOOOOOOO:submit", names, &move->src,
                                     &move->pad, &move->slice, &move->step, &move->perm, &move->out,
                                     &move->at, &move->channels, &a->priority, &a->timeout,
                                     &a->after, &a->name))
        return -1;
    for (size_t i = 0; i < sizeof(optional) / sizeof(optional[0]); i++) {
        if (*optional[i] == Py_None)
            *optional[i] = NULL;
    }
    return 0;
}

/* Opens a job from all arguments except `after`. */
static int open_job(struct py_job *job, struct connection *connection,
                    const struct job_arguments *a, char *name)
{
    uint32_t channels, timeout_ms;
    int32_t priority;

    if (read_channels(a->move.channels, &channels) || read_priority(a->priority, &priority) ||
        read_limit_ms(a->timeout, &timeout_ms) ||
        read_name(a->name, connection, name, REQUEST_NAME_MAX) ||
        py_job_open(job, connection, &a->move))
        return -1;
    job->args.channels = channels;
    job->args.priority = priority;
    job->args.timeout_ms = timeout_ms;
    job->args.name = name;
    return 0;
}

/* Closes the descriptors of memories after their request: the library duplicates what it queues. */
static void settle(struct connection *connection, struct memory *src, struct memory *dst)
{
    if (src->fd >= 0 || dst->fd >= 0)
        connection_crowd(connection);
    memory_settle(src);
    memory_settle(dst);
}

/* Sends a job. Returns its ticket, or null with an exception. */
static PyObject *send_job(struct connection *connection, struct py_job *job)
{
    mli_client_ticket number;
    mli_client_error error;
    PyObject *ticket;
    struct py_request *request = py_request_create(connection, REQUEST_JOB, &ticket);

    if (!request)
        return NULL;
    if (job->operation.layout.bytes == 0) {
        py_job_hand_over(job, request);
        py_request_end(request);
        return ticket;
    }
    if (mli_client_submit_async(connection->client, &job->args, py_request_on_done, request,
                                &number, &error)) {
        raise_service_error(&error);
        py_request_drop(request, ticket);
        return NULL;
    }
    snprintf(request->name, sizeof(request->name), "%s", job->args.name);
    py_job_hand_over(job, request);
    py_request_add(request);
    settle(connection, request->kept[0], request->kept[1]);
    return ticket;
}

/* Sends a job. Returns its ticket, or null with an exception. */
static PyObject *jobs_submit(struct connection *self, PyObject *args, PyObject *kwargs)
{
    struct references references = {0};
    struct job_arguments arguments;
    char name[REQUEST_NAME_MAX];
    struct py_job job;
    PyObject *ticket = NULL;

    if (read_arguments(&arguments, args, kwargs) || connection_enter(self))
        return NULL;
    if (connection_make_room(self) == 0 &&
        read_references(&references, self, arguments.after) == 0 &&
        open_job(&job, self, &arguments, name) == 0) {
        job.args.after = references.ref;
        job.args.after_count = references.count;
        if (py_job_pack(&job) == 0)
            ticket = send_job(self, &job);
        py_job_close(&job);
    }
    references_release(&references);
    connection_leave(self);
    return ticket;
}

/* Prepares a job. Returns a ticket whose result is the mli.Prepared; or null with an exception. */
static PyObject *jobs_prepare(struct connection *self, PyObject *args, PyObject *kwargs)
{
    struct job_arguments arguments;
    char name[REQUEST_NAME_MAX];
    struct py_job job;
    mli_client_ticket number;
    mli_client_error error;
    PyObject *ticket = NULL;

    if (read_arguments(&arguments, args, kwargs) || connection_enter(self))
        return NULL;
    if (open_job(&job, self, &arguments, name) == 0) {
        const mli_client_job sent = job.args;
        const bool empty = job.operation.layout.bytes == 0;
        PyObject *prepared = prepared_new(self, &job, name);
        struct py_request *request =
            prepared ? py_request_create(self, REQUEST_PREPARE, &ticket) : NULL;

        if (request)
            request->value = prepared;
        else
            Py_XDECREF(prepared);
        if (request && empty) {
            py_request_end(request);
        } else if (request && mli_client_prepare_async(self->client, &sent, py_request_on_reply,
                                                       request, &number, &error)) {
            raise_service_error(&error);
            py_request_drop(request, ticket);
            ticket = NULL;
        } else if (request) {
            py_request_add(request);
            prepared_settle(prepared);
        }
    }
    connection_leave(self);
    return ticket;
}

/* Functions of mli._client that connect. */

enum { TRIES = 50, PAUSE_NS = 100 * 1000 * 1000 };

/* Pauses without the GIL. Returns 0, or -1 with an exception of a signal. */
static int pause_a_little(void)
{
    PyThreadState *thread = PyEval_SaveThread();

    nanosleep(&(struct timespec){.tv_nsec = PAUSE_NS}, NULL);
    PyEval_RestoreThread(thread);
    return PyErr_CheckSignals();
}

/*
 * Connects. `interrupt` is always readable, so that the library gives up after one attempt. This
 * function repeats the attempt, and handles signals of Python in between.
 */
static mli_client *connect_to(const char *path, int interrupt)
{
    mli_client *client = NULL;
    mli_client_error error;

    for (int i = 0; i < TRIES; i++) {
        int status;

        Py_BEGIN_ALLOW_THREADS status =
            mli_client_connect_interruptible(path, interrupt, &client, &error);
        Py_END_ALLOW_THREADS if (status == 0)
        {
            mli_client_set_interrupt(client, -1);
            return client;
        }
        if (status != MLI_CLIENT_INTERRUPTED) {
            raise_service_error(&error);
            return NULL;
        }
        if (pause_a_little() < 0)
            return NULL;
    }
    raise_client_error(MLI_CLIENT_BUSY, "BUSY",
                       "the service accepts no connection: it is stopped or overloaded");
    return NULL;
}

static PyTypeObject *connection_type;

/* Functions of the module that connect to the service. */
static PyObject *requests_connect(PyObject *Py_UNUSED(module), PyObject *path)
{
    PyObject *bytes = NULL;
    mli_client *client = NULL;
    int interrupt;

    if (path != Py_None && !PyUnicode_FSConverter(path, &bytes))
        return NULL;
    interrupt = eventfd(1, EFD_CLOEXEC);
    if (interrupt < 0)
        raise_client_error(MLI_CLIENT_SYSTEM, "SYSTEM", "eventfd: %s", strerror(errno));
    else
        client = connect_to(bytes ? PyBytes_AsString(bytes) : NULL, interrupt);
    if (interrupt >= 0)
        close(interrupt);
    Py_XDECREF(bytes);
    return client ? connection_new(connection_type, client, false) : NULL;
}

static PyObject *requests_adopt(PyObject *Py_UNUSED(module), PyObject *args)
{
    int socket, inlined = 0;
    mli_client *client;
    mli_client_error error;

    if (!PyArg_ParseTuple(args, "i|p:adopt", &socket, &inlined))
        return NULL;
    if (mli_client_adopt(socket, inlined ? MLI_CLIENT_INLINE : 0, &client, &error)) {
        raise_service_error(&error);
        return NULL;
    }
    return connection_new(connection_type, client, inlined);
}

static PyObject *requests_spawn(PyObject *Py_UNUSED(module), PyObject *arguments)
{
    mli_client *client = NULL;
    mli_client_error error;
    char **argv;
    int status;

    if (!PyList_Check(arguments) || PyList_Size(arguments) < 1) {
        PyErr_SetString(PyExc_TypeError, "a list of at least one bytes object is required");
        return NULL;
    }
    argv = texts_of(arguments);
    if (!argv)
        return NULL;
    Py_BEGIN_ALLOW_THREADS status = mli_client_spawn(argv, &client, &error);
    Py_END_ALLOW_THREADS free(argv);
    if (status) {
        raise_service_error(&error);
        return NULL;
    }
    return connection_new(connection_type, client, true);
}

enum { FDS_MAX = 16 };

PyDoc_STRVAR(submit_doc, "submit($self, src, /, **arguments)\n--\n\nSee mli.Client.start.");
PyDoc_STRVAR(prepare_doc, "prepare($self, src, /, **arguments)\n--\n\nSee mli.Client.plan.");

/* Reads descriptors, which libmli_client checks. Returns 0, or -1 with an exception. */
static int read_descriptors(PyObject *fds, Py_ssize_t count, mli_client_attachment *attachments)
{
    if (count > FDS_MAX)
        return raise_client_error(MLI_CLIENT_MISUSE, "MISUSE",
                                  "fds: %zd given; at most %d are allowed", count, FDS_MAX);
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
    struct py_request *request = py_request_create(self, REQUEST_CALL, &ticket);
    if (request && mli_client_call_async(self->client, method, params, attachments, (size_t)count,
                                         py_request_on_reply, request, &number, &error)) {
        raise_service_error(&error);
        py_request_drop(request, ticket);
        ticket = NULL;
    } else if (request) {
        py_request_add(request);
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
    connection_send_quietly(self, method, params);
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

static PyObject *dispatch(struct connection *self, PyObject *Py_UNUSED(unused))
{
    int status;

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

static PyObject *flush(struct connection *self, PyObject *Py_UNUSED(unused))
{
    if (connection_enter(self))
        return NULL;
    mli_client_flush(self->client, NULL);
    connection_leave(self);
    return Py_NewRef(Py_None);
}

PyDoc_STRVAR(close_doc, "close($self, /)\n--\n\nClose the connection. Tickets fail.");

/* Closes the client and fails all requests. May wait for the command of mli_client_spawn(). */
static void connection_close(struct connection *connection)
{
    mli_client *client = connection->client;
    PyThreadState *thread;

    if (!client)
        return;
    connection->client = NULL;
    py_request_fail_all(connection);
    memory_orphan_all(connection);
    free(connection->unwanted);
    connection->unwanted = NULL;
    connection->unwanted_count = connection->unwanted_room = 0;
    if (connection->owner != getpid()) { /* the parent still uses the connection */
        if (mli_client_fd(client) >= 0)
            close(mli_client_fd(client));
        return;
    }
    thread = PyEval_SaveThread();
    mli_client_close(client); /* waits for the command of mli_client_spawn() */
    PyEval_RestoreThread(thread);
}

static void connection_dealloc(struct connection *self)
{
    PyTypeObject *type = Py_TYPE((PyObject *)self);

    connection_close(self);
    Py_XDECREF(self->notify);
    Py_XDECREF(self->raised);
    Py_XDECREF(self->greeting);
    PyObject_Free(self);
    Py_DECREF((PyObject *)type);
}

static PyObject *close_method(struct connection *self, PyObject *Py_UNUSED(unused))
{
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

PyDoc_STRVAR(exit_code_doc,
             "exit_code($self, /)\n--\n\n"
             "Return the exit code of the command of spawn(); None: the command runs.");

static PyObject *exit_code(struct connection *self, PyObject *Py_UNUSED(unused))
{
    int code;

    if (connection_enter(self))
        return NULL;
    Py_BEGIN_ALLOW_THREADS code = mli_client_command_status(self->client);
    Py_END_ALLOW_THREADS connection_leave(self);
    return code < 0 ? Py_NewRef(Py_None) : PyLong_FromLong(code);
}

static PyObject *get_fd(struct connection *self, void *Py_UNUSED(unused))
{
    return PyLong_FromLong(self->client ? mli_client_fd(self->client) : -1);
}

static PyObject *get_events(struct connection *self, void *Py_UNUSED(unused))
{
    return PyLong_FromLong(self->client ? mli_client_poll_events(self->client) : 0);
}

static PyObject *get_connected(struct connection *self, void *Py_UNUSED(unused))
{
    return PyBool_FromLong(self->client && mli_client_connected(self->client));
}

static PyObject *get_closed(struct connection *self, void *Py_UNUSED(unused))
{
    return PyBool_FromLong(!self->client);
}

static PyObject *get_path(struct connection *self, void *Py_UNUSED(unused))
{
    return PyUnicode_DecodeFSDefault(self->client ? mli_client_path(self->client) : "");
}

static PyObject *get_inlined(struct connection *self, void *Py_UNUSED(unused))
{
    return PyBool_FromLong(self->inlined);
}

static PyObject *get_greeting(struct connection *self, void *Py_UNUSED(unused))
{
    return Py_NewRef(self->greeting ? self->greeting : Py_None);
}

static PyObject *get_pending(struct connection *self, void *Py_UNUSED(unused))
{
    return PyLong_FromSize_t(self->client ? mli_client_pending(self->client) : 0);
}

static PyObject *get_timeout(struct connection *self, void *Py_UNUSED(unused))
{
    return self->timeout < Py_HUGE_VAL ? PyFloat_FromDouble(self->timeout) : Py_NewRef(Py_None);
}

static int set_timeout(struct connection *self, PyObject *value, void *Py_UNUSED(unused))
{
    double seconds;

    if (read_seconds(value, &seconds))
        return -1;
    self->timeout = seconds;
    return 0;
}

static PyObject *get_has_room(struct connection *self, void *Py_UNUSED(unused))
{
    return PyBool_FromLong(connection_has_room(self));
}

PyDoc_STRVAR(set_nonblocking_doc, "set_nonblocking($self, /)\n--\n\n"
                                  "Make submit() queue a job if there is no room, instead of "
                                  "waiting: see has_room.");

static PyObject *set_nonblocking(struct connection *self, PyObject *Py_UNUSED(unused))
{
    self->nonblocking = true;
    return Py_NewRef(Py_None);
}

static PyObject *get_serial(struct connection *self, void *Py_UNUSED(unused))
{
    return PyLong_FromUnsignedLongLong(self->serial);
}

static PyMethodDef connection_methods[] = {
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
    {Py_tp_methods, connection_methods},
    {Py_tp_getset, members},
    {0, NULL},
};

static PyType_Spec spec = {
    .name = "mli._client.Connection",
    .basicsize = sizeof(struct connection),
    .flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_DISALLOW_INSTANTIATION,
    .slots = slots,
};

/* Adds the type to the module. Returns 0, or -1 with an exception. */
static int requests_init(PyObject *module)
{
    connection_type = (PyTypeObject *)PyType_FromSpec(&spec);
    return connection_type ? PyModule_AddType(module, connection_type) : -1;
}

PyDoc_STRVAR(connect_doc,
             "connect($module, path, /)\n--\n\n"
             "Connect to the service at a path; None: the default. Waits at most 5 s.");
PyDoc_STRVAR(adopt_doc, "adopt($module, socket, inline=False, /)\n--\n\n"
                        "Use a connected socket, which the connection owns.");
PyDoc_STRVAR(spawn_doc, "spawn($module, arguments, /)\n--\n\n"
                        "Start a command, a list of bytes, and use its standard streams.");
PyDoc_STRVAR(start_tied_doc, "start_tied($module, arguments, environment, output, /)\n--\n\n"
                             "Start a program, a list of bytes with its path first, that gets\n"
                             "SIGTERM when the calling thread ends. `output` is the descriptor of\n"
                             "its standard output and error. Return its process id.");

static PyMethodDef module_functions[] = {
    {"connect", requests_connect, METH_O, connect_doc},
    {"adopt", requests_adopt, METH_VARARGS, adopt_doc},
    {"spawn", requests_spawn, METH_O, spawn_doc},
    {"start_tied", tied_process_start, METH_VARARGS, start_tied_doc},
    {NULL, NULL, 0, NULL},
};

static struct PyModuleDef definition = {
    PyModuleDef_HEAD_INIT,
    .m_name = "mli._client",
    .m_size = -1,
    .m_methods = module_functions,
};

PyMODINIT_FUNC PyInit__client(void);

PyMODINIT_FUNC PyInit__client(void)
{
    PyObject *module = PyModule_Create(&definition);

    if (module && (errors_init() || operation_init() || service_error_init() || py_job_init() ||
                   requests_init(module) || memory_init(module) || ticket_init(module) ||
                   prepared_init(module)))
        Py_CLEAR(module);
    return module;
}
