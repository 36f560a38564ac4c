/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The extension module mli._client: jobs of arrays on a service (mlid), over libmli_client.
 *
 *     mli.Client, mli.aio.Client (Python)
 *         -> module.c: the type Connection, its methods, and the functions that connect
 *              -> prepared.c: prepared jobs
 *              -> py_job.c: the arguments of a move become a job for the service, and its memory
 *              -> py_request.c: a request without its reply, and the program's Ticket for it
 *              -> memory.c: memory that the service has mapped too, and the arrays in it
 *              -> connection.c: one mli_client, its threads and its waits
 *
 * Threads. The GIL is released only while a call waits or copies. Meanwhile connection->thread is
 * set, and calls of other threads are refused: every call of libmli_client happens under the GIL.
 *
 * Callbacks run inside mli_client_dispatch(), with the GIL. The exception of a callback is kept,
 * and raised by the call that dispatched.
 */
#pragma once

#include <Python.h>
#include <stdbool.h>
#include <sys/types.h>

#include "mli_client.h"

struct py_request;
struct memory;

enum { POOL_MAX = 16 };

/* A region of the pool that no array uses. */
struct idle {
    void *address;
    size_t size;
    uint32_t buffer;
};

/* Buffers and prepared jobs that the service must release, because their Python object died, on any
 * thread. */
struct unwanted {
    const char *method; /* static: "buffer.release" or "job.release" */
    uint32_t id;
};

struct connection {
    PyObject_HEAD mli_client *client; /* null: closed */
    pid_t owner;                      /* the process that connected */
    unsigned long thread;             /* the thread inside a call; 0: none */
    unsigned depth;                   /* number of nested calls of the thread `thread` */
    bool dispatching;                 /* true: callbacks may run */
    bool inlined;     /* true: the stream carries no descriptors, so there is no shared memory */
    bool nonblocking; /* the connection is used by an event loop: start() must not wait for space */
    unsigned crowded; /* jobs with descriptors since the queue was last empty */
    double timeout;   /* seconds of waits without a limit of their own */
    uint64_t serial;  /* number of requests sent */
    uint32_t token;   /* random part of the names of its jobs */
    PyObject *greeting;              /* first line that the daemon sent, as bytes; null: none yet */
    struct py_request *first, *last; /* pending requests, in the order of their sending */
    struct memory *memories;         /* all memories that exist */
    struct idle idle[POOL_MAX];
    uint32_t idle_count, pooled; /* numbers of regions of the pool: idle regions; all regions,
                                    registered or requested */
    struct unwanted *unwanted;
    size_t unwanted_count, unwanted_room;
    PyObject *notify; /* called with each notification, as bytes; may be null */
    PyObject *raised; /* exception of a callback; null: none */
};

/** Returns seconds of the monotonic clock. */
double connection_clock(void);

/** Refuses calls that wait inside callbacks. Returns 0, or -1 with an exception. */
int connection_may_wait(const struct connection *connection);

/** Returns whether this thread may dispatch now: no callback is running, no other thread
 * dispatches, and the client was not inherited by fork(). */
bool connection_may_read(const struct connection *connection);

/** Begins a call: refuses closed connections, other threads and child processes. Returns 0 or -1.
 */
int connection_enter(struct connection *connection);
void connection_leave(struct connection *connection);

/**
 * Sends what is queued, waits for the socket at most `seconds`, and dispatches. Returns 0, 1 if
 * nothing arrived in time, or -1 with an exception of a callback or of a signal.
 */
int connection_turn(struct connection *connection, double seconds);

/**
 * Requests that the socket cannot take stay queued, with their descriptors. Returns whether the
 * queue has space for the descriptors of another job.
 */
bool connection_has_room(struct connection *connection);

/** Waits for space in the queue, unless the connection must not wait. Returns 0, or -1 with an
 * exception. */
int connection_make_room(struct connection *connection);

/** Notes that a job with descriptors was sent or queued. */
void connection_crowd(struct connection *connection);

/** Dispatches without waiting. Returns 0, or -1 with an exception of a callback. */
int connection_dispatch(struct connection *connection);

/** Creates the connection of a client. Takes ownership of the client, also on failure. Returns null
 * with an exception. */
PyObject *connection_new(PyTypeObject *type, mli_client *client, bool inlined);

/** Keeps the current exception for the call that dispatches. */
void connection_keep_exception(struct connection *connection);

/** Raises the kept exception of a callback. Returns 0 if no exception is kept, else -1. */
int connection_raise(struct connection *connection);

/** Sends a request whose reply is dropped. Ignores errors. */
void connection_send_quietly(struct connection *connection, const char *method, const char *params);

/** Returns the number after a key of a reply, like "\"buffer\":", or 0. */
uint32_t number_in_reply(const char *line, const char *key);

/** Notes that the service must release something. Needs no connection_enter(). */
void connection_unwant(struct connection *connection, const char *method, uint32_t id);

/** Reads a timeout in seconds; null or None: forever. Returns 0 or -1. */
int read_seconds(PyObject *object, double *seconds);

/* Exceptions of the module: mli.ServiceError. The raise_ functions return -1. */

/** Imports mli._service_error. Returns 0, or -1 with an exception. */
int service_error_init(void);

/** Raises mli.ServiceError. */
int raise_service_error(const mli_client_error *error);

/** Raises mli.ServiceTimeoutError: no reply within a number of seconds. */
int raise_no_reply(double seconds);

/** Raises mli.ServiceError with a code of the library, like MISUSE, and a text. */
int raise_client_error(int code, const char *name, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
