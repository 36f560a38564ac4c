/* SPDX-License-Identifier: BSD-3-Clause */
/* Bytes and descriptors on their way out of a socket that does not always take them. */
#ifndef DAEMON_OUTBOX_H
#define DAEMON_OUTBOX_H

#include <stddef.h>
#include <stdint.h>

enum { OUTBOX_FDS_MAX = 16 }; /* descriptors that wait at a time */

/* A descriptor, owned, that goes with a certain byte. */
struct outbox_fd {
    uint64_t at; /* its number, counted from the first one ever */
    int fd;
};

struct outbox {
    char *data;
    size_t begin, end, capacity; /* bytes [begin, end) wait */
    uint64_t sent;               /* bytes that are gone */
    struct outbox_fd fds[OUTBOX_FDS_MAX];
    size_t fd_count;
};

static inline size_t outbox_pending(const struct outbox *box)
{
    return box->end - box->begin;
}

void outbox_init(struct outbox *box);
void outbox_finish(struct outbox *box);

/** Keeps a copy of the bytes, behind those that wait. Returns 0 or -ENOMEM. */
int outbox_append(struct outbox *box, const char *bytes, size_t length);
/**
 * The first of the bytes that are appended next will have the descriptor with it. It is the
 * outbox's from now on. There must be room: fd_count < OUTBOX_FDS_MAX.
 */
void outbox_attach(struct outbox *box, int fd);
/** Sends what the socket takes of what waits. Returns 0 (also where something still waits) or
 * -errno. */
int outbox_flush(struct outbox *box, int socket);

#endif /* DAEMON_OUTBOX_H */
