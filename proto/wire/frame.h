/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Framing: splits received bytes into lines and queues received descriptors. One struct frame per
 * connection and direction.
 *
 *     recvmsg -> frame_room/frame_commit ----> [ line | line | half a li ]
 *             -> frame_push_fds -------------> [ fd fd fd ]   one FIFO
 *     frame_next -> a line with "fds": N;  frame_take_fds(N) -> the N descriptors of the line
 *
 * Descriptors arrive with the first byte of their message. So if the buffer has no partial line, a
 * descriptor in the FIFO belongs to no line: frame_leftover() returns true. These functions make no
 * system call except close(2).
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "proto/wire/wire_limits.h"

/* Sends and receives bytes with descriptors over a unix stream socket. */

/* The maximum number of descriptors in one message on Linux (SCM_MAX_FD). */
enum { FD_RECV_MAX = 253 };

/**
 * Receives up to `size` bytes and all descriptors of their message (close-on-exec). With room for
 * FD_RECV_MAX descriptors the kernel does not close any descriptor, so the caller can choose the
 * thread that closes them: close(2) may block.
 * @return bytes (0: end of stream) or -errno. -EMSGSIZE: the kernel could not deliver all
 * descriptors (MSG_CTRUNC). In any case the caller owns the *count descriptors in fds.
 */
ssize_t fd_recv_all(int socket, void *bytes, size_t size, int fds[FD_RECV_MAX], size_t *count);

/**
 * Receives up to `size` bytes and up to PROTO_FDS_MAX descriptors (close-on-exec).
 * @return bytes (0: end of stream) with *count descriptors in fds, which the caller owns, or
 * -errno. -EMSGSIZE: too many descriptors; all are closed. -EAGAIN: a non-blocking socket has no
 * bytes.
 */
ssize_t fd_recv(int socket, void *bytes, size_t size, int fds[PROTO_FDS_MAX], size_t *count);

/**
 * Sends bytes with `count` descriptors attached to the first byte; the caller keeps the
 * descriptors.
 * @return bytes sent, or -errno. If at least one byte was sent, so were all descriptors. Raises no
 * SIGPIPE.
 */
ssize_t fd_send(int socket, const void *bytes, size_t size, const int *fds, size_t count);

/** Closes `count` descriptors. */
void fd_close_all(const int *fds, size_t count);

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
 * Takes the next complete line, without its "\n" or "\r\n"; *line is valid until frame_room().
 * Returns false if no line is complete.
 */
bool frame_next(struct frame *frame, const char **line, size_t *length);
/** Undoes the last frame_next(): the next call returns `line` again. */
void frame_unread(struct frame *frame, const char *line);
/**
 * Takes up to `max` bytes after the last line (inline payload), unchanged; *bytes is valid until
 * frame_room(). Returns the number of bytes.
 */
size_t frame_take_bytes(struct frame *frame, size_t max, const char **bytes);
/**
 * Moves `count` descriptors out of the FIFO, the oldest first. Returns 0, or -1 if the FIFO has
 * fewer.
 */
int frame_take_fds(struct frame *frame, size_t count, int *fds);
/** Returns whether descriptors have arrived that no line has announced. */
bool frame_leftover(const struct frame *frame);

/*
 * The bytes that a connection has to send: text, with marks where descriptors are attached or where
 * bytes of a file follow.
 *
 *     [ line | line | line ...... | line ]  text, gathered until a flush
 *       ^             ^         ^
 *       +- 2 fds      +- 2 fds  +- bytes 0 .. 6 of fd 7 follow here
 */

struct out_mark {
    uint64_t at;    /* position of the mark, counted in bytes of text since the connection began */
    bool is_file;   /* true: a file; false: descriptors, attached to the byte at `at` */
    bool borrowed;  /* true: the caller owns the descriptors */
    uint32_t count; /* number of descriptors; 1 for a file */
    int fds[PROTO_FDS_MAX];
    uint64_t offset, left; /* position in a file, and number of bytes that are not sent yet */
    uint64_t owner;        /* `owner` in the call of out_file() */
};

struct out {
    char *text;
    size_t begin, end, capacity;
    uint64_t position; /* number of bytes sent before text[begin], as in out_mark.at */
    struct out_mark *marks;
    size_t mark_begin, mark_end, mark_capacity;
    char *chunk;      /* buffer for bytes of files */
    bool broken;      /* true: the peer has closed the connection; everything is dropped */
    uint64_t cut;     /* owner of a file that was shorter than announced; 0: no such file */
    int cut_error;    /* errno if the file of `cut` could not be read; 0 if it was shorter */
    size_t line_text; /* value of `end` when out_line_begin() was called */
    size_t line_mark; /* value of `mark_end` when out_line_begin() was called */
};

void out_finish(struct out *out);
/** Returns true if nothing is queued. */
bool out_empty(const struct out *out);
/** Returns the number of bytes of queued text, without bytes of files. */
size_t out_waiting(const struct out *out);

/** Returns memory for `size` bytes, which out_commit() queues; null if there is no memory. */
char *out_room(struct out *out, size_t size);
void out_commit(struct out *out, size_t size);
/** Queues a copy of the bytes. Returns 0 or -ENOMEM. */
int out_add(struct out *out, const void *bytes, size_t size);

/** Marks the beginning of a line for out_line_drop(). */
void out_line_begin(struct out *out);
/** Removes the line from the queue; no byte of the line may have been sent. */
void out_line_drop(struct out *out);

/** Attaches descriptors, which the caller keeps, to the next byte. Returns 0 or -ENOMEM. */
int out_attach(struct out *out, const int *fds, size_t count);
/** Queues the first `size` bytes of a file. If the file is shorter when its bytes are sent,
 * out_flush() sets `cut` to `owner`, which must not be 0. Returns 0 or -ENOMEM. */
int out_file(struct out *out, int fd, uint64_t size, uint64_t owner);
/** Duplicates queued descriptors: the caller may close the originals. Returns 0 or -errno. */
int out_keep(struct out *out);

/** Sends as much as the socket accepts. Returns 0 or -errno; 0 even if the peer has closed the
 *  connection (`broken`). Returns early after setting `cut`: clear `cut` and call again. */
int out_flush(struct out *out, int socket);
