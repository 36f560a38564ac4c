/* SPDX-License-Identifier: BSD-3-Clause */
/* Bytes on their way out of a socket that does not always take them. */
#ifndef DAEMON_OUTBOX_H
#define DAEMON_OUTBOX_H

#include <stddef.h>

struct outbox {
    char *data;
    size_t begin, end, capacity; /* bytes [begin, end) wait */
};

static inline size_t outbox_pending(const struct outbox *box)
{
    return box->end - box->begin;
}

void outbox_init(struct outbox *box);
void outbox_finish(struct outbox *box);

/** Keeps a copy of the bytes, behind those that wait. Returns 0 or -ENOMEM. */
int outbox_append(struct outbox *box, const char *bytes, size_t length);
/** Sends what the socket takes of what waits. Returns 0 (also where something still waits) or
 * -errno. */
int outbox_flush(struct outbox *box, int socket);

#endif /* DAEMON_OUTBOX_H */
