/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Framing: splits received bytes into lines and queues received descriptors. One struct frame per
 * connection and direction.
 *
 *     recvmsg -> frame_room/frame_commit ----> [ line | line | half a li ]
 *             -> frame_push_fds -------------> [ fd fd fd ]   one FIFO
 *     frame_next -> a line;  frame_take_fds(N) -> its descriptors, N from its "fds" member
 *
 * Descriptors arrive with the first byte of their message. So if the buffer has no partial line, a
 * descriptor in the FIFO belongs to no line: frame_leftover() returns true. The only system call is
 * close(2).
 */
#ifndef PROTO_FRAME_H
#define PROTO_FRAME_H

#include <stdbool.h>
#include <stddef.h>

#include "proto/wire/wire_limits.h"

struct frame {
    char *buffer;
    size_t capacity;   /* bytes of the longest line, newline included; size of the buffer */
    size_t begin, end; /* bytes [begin, end) are not taken yet */
    size_t scanned;    /* bytes [begin, scanned) hold no newline */
    int fds[2 * PROTO_FDS_MAX];
    size_t fd_count;
};

/** Initialises a frame. `line_max` is PROTO_LINE_MAX or PROTO_REPLY_MAX. Returns 0 or -ENOMEM. */
int frame_init(struct frame *frame, size_t line_max);
/** Frees the buffer and closes the descriptors of the FIFO. */
void frame_finish(struct frame *frame);

/**
 * Returns memory for *size > 0 bytes to receive, or null if the current line is too long. Call it
 * only after frame_next() has returned false: lines that are not taken yet count as one line.
 */
char *frame_room(struct frame *frame, size_t *size);
void frame_commit(struct frame *frame, size_t bytes);
/**
 * Puts descriptors into the FIFO, and takes ownership of them. Returns 0, or -1 if the FIFO is
 * full; then all of `fds` are closed.
 */
int frame_push_fds(struct frame *frame, const int *fds, size_t count);

/**
 * Takes the next complete line, without its "\n" or "\r\n"; valid until frame_room(). Returns false
 * if no line is complete.
 */
bool frame_next(struct frame *frame, const char **line, size_t *length);
/** Undoes the last frame_next(): the next call returns `line` again. */
void frame_unread(struct frame *frame, const char *line);
/**
 * Takes up to `max` of the bytes after the last line unchanged (inline payload); valid until
 * frame_room(). Returns the number of bytes.
 */
size_t frame_take_bytes(struct frame *frame, size_t max, const char **bytes);
/**
 * Moves `count` descriptors out of the FIFO, the oldest first. Returns 0, or -1 if the FIFO has
 * fewer.
 */
int frame_take_fds(struct frame *frame, size_t count, int *fds);
/** Returns whether the FIFO has descriptors that belong to no line. */
bool frame_leftover(const struct frame *frame);

#endif /* PROTO_FRAME_H */
