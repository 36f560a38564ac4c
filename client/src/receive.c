/* SPDX-License-Identifier: BSD-3-Clause */
#include "client/src/client_state.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "proto/wire/events.h"
#include "proto/wire/frame.h"
#include "proto/wire/inline_payload.h"

enum { ROUNDS_MAX = 16 };

_Static_assert((int)MLI_CLIENT_EVENT_QUEUED == (int)EVENT_QUEUED &&
                   (int)MLI_CLIENT_EVENT_STARTED == (int)EVENT_STARTED &&
                   (int)MLI_CLIENT_EVENT_PROGRESS == (int)EVENT_PROGRESS &&
                   (int)MLI_CLIENT_EVENT_DONE == (int)EVENT_DONE &&
                   (int)MLI_CLIENT_SCOPE_USER == (int)EVENT_SCOPE_USER &&
                   (int)MLI_CLIENT_SCOPE_ALL == (int)EVENT_SCOPE_ALL,
               "one order of events");

/* Completes requests. */

/* The callback may begin requests, and these can move slots: the functions release the slot before
 * they call it. */

static void call_back(mli_client *client, mli_client_ticket ticket, const mli_client_error *error)
{
    struct slot *slot = table_find(&client->table, ticket);
    mli_client_done_fn *done = slot->done;
    void *user = slot->user;
    mli_client_result result = slot->result;
    mli_client_error *own = NULL;
    if (error && error == slot->error) {
        own = slot->error;
        slot->error = NULL;
    }
    slot->result.owned = NULL;
    table_release(&client->table, slot);
    client->depth++;
    done(client, ticket, error ? NULL : &result, error, user);
    client->depth--;
    mli_client_result_free(&result);
    error_free(own);
}

static void give_line(mli_client *client, mli_client_ticket ticket, const mli_client_error *error)
{
    struct slot *slot = table_find(&client->table, ticket);
    mli_client_reply_fn *done = slot->reply_done;
    void *user = slot->user;
    char *line = slot->line;
    size_t length = slot->length;
    int fd = slot->fd;
    mli_client_error *own = NULL;

    if (error && error == slot->error) {
        own = slot->error;
        slot->error = NULL;
    }
    if (error && fd >= 0) {
        close(fd);
        fd = -1;
    }
    slot->line = NULL;
    slot->fd = -1;
    table_release(&client->table, slot);
    client->depth++;
    done(client, ticket, error ? NULL : line, error ? 0 : length, fd, error, user);
    client->depth--;
    free(line);
    error_free(own);
}

/* Fills the error for a source file that could not be sent: the service has moved zeros in place of
 * the missing bytes. `error` is an errno, or 0 if the file became shorter.
 */
static const mli_client_error *error_of_source(mli_client_error *storage, int error)
{
    struct fault fault;

    fault_set(&fault, FAULT_IO_ERROR, "/src", "src: %s",
              error ? strerror(error) : "the file became shorter while it was sent");
    error_from_fault(storage, &fault, 0);
    return storage;
}

/* Ends a request, with an error unless `error` is null: calls its callback, or keeps the outcome in
   its slot. */
static void reply_end(mli_client *client, mli_client_ticket ticket, const mli_client_error *error)
{
    struct slot *slot = table_find(&client->table, ticket);
    mli_client_error storage;

    if (slot->suspect && !error)
        error = error_of_source(&storage, slot->suspect_error);
    slot_end(&client->table, slot, error ? SLOT_FAILED : SLOT_DONE);
    if (slot->forgotten) {
        table_release(&client->table, slot);
        return;
    }
    if (slot->done) {
        call_back(client, ticket, error);
        return;
    }
    if (slot->reply_done) {
        give_line(client, ticket, error);
        return;
    }
    if (error && slot->error != error) {
        error_free(slot->error);
        slot->error = error_copy(error);
    }
}

/* The loss of the connection. */

void connection_hang_up(mli_client *client)
{
    client->out.broken = true;
    shutdown(client->socket, SHUT_RDWR);
}

int connection_lose(mli_client *client, const mli_client_error *why)
{
    if (client->socket < 0)
        return client->lost.code;
    client->lost = *why;
    close(client->socket);
    client->socket = -1;
    client->payload = (struct payload){0};
    out_finish(&client->out);
    for (uint32_t i = 0; i < client->table.used; i++) {
        const struct slot *slot = &client->table.slots[i];
        if (slot->state == SLOT_WAITING)
            reply_end(client, table_ticket(&client->table, slot), &client->lost);
    }
    return client->lost.code;
}

int connection_lost(mli_client *client, const char *format, ...)
{
    char why[256];
    mli_client_error error;
    va_list arguments;

    va_start(arguments, format);
    vsnprintf(why, sizeof(why), format, arguments);
    va_end(arguments);
    error_set(&error, MLI_CLIENT_LOST, "the connection to the daemon is lost: %s", why);
    return connection_lose(client, &error);
}

static int lose(mli_client *client, const char *why)
{
    return connection_lost(client, "%s", why);
}

/* Lines. */

/* Attaches the received descriptors to the line. Returns 0, or -1 if fewer descriptors have arrived
 * than the reply announces. */
static int take_fds(mli_client *client, const struct rpc_reply *reply, struct slot *slot)
{
    int fds[PROTO_FDS_MAX];

    if (reply->fds > PROTO_FDS_MAX || frame_take_fds(&client->in, reply->fds, fds))
        return -1;
    size_t kept = slot && reply->fds > 0 ? 1 : 0;
    if (kept)
        slot->fd = fds[0];
    fd_close_all(fds + kept, reply->fds - kept);
    return 0;
}

/* Calls the callback with the params of a notification "event"; ignores invalid params. */
static void event_deliver(mli_client *client, const struct json *params)
{
    struct event read;
    mli_client_event event;

    if (event_read(params, &read))
        return;
    event.kind = (enum mli_client_event_kind)read.kind;
    event.time_ns = read.time_ns;
    event.dropped = read.dropped;
    info_convert(&event.job, &read.job);
    client->depth++;
    client->on_event(client, &event, client->event_user);
    client->depth--;
}

static int receive_notification(mli_client *client, const struct rpc_reply *reply, const char *line,
                                size_t length)
{
    if (take_fds(client, reply, NULL))
        return lose(client, "the daemon sent too few descriptors");
    if (client->on_notify) {
        client->depth++;
        client->on_notify(client, line, length, client->notify_user);
        client->depth--;
    }
    if (reply->notification == RPC_HELLO && !client->greeted) {
        if (hello_read(&reply->params, &client->hello))
            return lose(client, reply->fault.text);
        client->greeted = true;
    }
    if (reply->notification == RPC_EVENT && client->on_event)
        event_deliver(client, &reply->params);
    return 0;
}

/* Checks the announced bytes against the request; expects them after the line. Returns 0 or -1. */
static int expect_payload(mli_client *client, mli_client_ticket ticket, const struct slot *slot,
                          const struct inline_payload *inlines)
{
    struct payload *payload = &client->payload;

    if (inlines->count != slot->back_count)
        return -1;
    *payload = (struct payload){.count = inlines->count};
    for (uint32_t i = 0; i < inlines->count; i++) {
        uint64_t most = slot->backs[i].fd >= 0 ? slot->backs[i].size : 0;
        if (inlines->items[i].bytes > most)
            return -1;
        payload->left[i] = inlines->items[i].bytes;
    }
    payload->ticket = ticket;
    return 0;
}

/* Stores a successful reply as the slot's kind requires. Returns 0, or a code and the error. */
static int store(struct slot *slot, struct rpc_reply *reply, const char *line, size_t length,
                 mli_client_error *error)
{
    switch (slot->kind) {
    case SLOT_RESULT:
        return result_read(&reply->result, &slot->result, error);
    case SLOT_LINE:
        slot->line = malloc(length + 1);
        if (!slot->line)
            return error_set(error, MLI_CLIENT_NO_MEMORY, "out of memory");
        memcpy(slot->line, line, length);
        slot->line[length] = '\0';
        slot->length = length;
        return 0;
    case SLOT_REPLY:
        slot->reply = reply;
        return 0;
    }
    return 0;
}

/* Handles the reply to a request. Sets *reply to null if the slot keeps it. */
static int receive_answer(mli_client *client, struct rpc_reply **reply, const char *line,
                          size_t length)
{
    mli_client_ticket ticket = (uint64_t)(*reply)->id.number;
    struct slot *slot = (*reply)->id.kind == RPC_ID_INT ? table_find(&client->table, ticket) : NULL;
    mli_client_error error;

    if (!slot || slot->state != SLOT_WAITING)
        return lose(client, "the daemon sent a reply that belongs to no request");
    if (take_fds(client, *reply, slot))
        return lose(client, "the daemon sent too few descriptors");
    const struct inline_payload *inlines = (*reply)->inlines;
    if (inlines && (!(*reply)->ok || expect_payload(client, ticket, slot, inlines)))
        return lose(client, "the daemon sent unexpected bytes");
    if (!(*reply)->ok) {
        error_from_fault(&error, &(*reply)->error, (*reply)->error_job);
        reply_end(client, ticket, &error);
        return 0;
    }
    int status = slot->forgotten ? 0 : store(slot, *reply, line, length, &error);
    if (slot->reply)
        *reply = NULL;
    if (client->payload.ticket == 0)
        reply_end(client, ticket, status ? &error : NULL);
    else if (status)
        slot->error = error_copy(&error);
    return 0;
}

/* Handles an error reply without an id, which ends the connection. */
static int receive_parting(mli_client *client, const struct rpc_reply *reply)
{
    mli_client_error error;

    if (reply->ok)
        return lose(client, "the daemon sent a reply that belongs to no request");
    error_from_fault(&error, &reply->error, 0);
    return connection_lose(client, &error);
}

static int receive_line(mli_client *client, const char *line, size_t length)
{
    struct rpc_reply *reply = malloc(sizeof(*reply));
    int status;

    if (!reply)
        return lose(client, "out of memory");
    if (rpc_reply_parse(line, length, reply))
        status = lose(client, reply->fault.text);
    else if (reply->notification != RPC_NOT_A_NOTIFICATION)
        status = receive_notification(client, reply, line, length);
    else if (reply->id.kind == RPC_ID_NULL)
        status = receive_parting(client, reply);
    else
        status = receive_answer(client, &reply, line, length);
    if (reply) {
        rpc_reply_finish(reply);
        free(reply);
    }
    return status;
}

/* Handling bytes from the socket. */

/* Handles the most frequent kind of line without the JSON parser. Returns false for other lines. */
static bool receive_quickly(mli_client *client, const char *line, size_t length)
{
    mli_client_result result = {0};
    uint64_t id;

    if (!quick_read_result(line, length, &id, &result))
        return false;
    struct slot *slot = table_find(&client->table, id);
    if (!slot || slot->state != SLOT_WAITING || slot->kind != SLOT_RESULT)
        return false;
    slot->result = result;
    reply_end(client, id, NULL);
    return true;
}

/* Writes bytes to the current file of the request. */
static void write_back(mli_client *client, struct slot *slot, const char *bytes, size_t size)
{
    struct payload *payload = &client->payload;
    int fd = slot->backs[payload->index].fd;
    uint64_t offset = payload->offset;

    while (size > 0 && !slot->error) {
        ssize_t written = pwrite(fd, bytes, size, (off_t)offset);
        if (written < 0 && errno == EINTR)
            continue;
        if (written <= 0) {
            mli_client_error error;
            error_set(&error, MLI_CLIENT_SYSTEM, "a result cannot be written: %s",
                      written ? strerror(errno) : "nothing was written");
            slot->error = error_copy(&error);
            return;
        }
        bytes += written;
        size -= (size_t)written;
        offset += (uint64_t)written;
    }
}

/* Reads bytes that follow a line. Returns true when all of them have arrived. */
static bool receive_payload(mli_client *client)
{
    struct payload *payload = &client->payload;
    struct slot *slot = table_find(&client->table, payload->ticket);

    while (payload->index < payload->count) {
        uint64_t *left = &payload->left[payload->index];
        if (*left == 0) {
            payload->index++;
            payload->offset = 0;
            continue;
        }
        const char *bytes;
        size_t size =
            frame_take_bytes(&client->in, *left < SIZE_MAX ? (size_t)*left : SIZE_MAX, &bytes);
        if (size == 0)
            return false;
        if (!slot->forgotten)
            write_back(client, slot, bytes, size);
        *left -= size;
        payload->offset += size;
    }
    mli_client_ticket ticket = payload->ticket;
    payload->ticket = 0;
    reply_end(client, ticket, slot->error);
    return true;
}

/* Handles all complete lines. */
static int take_lines(mli_client *client)
{
    const char *line;
    size_t length;
    int status = 0;

    while (status == 0 && client->socket >= 0) {
        if (client->payload.ticket != 0 && !receive_payload(client))
            break;
        if (client->socket < 0 || !frame_next(&client->in, &line, &length))
            break;
        if (!receive_quickly(client, line, length))
            status = receive_line(client, line, length);
    }
    if (client->socket < 0)
        return client->lost.code;
    return status;
}

static int take_descriptors(mli_client *client, const int *fds, size_t count)
{
    if (count > 0 && frame_push_fds(&client->in, fds, count))
        return connection_lost(client, "the daemon sent unexpected descriptors");
    return 0;
}

/* Receives once. *more: more bytes may be available. */
static int receive_some(mli_client *client, bool *more)
{
    size_t room = 0, count = 0;
    int fds[PROTO_FDS_MAX];

    *more = false;
    char *bytes = frame_room(&client->in, &room);
    if (!bytes)
        return connection_lost(client, "the daemon sent a line that is too long");
    ssize_t got = fd_recv(client->socket, bytes, room, fds, &count);
    if (got == -EAGAIN || got == -EINTR)
        return 0;
    if (got == 0)
        return connection_lost(client, "the daemon closed the connection");
    if (got < 0)
        return connection_lost(client, "%s",
                               got == -EMSGSIZE ? "the daemon sent a descriptor, but none was free"
                                                : strerror((int)-got));
    frame_commit(&client->in, (size_t)got);
    *more = (size_t)got == room;
    int status = take_descriptors(client, fds, count);
    return status ? status : take_lines(client);
}

int receive(mli_client *client)
{
    bool more = true;
    int status = 0;

    for (int i = 0; i < ROUNDS_MAX && more && status == 0 && client->socket >= 0; i++)
        status = receive_some(client, &more);
    return client->socket < 0 ? client->lost.code : status;
}
