/* SPDX-License-Identifier: BSD-3-Clause */
#include "python/client/errand.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "python/client/prepared.h"
#include "python/client/service_error.h"
#include "python/client/ticket.h"
#include "python/core/errors.h"

enum { BYTES_WITH_GIL = 32 * 1024 };

/* Copies */

static mli_status run(const struct nest *nest)
{
    struct move_iterator iterator;
    mli_status status = MLI_STATUS_OK;
    struct move move;

    move_iterator_init(&iterator, nest);
    while (status == MLI_STATUS_OK && move_iterator_next(&iterator, &move))
        status = mli_mov_tensor_sync(&move.src, &move.cfg, &move.dst);
    return status;
}

int run_nest(const struct nest *nest, int64_t bytes)
{
    mli_status status;

    if (bytes <= BYTES_WITH_GIL) {
        status = run(nest);
    } else {
        PyThreadState *thread = PyEval_SaveThread();

        status = run(nest);
        PyEval_RestoreThread(thread);
    }
    if (status == MLI_STATUS_OK)
        return 0;
    raise_last_error(status);
    return -1;
}

void landing_free(struct landing *landing)
{
    if (!landing)
        return;
    view_release(&landing->out);
    free(landing);
}

/* Life of an errand */

static void forget_memory(struct errand *errand)
{
    for (int i = 0; i < 2; i++) {
        struct memory *memory = errand->kept[i];

        if (memory && !memory->buffer && !memory->pooled)
            memory_settle(memory);
        errand->kept[i] = NULL;
        Py_XDECREF((PyObject *)memory);
    }
    if (errand->owns_landing)
        landing_free((struct landing *)(uintptr_t)errand->landing);
    errand->landing = NULL;
    if (errand->keeper)
        prepared_start_ended(errand->keeper);
    Py_CLEAR(errand->keeper);
}

void errand_free(struct errand *errand)
{
    forget_memory(errand);
    if (errand->fd >= 0)
        close(errand->fd);
    Py_XDECREF(errand->value);
    Py_XDECREF(errand->store);
    Py_XDECREF(errand->callbacks);
    free(errand->error);
    free(errand);
}

struct errand *errand_create(struct connection *connection, enum errand_kind kind,
                             PyObject **ticket)
{
    struct errand *errand = calloc(1, sizeof(*errand));

    if (!errand) {
        PyErr_NoMemory();
        return NULL;
    }
    errand->kind = kind;
    errand->connection = connection;
    errand->serial = ++connection->serial;
    errand->fd = -1;
    if (!ticket)
        return errand;
    *ticket = ticket_new(connection, errand);
    if (*ticket)
        return errand;
    free(errand);
    return NULL;
}

void errand_depart(struct errand *errand)
{
    struct connection *connection = errand->connection;

    errand->previous = connection->last;
    if (connection->last)
        connection->last->next = errand;
    else
        connection->first = errand;
    connection->last = errand;
}

static void leave_list(struct errand *errand)
{
    struct connection *connection = errand->connection;

    if (errand->next)
        errand->next->previous = errand->previous;
    else
        connection->last = errand->previous;
    if (errand->previous)
        errand->previous->next = errand->next;
    else
        connection->first = errand->next;
    errand->next = errand->previous = NULL;
}

void errand_drop(struct errand *errand, PyObject *ticket)
{
    errand->state = ERRAND_FAILED;
    if (ticket)
        Py_DECREF(ticket); /* frees the errand */
    else
        errand_free(errand);
}

static void call_callbacks(struct errand *errand)
{
    PyObject *callbacks = errand->callbacks, *ticket = errand->ticket;

    errand->callbacks = errand->ticket = NULL;
    for (Py_ssize_t i = 0; callbacks && i < PyList_Size(callbacks); i++) {
        PyObject *returned =
            PyObject_CallFunctionObjArgs(PyList_GetItem(callbacks, i), ticket, NULL);

        if (!returned)
            connection_keep_exception(errand->connection);
        Py_XDECREF(returned);
    }
    Py_XDECREF(callbacks);
    Py_XDECREF(ticket); /* may free the errand */
}

/* Ends an errand that is no longer in the list. */
static void end(struct errand *errand, enum errand_state state)
{
    errand->state = state;
    forget_memory(errand);
    if (!errand->has_object)
        errand_free(errand);
    else if (errand->callbacks)
        call_callbacks(errand);
}

void errand_arrive(struct errand *errand)
{
    end(errand, ERRAND_DONE);
}

/* Keeps an error. Without memory for it the errand fails with an empty one. */
static void take_error(struct errand *errand, const mli_client_error *error)
{
    errand->error = malloc(sizeof(*error));
    if (errand->error)
        *errand->error = *error;
}

/* Copies the result into the program's array, unless it has given it up. Returns 0 or -1. */
static int land(struct errand *errand)
{
    const struct landing *landing = errand->landing;

    if (!landing || errand->abandoned)
        return 0;
    if (run_nest(&landing->nest, (int64_t)errand->result.bytes) == 0)
        return 0;
    connection_keep_exception(errand->connection);
    return -1;
}

static void fail_landing(struct errand *errand)
{
    mli_client_error error = {.code = MLI_CLIENT_SYSTEM, .name = "SYSTEM"};

    strcpy(error.message, "the result could not be copied into `out`");
    take_error(errand, &error);
}

void errand_on_done(mli_client *client, mli_client_ticket ticket, const mli_client_result *result,
                    const mli_client_error *error, void *user)
{
    struct errand *errand = user;

    (void)client;
    (void)ticket;
    leave_list(errand);
    if (!error) {
        errand->result = *result;
        errand->result.owned = NULL;
        if (land(errand) == 0) {
            end(errand, ERRAND_DONE);
            return;
        }
        fail_landing(errand);
    } else {
        take_error(errand, error);
    }
    end(errand, ERRAND_FAILED);
}

/* Replies to other requests */

/* Returns the number after a key of a reply, as "\"buffer\":", or 0. */
static uint32_t find_number(const char *line, const char *key)
{
    const char *found = strstr(line, key);
    const unsigned long long number = found ? strtoull(found + strlen(key), NULL, 10) : 0;

    return number <= UINT32_MAX ? (uint32_t)number : 0;
}

static int take_reply(struct errand *errand, const char *line, size_t length)
{
    uint32_t number;

    switch (errand->kind) {
    case ERRAND_PREPARE:
        number = find_number(line, "\"prepared\":");
        if (number > 0) {
            prepared_set_id(errand->value, number);
            return 0;
        }
        raise_client_error(MLI_CLIENT_UNREADABLE, "UNREADABLE",
                           "the reply to job.prepare has no number");
        return -1;
    case ERRAND_REGISTER:
        memory_registered(errand->kept[0], find_number(line, "\"buffer\":"));
        return 0;
    default:
        errand->value = PyBytes_FromStringAndSize(line, (Py_ssize_t)length);
        return errand->value ? 0 : -1;
    }
}

void errand_on_reply(mli_client *client, mli_client_ticket ticket, const char *line, size_t length,
                     int fd, const mli_client_error *error, void *user)
{
    struct errand *errand = user;

    (void)client;
    (void)ticket;
    leave_list(errand);
    errand->fd = fd;
    if (!error && take_reply(errand, line, length) == 0) {
        end(errand, ERRAND_DONE);
        return;
    }
    if (error)
        take_error(errand, error);
    else
        connection_keep_exception(errand->connection);
    if (errand->kind == ERRAND_REGISTER)
        memory_registered(errand->kept[0], 0);
    end(errand, ERRAND_FAILED);
}

int errand_register(struct connection *connection, struct memory *memory)
{
    const mli_client_attachment attachment = {.fd = memory->fd};
    struct errand *errand = errand_create(connection, ERRAND_REGISTER, NULL);
    mli_client_ticket ticket;
    mli_client_error error;

    if (!errand)
        return -1;
    if (mli_client_call_async(connection->client, "buffer.register", "{\"fd\":0}", &attachment, 1,
                              errand_on_reply, errand, &ticket, &error)) {
        errand_drop(errand, NULL);
        raise_service_error(&error);
        return -1;
    }
    errand->kept[0] = (struct memory *)Py_NewRef((PyObject *)memory);
    errand_depart(errand);
    return 0;
}

void errand_fail_all(struct connection *connection)
{
    mli_client_error error = {.code = MLI_CLIENT_LOST, .name = "LOST"};

    strcpy(error.message, "the client was closed");
    while (connection->first) {
        struct errand *errand = connection->first;

        leave_list(errand);
        take_error(errand, &error);
        if (errand->kind == ERRAND_REGISTER)
            memory_registered(errand->kept[0], 0);
        end(errand, ERRAND_FAILED);
    }
}
