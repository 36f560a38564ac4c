/* SPDX-License-Identifier: BSD-3-Clause */
#include "client/src/receive.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "client/src/quick.h"
#include "client/src/reply.h"
#include "proto/wire/fdpass.h"

enum { ROUNDS_MAX = 16 };

/* The usual line, the usual way. False: it is another one. */
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

/* Bytes for one of the request's files. */
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

/* Takes what is there of the bytes that follow a line. True: all of them are in. */
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

/* Everything that is whole. */
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
            status = reply_receive(client, line, length);
    }
    if (client->socket < 0)
        return client->lost.code;
    return status;
}

static int take_descriptors(mli_client *client, const int *fds, size_t count)
{
    if (count > 0 && frame_push_fds(&client->in, fds, count))
        return connection_lost(client, "it sent descriptors nobody asked for");
    return 0;
}

/* One receive. *more: there may be more. */
static int receive_some(mli_client *client, bool *more)
{
    size_t room = 0, count = 0;
    int fds[PROTO_FDS_MAX];
    *more = false;
    char *bytes = frame_room(&client->in, &room);
    if (!bytes)
        return connection_lost(client, "it sent a line that is too long");
    ssize_t got = fd_recv(client->socket, bytes, room, fds, &count);
    if (got == -EAGAIN || got == -EINTR)
        return 0;
    if (got == 0)
        return connection_lost(client, "it closed the connection");
    if (got < 0)
        return connection_lost(client, "%s", strerror((int)-got));
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
