/* SPDX-License-Identifier: BSD-3-Clause */
#include "daemon/net/outbox.h"

#include <assert.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "daemon/base/seam.h"
#include "proto/wire/frame.h"

/* Size of a chunk in bytes; a longer line has a chunk of its own length. */
enum { CHUNK_MIN = 16 * 1024, CHUNK_MAX = 64 * 1024 };

/* Bytes that one call sends at most: the kernel copies them, and other clients wait. */
enum { FLUSH_MAX = 64 * 1024 };

struct outbox_chunk {
    struct outbox_chunk *next;
    size_t begin, end, capacity; /* waiting bytes are [begin, end) */
    char *bytes;                 /* the bytes, behind this struct or in an adopted text */
    bool adopted;                /* true: `bytes` is an adopted text, freed with the chunk */
};

void outbox_init(struct outbox *box)
{
    *box = (struct outbox){0};
}

static void drop_first(struct outbox *box)
{
    struct outbox_chunk *first = box->first;

    box->first = first->next;
    if (!box->first)
        box->last = NULL;
    if (first->adopted)
        free(first->bytes);
    free(first);
}

void outbox_finish(struct outbox *box)
{
    for (size_t i = 0; i < box->fd_count; i++)
        close(box->fds[i].fd);
    while (box->first)
        drop_first(box);
    *box = (struct outbox){0};
}

bool outbox_has_room_for_fd(struct outbox *box, int socket)
{
    int unread;

    if (box->fd_count + box->unread_fds < OUTBOX_FDS_MAX)
        return true;
    /* The peer has read all if TIOCOUTQ is 0. Other values include memory of the system itself. */
    if (ioctl(socket, TIOCOUTQ, &unread) == 0 && unread == 0)
        box->unread_fds = 0;
    return box->fd_count + box->unread_fds < OUTBOX_FDS_MAX;
}

void outbox_attach(struct outbox *box, int fd)
{
    assert(box->fd_count < OUTBOX_FDS_MAX);
    box->fds[box->fd_count++] = (struct outbox_fd){.at = box->sent + outbox_pending(box), .fd = fd};
}

/* Adds a chunk for `capacity` bytes, of which `room` are allocated together with the struct. */
static struct outbox_chunk *add_chunk(struct outbox *box, size_t capacity, size_t room)
{
    struct outbox_chunk *chunk = seam.realloc(NULL, sizeof *chunk + room);

    if (!chunk)
        return NULL;
    *chunk = (struct outbox_chunk){.capacity = capacity, .bytes = (char *)(chunk + 1)};
    if (box->last)
        box->last->next = chunk;
    else
        box->first = chunk;
    box->last = chunk;
    return chunk;
}

/* Adds a chunk for at least `length` bytes; larger if more bytes wait. */
static struct outbox_chunk *add_room(struct outbox *box, size_t length)
{
    size_t capacity = box->pending < CHUNK_MIN   ? CHUNK_MIN
                      : box->pending < CHUNK_MAX ? box->pending
                                                 : CHUNK_MAX;

    if (capacity < length)
        capacity = length;
    return add_chunk(box, capacity, capacity);
}

int outbox_append(struct outbox *box, const char *bytes, size_t length)
{
    struct outbox_chunk *last = box->last;
    const size_t room = last ? last->capacity - last->end : 0;
    const size_t head = length < room ? length : room;
    struct outbox_chunk *more = NULL;

    if (length > head) {
        more = add_room(box, length - head);
        if (!more)
            return -ENOMEM;
        memcpy(more->bytes, bytes + head, length - head);
        more->end = length - head;
    }
    if (head > 0) {
        memcpy(last->bytes + last->end, bytes, head);
        last->end += head;
    }
    box->pending += length;
    return 0;
}

int outbox_adopt(struct outbox *box, char *text, size_t length)
{
    struct outbox_chunk *chunk;

    if (box->first && box->pending == 0)
        drop_first(box); /* an empty chunk, kept for the next bytes */
    chunk = add_chunk(box, length, 0);
    if (!chunk)
        return -ENOMEM;
    chunk->bytes = text;
    chunk->adopted = true;
    chunk->end = length;
    box->pending += length;
    return 0;
}

/* Sends bytes, and *fd with the first of them unless `fd` is null. Returns the number of bytes that
 * the socket took, 0 if it is full, or -errno. ETOOMANYREFS: too many descriptors that processes of
 * this user have sent are unread. */
static ssize_t try_send(int socket, const char *bytes, size_t length, const int *fd)
{
    ssize_t sent;

    do
        sent = fd_send(socket, bytes, length, fd, fd ? 1 : 0);
    while (sent == -EINTR);
    return sent == -EAGAIN || sent == -EWOULDBLOCK ? 0 : sent;
}

/* Drops the first descriptor, which was sent. */
static void drop_fd(struct outbox *box)
{
    close(box->fds[0].fd);
    box->unread_fds++;
    box->fd_count--;
    memmove(box->fds, box->fds + 1, box->fd_count * sizeof *box->fds);
}

/* Removes `sent` bytes from the front of the first chunk. Keeps an empty last chunk unless it is
 * large. */
static void take_off(struct outbox *box, size_t sent)
{
    struct outbox_chunk *first = box->first;

    first->begin += sent;
    box->pending -= sent;
    box->sent += sent;
    if (first->begin < first->end)
        return;
    first->begin = first->end = 0;
    if (first->next || first->adopted || first->capacity > CHUNK_MAX)
        drop_first(box);
}

/*
 * Sends up to `max` bytes: up to the end of the first chunk, or up to the next byte with a
 * descriptor. Returns the same values as try_send().
 */
static ssize_t send_some(struct outbox *box, int socket, size_t max)
{
    const struct outbox_chunk *first = box->first;
    const bool with_fd = box->fd_count > 0 && box->fds[0].at == box->sent;
    const size_t next = with_fd ? 1 : 0;
    size_t length = first->end - first->begin;
    ssize_t sent;

    if (length > max)
        length = max;
    if (next < box->fd_count && box->fds[next].at - box->sent < length)
        length = (size_t)(box->fds[next].at - box->sent);
    sent = try_send(socket, first->bytes + first->begin, length, with_fd ? &box->fds[0].fd : NULL);
    box->refused = sent == -ETOOMANYREFS;
    if (sent <= 0)
        return box->refused ? 0 : sent;
    if (with_fd)
        drop_fd(box);
    take_off(box, (size_t)sent);
    return sent;
}

int outbox_flush(struct outbox *box, int socket)
{
    size_t left = FLUSH_MAX;

    while (outbox_pending(box) > 0 && left > 0) {
        const ssize_t sent = send_some(box, socket, left);

        if (sent <= 0)
            return (int)sent;
        left -= (size_t)sent;
    }
    return 0;
}
