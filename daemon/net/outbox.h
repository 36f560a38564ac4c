/* SPDX-License-Identifier: BSD-3-Clause */
/* The outbox: bytes and descriptors that wait until a socket accepts them. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Limit on descriptors of a client that are queued, or sent and not yet read. */
enum { OUTBOX_FDS_MAX = 16 };

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
    size_t unread_fds; /* number of descriptors sent since the peer had last read everything */
    bool refused;      /* true: the system took no descriptor; flush again after a pause */
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
 * Returns whether a descriptor may be attached to a reply: fewer than OUTBOX_FDS_MAX descriptors
 * wait here or are unread by the peer. The system limits the number of unread descriptors of all
 * sockets of a user together. This limit here keeps one peer that does not read from using up that
 * number.
 */
bool outbox_has_room_for_fd(struct outbox *box, int socket);
/**
 * Attaches a descriptor to the byte that is appended next. Takes ownership. The outbox must have
 * space for it.
 */
void outbox_attach(struct outbox *box, int fd);
/** Sends until the socket is full, at most 64 KiB. Returns 0 (bytes may still wait) or -errno. */
int outbox_flush(struct outbox *box, int socket);
