/* SPDX-License-Identifier: BSD-3-Clause */
#include "outbox.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "fdpass.h"
#include "seam.h"

enum { KEEP_MAX = 64 * 1024 }; /* a larger buffer is given back once it is empty */

void outbox_init(struct outbox *box)
{
    *box = (struct outbox){0};
}

void outbox_finish(struct outbox *box)
{
    free(box->data);
    *box = (struct outbox){0};
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
        size_t capacity = (pending + length) * 2;
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

/* How many bytes the socket takes; 0 where it is full. */
static ssize_t try_send(int socket, const char *bytes, size_t length)
{
    ssize_t sent;

    do
        sent = fd_send(socket, bytes, length, NULL, 0);
    while (sent == -EINTR);
    return sent == -EAGAIN || sent == -EWOULDBLOCK ? 0 : sent;
}

int outbox_flush(struct outbox *box, int socket)
{
    while (outbox_pending(box) > 0) {
        ssize_t sent = try_send(socket, box->data + box->begin, outbox_pending(box));

        if (sent <= 0)
            return (int)sent;
        box->begin += (size_t)sent;
    }
    if (box->capacity > KEEP_MAX)
        outbox_finish(box);
    box->begin = box->end = 0;
    return 0;
}
