/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A buffer flush against an inaccessible page on one side, with random bytes on the other, and an
 * image of what all of it must hold. Everything is compared, not only what a move should touch.
 */
#ifndef TEST_WATCHED_H
#define TEST_WATCHED_H

#include "cli/selftest/draw.h"
#include "tests/support/guard_mem.h"

#define WATCHED_MARGIN 320 /* compared bytes on the open side */
#define WATCHED_SAME   SIZE_MAX

struct watched {
    struct guard_mem mem;
    uint8_t *image;
    uint8_t *at;   /* the compared bytes: buffer and margin */
    size_t bytes;  /* how many */
    uint8_t *data; /* the buffer */
    bool right;    /* flush against the upper page; else the lower one */
};

int watched_init(struct watched *w, size_t bytes);
void watched_finish(struct watched *w);

/* The largest buffer watched_place() takes. */
size_t watched_room(const struct watched *w);

/* Places a buffer of `bytes`, `slide` bytes off the lower page, and fills all with random. */
void watched_place(struct watched *w, struct draw *draw, size_t bytes, size_t slide);

/* Fills it anew. */
void watched_fill(struct watched *w, struct draw *draw);

/* The image of the buffer's byte 0. */
uint8_t *watched_image(const struct watched *w);

/* Offset, relative to the buffer, of the first byte that is not as in the image. */
size_t watched_difference(const struct watched *w);

#endif /* TEST_WATCHED_H */
