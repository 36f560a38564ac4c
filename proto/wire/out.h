/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What waits to be sent: text, and marks in it where descriptors are attached or a file's bytes
 * come in between.
 *
 *     [ line | line | line ...... | line ]  text, gathered until a flush
 *       ^             ^         ^
 *       +- 2 fds      +- 2 fds  +- bytes 0 .. 6 of fd 7 go here
 */
#ifndef PROTO_OUT_H
#define PROTO_OUT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "proto/wire/wire_limits.h"

struct out_mark {
    uint64_t at;    /* position in the text of all time */
    bool is_file;   /* else descriptors for the byte at `at` */
    bool borrowed;  /* descriptors are the caller's yet */
    uint32_t count; /* of fds; 1 for a file */
    int fds[PROTO_FDS_MAX];
    uint64_t offset, left; /* of a file */
    uint64_t owner;        /* of a file */
};

struct out {
    char *text;
    size_t begin, end, capacity;
    uint64_t position; /* of text[begin] */
    struct out_mark *marks;
    size_t mark_begin, mark_end, mark_capacity;
    char *chunk;      /* of a file's bytes */
    bool broken;      /* the other side reads no more; what is added is dropped */
    uint64_t cut;     /* owner of a file that had fewer bytes than were promised; 0: none */
    size_t line_text; /* what out_line_begin() found */
    size_t line_mark;
};

void out_finish(struct out *out);
/** Nothing waits. */
bool out_empty(const struct out *out);
size_t out_waiting(const struct out *out);

/** Room for `size` more bytes; they are added by out_commit(). Null: no memory. */
char *out_room(struct out *out, size_t size);
void out_commit(struct out *out, size_t size);
/** Returns 0 or -ENOMEM. */
int out_add(struct out *out, const void *bytes, size_t size);

/** Remembers where a line begins, for out_line_drop(). */
void out_line_begin(struct out *out);
/** Takes the line back, none of which was sent. */
void out_line_drop(struct out *out);

/** Attaches descriptors, which stay the caller's, to the next byte. Returns 0 or -ENOMEM. */
int out_attach(struct out *out, const int *fds, size_t count);
/** The first `size` bytes of a file come next; `owner` is who wants to know if it has fewer by
 *  then, not 0. Returns 0 or -ENOMEM. */
int out_file(struct out *out, int fd, uint64_t size, uint64_t owner);
/** Makes descriptors that still wait its own. Returns 0 or -errno. */
int out_keep(struct out *out);

/** Sends what the socket takes. Returns 0, also where the other side has hung up (`broken`), or
 *  -errno. Stops where `cut` is set: the caller clears it and calls again. */
int out_flush(struct out *out, int socket);

#endif /* PROTO_OUT_H */
