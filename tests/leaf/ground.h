/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The memory for calls of leaf kernels. Source and destination have two areas each: a contiguous
 * one between inaccessible pages, and one in which every second page is inaccessible. In the
 * latter, each piece of a shape, for example each row, is on a page of its own. So an access
 * outside a row in the middle of a matrix is also a fault. Tables also end before an inaccessible
 * page.
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

/* The parts of a shape that are placed on separate pages. */
enum piece {
    PIECE_ROW,  /* each row is on a page; in the source of a transpose, each column */
    PIECE_LOOP, /* all rows of one inner loop are on a page */
    PIECE_COL,  /* in the source of a gather: each column of elements is on a page */
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
 * Computes dst and src, and fills in the tables. PLACE_PAGES_... overwrites the steps of the
 * shape. If the shape does not fit on separate pages, it is placed in the contiguous area. Returns
 * false if it is also too large for this area.
 */
bool ground_place(const struct ground *g, struct site *site);

/* Fills the destination with noise, and the image with noise and the reference's result. */
void ground_prepare(const struct ground *g, const struct site *site);

/* Returns whether every accessible byte near the destination is as in the image; else sets the
   offset of the first wrong byte, relative to site->dst. */
bool ground_holds(const struct ground *g, const struct site *site, ptrdiff_t *at);

#endif /* TEST_LEAF_GROUND_H */
