/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A request on its way to the service, and mli._client.Ticket, the program's handle of it.
 *
 *   errand    from the request to its reply: it keeps the memory of a job, also if the program has
 *             dropped the ticket
 *   landing   a result that the service writes into memory of the pool, and that is copied from
 *             there into the program's array when it has arrived
 *
 * The connection owns the errands on their way; a ticket owns its errand when it has ended.
 */
#ifndef PYTHON_CLIENT_ERRAND_H
#define PYTHON_CLIENT_ERRAND_H

#include "python/client/connection.h"
#include "python/client/memory.h"
#include "python/core/nest.h"
#include "python/core/view.h"

enum errand_kind { ERRAND_JOB, ERRAND_CALL, ERRAND_PREPARE, ERRAND_REGISTER };
enum errand_state { ERRAND_FLYING, ERRAND_DONE, ERRAND_FAILED };

enum { ERRAND_NAME_MAX = 129 };

struct landing {
    struct view out;  /* the program's array */
    struct nest nest; /* from the memory of the pool into it */
};

struct errand {
    enum errand_kind kind;
    enum errand_state state;
    struct connection *connection; /* borrowed */
    struct errand *next, *previous;
    uint64_t serial;
    bool has_object; /* a ticket exists */
    bool abandoned;  /* the program no longer wants the result in its array */
    PyObject *value; /* what ticket.result() returns */
    PyObject *store; /* called before the first result is returned; null: nothing to store */
    struct memory *kept[2];
    const struct landing *landing; /* null: none */
    bool owns_landing;             /* else the prepared job owns it, which `keeper` keeps */
    PyObject *keeper;
    PyObject *ticket;    /* strong while there are callbacks */
    PyObject *callbacks; /* list; null: none */
    int fd;              /* of the reply; -1: none */
    char name[ERRAND_NAME_MAX];
    mli_client_result result; /* without its parameters */
    mli_client_error *error;
};

int errand_init(PyObject *module);

/** Creates an errand and its ticket. Returns the errand, or null with an exception. */
struct errand *errand_create(struct connection *connection, enum errand_kind kind,
                             PyObject **ticket);

/** Puts an errand on its way: its request is sent. */
void errand_depart(struct errand *errand);

/** Drops an errand whose request could not be sent, with its ticket. */
void errand_drop(struct errand *errand, PyObject *ticket);

/** Ends an errand without a request. */
void errand_arrive(struct errand *errand);

/** Callbacks of libmli_client; `user` is the errand. */
mli_client_done_fn errand_on_done;
mli_client_reply_fn errand_on_reply;

/** Asks the service to register a memory of the pool. Returns 0 or -1 with an exception. */
int errand_register(struct connection *connection, struct memory *memory);

/** Ends all errands of a connection that is about to be closed. */
void errand_fail_all(struct connection *connection);

/** Frees a landing. It may be null. */
void landing_free(struct landing *landing);

/** Runs the moves of a nest on this thread; releases the GIL for large ones. Returns 0 or -1. */
int run_nest(const struct nest *nest, int64_t bytes);

#endif /* PYTHON_CLIENT_ERRAND_H */
