/* SPDX-License-Identifier: BSD-3-Clause */
#include "outbox.h"

#include <assert.h>
#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "fdpass.h"
#include "seam.h"

enum {
    KEEP_MAX = 64 * 1024, /* a larger buffer is given back once it is empty */
    GROW_MAX = 256 * 1024 /* bytes to spare at most */
};

void outbox_init(struct outbox *box)
{
    *box = (struct outbox){0};
}

void outbox_finish(struct outbox *box)
{
    for (size_t i = 0; i < box->fd_count; i++)
        close(box->fds[i].fd);
    free(box->data);
    *box = (struct outbox){0};
}

void outbox_attach(struct outbox *box, int fd)
{
    assert(box->fd_count < OUTBOX_FDS_MAX);
    box->fds[box->fd_count++] = (struct outbox_fd){.at = box->sent + outbox_pending(box), .fd = fd};
}

int outbox_append(struct outbox *box, const char *bytes, size_t length)
{
    const size_t pending = outbox_pending(box);

    if (box->begin > 0 && length > box->capacity - box->end) {
        memmove(box->data, box->data + box->begin, pending);
        box->begin = 0;
        box->end = pending;
    }
    if (length > box->capacity - box->end) {
        const size_t needed = pending + length;
        const size_t capacity = needed + (needed < GROW_MAX ? needed : GROW_MAX);
        char *data = seam.realloc(box->data, capacity);

        if (!data)
            return -ENOMEM;
        box->data = data;
        box->capacity = capacity;
    }
    memcpy(box->data + box->end, bytes, length);
    box->end += length;
    return 0;
}

/* How many bytes the socket takes; 0 where it is full. Null: no descriptor goes with the first. */
static ssize_t try_send(int socket, const char *bytes, size_t length, const int *fd)
{
    ssize_t sent;

    do
        sent = fd_send(socket, bytes, length, fd, fd ? 1 : 0);
    while (sent == -EINTR);
    return sent == -EAGAIN || sent == -EWOULDBLOCK ? 0 : sent;
}

/* The first descriptor has arrived. */
static void drop_fd(struct outbox *box)
{
    close(box->fds[0].fd);
    box->fd_count--;
    memmove(box->fds, box->fds + 1, box->fd_count * sizeof *box->fds);
}

/* Sends up to the next byte that has a descriptor of its own. As try_send(). */
static ssize_t send_some(struct outbox *box, int socket)
{
    const bool with_fd = box->fd_count > 0 && box->fds[0].at == box->sent;
    const size_t next = with_fd ? 1 : 0;
    size_t length = outbox_pending(box);
    ssize_t sent;

    if (next < box->fd_count && box->fds[next].at - box->sent < length)
        length = (size_t)(box->fds[next].at - box->sent);
    sent = try_send(socket, box->data + box->begin, length, with_fd ? &box->fds[0].fd : NULL);
    if (sent <= 0)
        return sent;
    if (with_fd)
        drop_fd(box);
    box->begin += (size_t)sent;
    box->sent += (uint64_t)sent;
    return sent;
}

int outbox_flush(struct outbox *box, int socket)
{
    while (outbox_pending(box) > 0) {
        const ssize_t sent = send_some(box, socket);

        if (sent <= 0)
            return (int)sent;
    }
    if (box->capacity > KEEP_MAX) {
        free(box->data);
        box->data = NULL;
        box->capacity = 0;
    }
    box->begin = box->end = 0;
    return 0;
}
