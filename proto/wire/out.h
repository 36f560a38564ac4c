/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The queue of a connection to send: text, with marks where descriptors are attached or where bytes
 * of a file follow.
 *
 *     [ line | line | line ...... | line ]  text, gathered until a flush
 *       ^             ^         ^
 *       +- 2 fds      +- 2 fds  +- bytes 0 .. 6 of fd 7 follow here
 */
#ifndef PROTO_OUT_H
#define PROTO_OUT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "proto/wire/wire_limits.h"

struct out_mark {
    uint64_t at;    /* position of the mark, counted in bytes of text since the connection began */
    bool is_file;   /* true: a file; false: descriptors, attached to the byte at `at` */
    bool borrowed;  /* true: the caller owns the descriptors */
    uint32_t count; /* number of descriptors; 1 for a file */
    int fds[PROTO_FDS_MAX];
    uint64_t offset, left; /* position in a file, and bytes that are left */
    uint64_t owner;        /* owner of a file */
};

struct out {
    char *text;
    size_t begin, end, capacity;
    uint64_t position; /* position of text[begin], counted as out_mark.at */
    struct out_mark *marks;
    size_t mark_begin, mark_end, mark_capacity;
    char *chunk;      /* buffer for bytes of files */
    bool broken;      /* true: the peer has closed the connection; everything is dropped */
    uint64_t cut;     /* owner of a file that was shorter than announced; 0: no such file */
    int cut_error;    /* errno if that file could not be read; 0: it is shorter */
    size_t line_text; /* end of the text at out_line_begin() */
    size_t line_mark; /* end of the marks at out_line_begin() */
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

/** Marks the begin of a line for out_line_drop(). */
void out_line_begin(struct out *out);
/** Removes the line from the queue; no byte of it may have been sent. */
void out_line_drop(struct out *out);

/** Attaches descriptors, which the caller keeps, to the next byte. Returns 0 or -ENOMEM. */
int out_attach(struct out *out, const int *fds, size_t count);
/** Queues the first `size` bytes of a file. If the file is shorter when they are sent, out_flush()
 *  sets `cut` to `owner`, which is not 0. Returns 0 or -ENOMEM. */
int out_file(struct out *out, int fd, uint64_t size, uint64_t owner);
/** Duplicates queued descriptors, so that the caller may close its own. Returns 0 or -errno. */
int out_keep(struct out *out);

/** Sends as much as the socket accepts. Returns 0 or -errno; 0 also if the peer has closed the
 *  connection (`broken`). Returns early after setting `cut`: clear it and call again. */
int out_flush(struct out *out, int socket);

#endif /* PROTO_OUT_H */
