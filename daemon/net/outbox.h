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

struct outbox_chunk;

struct outbox {
    struct outbox_chunk *first, *last; /* bytes that wait; null: no chunk */
    size_t pending;                    /* bytes that wait */
    uint64_t sent;                     /* bytes that are gone */
    struct outbox_fd fds[OUTBOX_FDS_MAX];
    size_t fd_count;
};

static inline size_t outbox_pending(const struct outbox *box)
{
    return box->pending;
}

void outbox_init(struct outbox *box);
void outbox_finish(struct outbox *box);

/**
 * Keeps a copy of the bytes, behind those that wait, which stay where they are: the cost does not
 * grow with them. Returns 0, or -ENOMEM with nothing kept.
 */
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
