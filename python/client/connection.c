/* SPDX-License-Identifier: BSD-3-Clause */
/* The connection of one mli_client: threads and waits. module.c has the methods of its Python type,
 * and closes the connection. */

#include "python/client/connection.h"

#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <time.h>
#include <unistd.h>

/* A signal that arrives just before poll(2) does not interrupt poll(2): Python handles the signal
 * after this time. */
static const double SLICE = 0.1;

double connection_clock(void)
{
    struct timespec now;

    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + (double)now.tv_nsec * 1e-9;
}

int read_seconds(PyObject *object, double *seconds)
{
    *seconds = Py_HUGE_VAL;
    if (!object || object == Py_None)
        return 0;
    *seconds = PyFloat_AsDouble(object);
    if (*seconds == -1 && PyErr_Occurred())
        return -1;
    if (!(*seconds > 0)) /* not a number (NaN): do not wait */
        *seconds = 0;
    return 0;
}

/* Calls */

static int misuse(const char *text)
{
    return raise_client_error(MLI_CLIENT_MISUSE, "MISUSE", "%s", text);
}

static void on_ignored(mli_client *client, mli_client_ticket ticket, const char *line,
                       size_t length, int fd, const mli_client_error *error, void *user)
{
    (void)client, (void)ticket, (void)line, (void)length, (void)error, (void)user;
    if (fd >= 0)
        close(fd);
}

void connection_send_quietly(struct connection *connection, const char *method, const char *params)
{
    mli_client_ticket ticket;

    mli_client_call_async(connection->client, method, params, NULL, 0, on_ignored, NULL, &ticket,
                          NULL);
}

/* Sends the releases of buffers and prepared jobs whose objects have died. Ignores the replies. */
static void send_releases(struct connection *connection)
{
    for (size_t i = 0; i < connection->unwanted_count; i++) {
        const struct unwanted *unwanted = &connection->unwanted[i];
        const bool is_job = strcmp(unwanted->method, "job.release") == 0;
        char params[64];

        snprintf(params, sizeof(params), "{\"%s\":%u}", is_job ? "prepared" : "buffer",
                 (unsigned)unwanted->id);
        connection_send_quietly(connection, unwanted->method, params);
    }
    connection->unwanted_count = 0;
}

void connection_unwant(struct connection *connection, const char *method, uint32_t id)
{
    if (!connection->client || connection->owner != getpid())
        return;
    if (connection->unwanted_count == connection->unwanted_room) {
        const size_t room = connection->unwanted_room ? 2 * connection->unwanted_room : 16;
        struct unwanted *more = realloc(connection->unwanted, room * sizeof(*more));

        if (!more)
            return;
        connection->unwanted = more;
        connection->unwanted_room = room;
    }
    connection->unwanted[connection->unwanted_count++] = (struct unwanted){method, id};
}

int connection_enter(struct connection *connection)
{
    const unsigned long thread = PyThread_get_thread_ident();

    if (!connection->client)
        return misuse("the client is closed");
    if (connection->owner != getpid())
        return misuse("the client belongs to the parent process; connect again after a fork");
    if (connection->thread && connection->thread != thread)
        return misuse("another thread uses the client at this moment; make one client for each "
                      "thread");
    connection->thread = thread;
    connection->depth++;
    if (connection->unwanted_count > 0 && !connection->dispatching)
        send_releases(connection);
    return 0;
}

void connection_leave(struct connection *connection)
{
    if (--connection->depth == 0)
        connection->thread = 0;
}

int connection_may_wait(const struct connection *connection)
{
    return connection->dispatching ? misuse("a callback must not call a function that waits") : 0;
}

bool connection_may_read(const struct connection *connection)
{
    return connection->client && connection->owner == getpid() && !connection->dispatching &&
           (!connection->thread || connection->thread == PyThread_get_thread_ident());
}

void connection_keep_exception(struct connection *connection)
{
    PyObject *type, *value, *trace;

    if (connection->raised) {
        PyErr_WriteUnraisable((PyObject *)connection);
        return;
    }
    PyErr_Fetch(&type, &value, &trace);
    PyErr_NormalizeException(&type, &value, &trace);
    if (trace)
        PyException_SetTraceback(value, trace);
    Py_XDECREF(type);
    Py_XDECREF(trace);
    connection->raised = value;
}

int connection_raise(struct connection *connection)
{
    PyObject *raised = connection->raised;

    if (!raised)
        return 0;
    connection->raised = NULL;
    PyErr_SetObject((PyObject *)Py_TYPE(raised), raised);
    Py_DECREF(raised);
    return -1;
}

int connection_dispatch(struct connection *connection)
{
    mli_client_error error;

    connection->dispatching = true;
    /* A lost connection fails the requests, and is not an error of this call. */
    mli_client_dispatch(connection->client, &error);
    connection->dispatching = false;
    return connection_raise(connection);
}

/* Waits for the socket without the GIL. Returns whether the socket is ready. */
static bool wait_for_socket(const struct connection *connection, int fd, double seconds)
{
    struct pollfd polled = {.fd = fd, .events = mli_client_poll_events(connection->client)};
    PyThreadState *thread = PyEval_SaveThread();
    const int ready = poll(&polled, 1, (int)(seconds * 1000 + 0.999));

    PyEval_RestoreThread(thread);
    return ready > 0;
}

int connection_turn(struct connection *connection, double seconds)
{
    mli_client *client = connection->client;

    mli_client_flush(client, NULL); /* ignore a failure: connection_dispatch() reports it */
    while (mli_client_fd(client) >= 0) {
        const double slice = seconds < SLICE ? seconds : SLICE;
        const bool ready = wait_for_socket(connection, mli_client_fd(client), slice);

        if (PyErr_CheckSignals() < 0)
            return -1;
        if (!connection->client) /* the signal's handler has closed the client */
            return 0;
        if (ready)
            return connection_dispatch(connection);
        seconds -= slice;
        if (seconds <= 0)
            return 1;
    }
    return connection_dispatch(connection);
}

/* A limit on descriptors in the queue: each job whose arrays are not in buffers has up to two */

enum { CROWD_MAX = 64 };

static bool is_sent(const struct connection *connection)
{
    return !(mli_client_poll_events(connection->client) & POLLOUT);
}

bool connection_has_room(struct connection *connection)
{
    if (!connection->client || is_sent(connection))
        connection->crowded = 0;
    return connection->crowded < CROWD_MAX;
}

int connection_make_room(struct connection *connection)
{
    if (connection->crowded < CROWD_MAX || connection->nonblocking || connection->dispatching)
        return 0;
    const double end = connection_clock() + connection->timeout;
    while (connection->client && mli_client_connected(connection->client) && !is_sent(connection)) {
        if (connection_turn(connection, end - connection_clock()) < 0)
            return -1;
        if (connection_clock() >= end)
            return raise_no_reply(connection->timeout);
    }
    connection->crowded = 0;
    return connection->client
               ? 0
               : misuse("the client is closed"); /* a signal handler may have closed the client */
}

void connection_crowd(struct connection *connection)
{
    connection->crowded = is_sent(connection) ? 0 : connection->crowded + 1;
}

uint32_t number_in_reply(const char *line, const char *key)
{
    const char *found = strstr(line, key);
    const unsigned long long number = found ? strtoull(found + strlen(key), NULL, 10) : 0;

    return number <= UINT32_MAX ? (uint32_t)number : 0;
}

/* Life cycle */

static void on_notify(mli_client *Py_UNUSED(client), const char *line, size_t length, void *user)
{
    struct connection *connection = user;
    PyObject *returned;

    if (!connection->greeting && memmem(line, length, "\"hello\"", 7)) {
        connection->greeting = PyBytes_FromStringAndSize(line, (Py_ssize_t)length);
        if (!connection->greeting)
            connection_keep_exception(connection);
    }
    if (!connection->notify)
        return;
    returned = PyObject_CallFunction(connection->notify, "N",
                                     PyBytes_FromStringAndSize(line, (Py_ssize_t)length));
    if (!returned)
        connection_keep_exception(connection);
    Py_XDECREF(returned);
}

PyObject *connection_new(PyTypeObject *type, mli_client *client, bool inlined)
{
    struct connection *connection = PyObject_New(struct connection, type);

    if (!connection) {
        mli_client_close(client);
        return NULL;
    }
    memset((char *)connection + sizeof(PyObject), 0, sizeof(*connection) - sizeof(PyObject));
    connection->client = client;
    connection->owner = getpid();
    connection->inlined = inlined;
    connection->timeout = Py_HUGE_VAL;
    if (getrandom(&connection->token, sizeof(connection->token), GRND_NONBLOCK) < 0)
        connection->token = (uint32_t)getpid();
    mli_client_set_notify(client, on_notify, connection);
    return (PyObject *)connection;
}
