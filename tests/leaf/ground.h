/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The memory for calls of leaves, all of it between inaccessible pages: a flat area for each side,
 * and an area for each side in which every second page is inaccessible. On the latter each row (or
 * column of a transpose's source, gathered element, inner loop of a nest) has a page of its own, so
 * that an access outside a row in the middle of a matrix is also a fault. Tables end before
 * inaccessible pages as well.
 */
#ifndef TEST_LEAF_GROUND_H
#define TEST_LEAF_GROUND_H

#include "tests/leaf/shape.h"
#include "tests/support/guard_mem.h"
#include "tests/support/rng.h"

enum {
    GROUND_SRC_BYTES = 4 * 1024 * 1024,
    GROUND_DST_BYTES = 1024 * 1024,
    GROUND_PAGES = 80,  /* largest number of rows that can have a page each */
    GROUND_TABLE = 256, /* largest number of places in a table */
    GROUND_MARGIN = 192 /* number of bytes around the destination that must not change */
};

enum place {
    PLACE_LEFT,        /* the memory starts at the first byte after an inaccessible page */
    PLACE_RIGHT,       /* the memory ends at the last byte before an inaccessible page */
    PLACE_SLID,        /* the memory starts 0 .. 63 bytes after a multiple of 64 */
    PLACE_PAGES_LEFT,  /* each row starts after an inaccessible page */
    PLACE_PAGES_RIGHT, /* each row ends before an inaccessible page */
    PLACES
};

/* Which pieces have a page of their own. */
enum piece {
    PIECE_ROW,  /* each row; in the source of a transpose, each column */
    PIECE_LOOP, /* all rows of an inner loop together */
    PIECE_COL,  /* in the source of a gather: each column of elements, over all rows */
    PIECES
};

struct ground_side {
    struct guard_mem flat, pages, table;
};

struct ground {
    struct ground_side src, dst;
    uint8_t *noise; /* content of a destination before the call */
    uint8_t *image; /* expected content after the call */
    size_t page;
};

/* A shape and its place in memory. */
struct site {
    struct shape shape;
    enum place dst_place, src_place;
    size_t dst_slide, src_slide;
    enum piece dst_piece, src_piece;
    uint8_t *dst;
    const uint8_t *src;
};

/* Allocates the memory. Returns 0, or -1 if the system has no memory. */
int ground_init(struct ground *g);
void ground_finish(struct ground *g);

/*
 * Computes dst and src, and fills in the tables. A place on pages overwrites the shape's steps; a
 * shape that does not fit on pages is placed flat. Returns false if the shape does not fit there
 * either.
 */
bool ground_place(const struct ground *g, struct site *site);

/* Fills the destination with noise, and the image with noise and the reference's result. */
void ground_prepare(const struct ground *g, const struct site *site);

/* Returns whether every accessible byte near the destination is as in the image; else sets the
   offset of the first wrong byte, relative to site->dst. */
bool ground_holds(const struct ground *g, const struct site *site, ptrdiff_t *at);

#endif /* TEST_LEAF_GROUND_H */
