/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Framing: bytes and descriptors in, lines out. One per connection and direction.
 *
 *     recvmsg -> frame_room/frame_commit ----> [ line | line | half a li ]
 *             -> frame_push_fds -------------> [ fd fd fd ]   one FIFO
 *     frame_next -> a line;  frame_take_fds(N) -> its descriptors, N from its "fds" member
 *
 * Descriptors come attached to the first byte of their message, so when no partial line is
 * waiting, none may be left in the FIFO: frame_leftover() tells. No system calls but close(2).
 */
#ifndef PROTO_FRAME_H
#define PROTO_FRAME_H

#include <stdbool.h>
#include <stddef.h>

#include "proto/wire/wire_limits.h"

struct frame {
    char *buffer;
    size_t capacity;   /* longest line, newline included; the buffer's size */
    size_t begin, end; /* bytes [begin, end) are waiting */
    size_t scanned;    /* bytes [begin, scanned) hold no newline */
    int fds[2 * PROTO_FDS_MAX];
    size_t fd_count;
};

/** `line_max` is PROTO_LINE_MAX or PROTO_REPLY_MAX. Returns 0 or -ENOMEM. */
int frame_init(struct frame *frame, size_t line_max);
/** Closes descriptors nobody took. */
void frame_finish(struct frame *frame);

/**
 * Where to receive: room for *size > 0 bytes, unless a line is too long (null). To be called when
 * frame_next() has returned false: lines that nobody took count as one that is too long.
 */
char *frame_room(struct frame *frame, size_t *size);
void frame_commit(struct frame *frame, size_t bytes);
/** Takes ownership of the descriptors. Returns 0, or -1 (FIFO full): all of `fds` are closed. */
int frame_push_fds(struct frame *frame, const int *fds, size_t count);

/**
 * Next complete line without its newline (a '\r' before it is dropped too), valid until
 * frame_room(). False: none is complete yet.
 */
bool frame_next(struct frame *frame, const char **line, size_t *length);
/** Puts the line that frame_next() has just given back: it gives it again. */
void frame_unread(struct frame *frame, const char *line);
/**
 * Takes up to `max` of the bytes that wait, no matter what is in them, when frame_next() has just
 * given the line that they belong to; valid until frame_room(). Returns how many.
 */
size_t frame_take_bytes(struct frame *frame, size_t max, const char **bytes);
/** Moves `count` descriptors out of the FIFO, oldest first. Returns 0, or -1 where there are fewer.
 */
int frame_take_fds(struct frame *frame, size_t count, int *fds);
/** True where descriptors wait that belong to no line begun. */
bool frame_leftover(const struct frame *frame);

#endif /* PROTO_FRAME_H */
