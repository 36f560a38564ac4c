/* SPDX-License-Identifier: BSD-3-Clause */
#include "python/client/jobs.h"

#include <stdio.h>

#include "python/client/errand.h"
#include "python/client/limits.h"
#include "python/client/memory.h"
#include "python/client/order.h"
#include "python/client/prepared.h"
#include "python/client/service_error.h"
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

/* Opens an order with all that the service has to know but `after`. */
static int open_order(struct order *order, struct connection *connection,
                      const struct job_arguments *a, char *name)
{
    uint32_t channels, timeout_ms;
    int32_t priority;

    if (read_channels(a->move.channels, &channels) || read_priority(a->priority, &priority) ||
        read_limit_ms(a->timeout, &timeout_ms) ||
        read_name(a->name, connection, name, ERRAND_NAME_MAX) ||
        order_open(order, connection, &a->move))
        return -1;
    order->job.channels = channels;
    order->job.priority = priority;
    order->job.timeout_ms = timeout_ms;
    order->job.name = name;
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
static PyObject *send_job(struct connection *connection, struct order *order)
{
    mli_client_ticket number;
    mli_client_error error;
    PyObject *ticket;
    struct errand *errand = errand_create(connection, ERRAND_JOB, &ticket);

    if (!errand)
        return NULL;
    if (order->operation.layout.bytes == 0) {
        order_hand_over(order, errand);
        errand_arrive(errand);
        return ticket;
    }
    if (mli_client_submit_async(connection->client, &order->job, errand_on_done, errand, &number,
                                &error)) {
        raise_service_error(&error);
        errand_drop(errand, ticket);
        return NULL;
    }
    snprintf(errand->name, sizeof(errand->name), "%s", order->job.name);
    order_hand_over(order, errand);
    errand_depart(errand);
    settle(connection, errand->kept[0], errand->kept[1]);
    return ticket;
}

PyObject *jobs_submit(struct connection *self, PyObject *args, PyObject *kwargs)
{
    struct references references = {0};
    struct job_arguments arguments;
    char name[ERRAND_NAME_MAX];
    struct order order;
    PyObject *ticket = NULL;

    if (read_arguments(&arguments, args, kwargs) || connection_enter(self))
        return NULL;
    if (connection_make_room(self) == 0 &&
        read_references(&references, self, arguments.after) == 0 &&
        open_order(&order, self, &arguments, name) == 0) {
        order.job.after = references.ref;
        order.job.after_count = references.count;
        if (order_pack(&order) == 0)
            ticket = send_job(self, &order);
        order_close(&order);
    }
    references_release(&references);
    connection_leave(self);
    return ticket;
}

PyObject *jobs_prepare(struct connection *self, PyObject *args, PyObject *kwargs)
{
    struct job_arguments arguments;
    char name[ERRAND_NAME_MAX];
    struct order order;
    mli_client_ticket number;
    mli_client_error error;
    PyObject *ticket = NULL;

    if (read_arguments(&arguments, args, kwargs) || connection_enter(self))
        return NULL;
    if (open_order(&order, self, &arguments, name) == 0) {
        const mli_client_job job = order.job;
        const bool empty = order.operation.layout.bytes == 0;
        PyObject *prepared = prepared_new(self, &order, name);
        struct errand *errand = prepared ? errand_create(self, ERRAND_PREPARE, &ticket) : NULL;

        if (errand)
            errand->value = prepared;
        else
            Py_XDECREF(prepared);
        if (errand && empty) {
            errand_arrive(errand);
        } else if (errand && mli_client_prepare_async(self->client, &job, errand_on_reply, errand,
                                                      &number, &error)) {
            raise_service_error(&error);
            errand_drop(errand, ticket);
            ticket = NULL;
        } else if (errand) {
            errand_depart(errand);
            prepared_settle(prepared);
        }
    }
    connection_leave(self);
    return ticket;
}
