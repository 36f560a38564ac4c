/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A request on its way to the service, and mli._client.Ticket, the program's handle of it.
 *
 *   request    from its message to the reply: it keeps the memory of a job, even if the program has
 *             dropped the ticket
 *   landing   a result that the service writes into memory of the pool, and that is copied from
 *             there into the program's array when it has arrived
 *
 * The connection owns the pending requests; a ticket owns its request when the request has ended.
 */
#pragma once

#include "python/client/connection.h"
#include "python/client/memory.h"
#include "python/core/nest.h"
#include "python/core/view.h"

enum request_kind { REQUEST_JOB, REQUEST_CALL, REQUEST_PREPARE };
enum request_state { REQUEST_PENDING, REQUEST_DONE, REQUEST_FAILED };

enum { REQUEST_NAME_MAX = 129 };

struct landing {
    struct view out;  /* the program's array */
    struct nest nest; /* move from the memory of the pool into the array */
};

/* The part of a prepared job that its requests use. It is the first member of struct prepared. */
struct prepared_state {
    PyObject_HEAD uint32_t id; /* 0: the service has not replied, or the job is released */
    uint32_t pending;          /* starts without a reply */
    uint64_t latest;           /* serial number of the latest start's request */
    PyObject *value;           /* the result of each start */
    PyObject *store;           /* where each start stores its result; null: nothing to store */
};

struct py_request {
    enum request_kind kind;
    enum request_state state;
    struct connection *connection; /* borrowed */
    struct py_request *next, *previous;
    uint64_t serial;
    bool has_object; /* a ticket exists */
    bool abandoned;  /* the program no longer wants the result in its array */
    PyObject *value; /* value that ticket.result() returns */
    PyObject *store; /* called before the first result is returned; null: nothing to store */
    struct memory *kept[2];
    const struct landing *landing; /* null: none */
    bool owns_landing;             /* false: `keeper` frees the landing */
    struct prepared_state *keeper; /* the prepared job of a start, a strong reference; else null */
    PyObject *ticket;              /* strong while there are callbacks */
    PyObject *callbacks;           /* list; null: none */
    int fd;                        /* descriptor of the reply; -1: none */
    char name[REQUEST_NAME_MAX];
    mli_client_result result; /* the request without its parameters */
    mli_client_error *error;
};

/** Creates a request and its ticket. Returns the request, or null with an exception. */
struct py_request *py_request_create(struct connection *connection, enum request_kind kind,
                                     PyObject **ticket);

/** Adds a sent request to the requests of its connection. */
void py_request_add(struct py_request *request);

/** Drops a request that could not be sent, with its ticket. */
void py_request_drop(struct py_request *request, PyObject *ticket);

/** Ends a request without sending a message. */
void py_request_end(struct py_request *request);

/** Callbacks of libmli_client; `user` is the request. */
mli_client_done_fn py_request_on_done;
mli_client_reply_fn py_request_on_reply;

/** Ends all requests of a connection that is about to be closed. */
void py_request_fail_all(struct connection *connection);

/** Frees a landing, which may be null. */
void landing_free(struct landing *landing);

/** Runs the moves of a nest on this thread; releases the GIL for large ones. Returns 0 or -1. */
int run_nest(const struct nest *nest, int64_t bytes);

int ticket_init(PyObject *module);
