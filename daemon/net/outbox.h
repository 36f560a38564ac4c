/* SPDX-License-Identifier: BSD-3-Clause */
/* The outbox: bytes and descriptors that wait until a socket takes them. */
#ifndef DAEMON_OUTBOX_H
#define DAEMON_OUTBOX_H

#include <stddef.h>
#include <stdint.h>

enum { OUTBOX_FDS_MAX = 16 }; /* number of descriptors that may wait */

/* An owned descriptor, and the byte that it is sent with. */
struct outbox_fd {
    uint64_t at; /* the byte's number, counted from the start of the connection */
    int fd;
};

struct outbox_chunk;

struct outbox {
    struct outbox_chunk *first, *last; /* waiting bytes; null: no chunk */
    size_t pending;                    /* number of waiting bytes */
    uint64_t sent;                     /* number of bytes sent since the start */
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
 * Appends a copy of the bytes. Does not move waiting bytes, so that the cost does not grow with
 * them. Returns 0, or -ENOMEM with nothing appended.
 */
int outbox_append(struct outbox *box, const char *bytes, size_t length);
/**
 * Appends a text without copying it. Takes ownership of the text, which is from malloc(), unless it
 * returns -ENOMEM. Returns 0 or -ENOMEM with nothing appended.
 */
int outbox_adopt(struct outbox *box, char *text, size_t length);
/**
 * Attaches a descriptor to the byte that is appended next. Takes ownership. There must be room:
 * fd_count < OUTBOX_FDS_MAX.
 */
void outbox_attach(struct outbox *box, int fd);
/** Sends until the socket is full, at most 64 KiB. Returns 0, also if bytes still wait, or -errno.
 */
int outbox_flush(struct outbox *box, int socket);

#endif /* DAEMON_OUTBOX_H */
