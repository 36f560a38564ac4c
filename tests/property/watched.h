/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A buffer between an inaccessible page and random bytes, with an image of its expected content.
 * All bytes are compared, not only those that a move should write.
 */
#ifndef TEST_WATCHED_H
#define TEST_WATCHED_H

#include "cli/selftest/draw.h"
#include "tests/support/guard_mem.h"

#define WATCHED_MARGIN 320 /* number of compared bytes at the side without an inaccessible page */
#define WATCHED_SAME   SIZE_MAX

struct watched {
    struct guard_mem mem;
    uint8_t *image;
    uint8_t *at;   /* the compared bytes: the buffer and a margin */
    size_t bytes;  /* number of compared bytes */
    uint8_t *data; /* the first byte of the buffer */
    bool right; /* true: the buffer ends at the upper inaccessible page; false: it begins near the
                   lower inaccessible page */
};

int watched_init(struct watched *w, size_t bytes);
void watched_finish(struct watched *w);

/* Returns the size of the largest buffer that watched_place() takes. */
size_t watched_room(const struct watched *w);

/*
 * Places a buffer of `bytes` bytes at random: it ends at the upper inaccessible page, or begins
 * `slide` bytes after the lower one. Fills the compared bytes with random values.
 */
void watched_place(struct watched *w, struct draw *draw, size_t bytes, size_t slide);

/* Fills the compared bytes with new random values. */
void watched_fill(struct watched *w, struct draw *draw);

/* Returns the expected bytes of the buffer, beginning with its first byte. */
uint8_t *watched_image(const struct watched *w);

/* Returns the offset, relative to the buffer, of the first byte that differs from the image. */
size_t watched_difference(const struct watched *w);

#endif /* TEST_WATCHED_H */
