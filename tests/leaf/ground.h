/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The memory that leaves are run on, all of it between inaccessible pages: a flat piece for each
 * side, and for each side pages of which every other one is inaccessible. In these each row (column
 * of a transpose's source, element that is gathered, inner loop of a nest) has a page of its own,
 * so that a byte too much in the middle of a matrix is found too. Tables of places end before
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
    GROUND_PAGES = 80,  /* rows that can have a page each */
    GROUND_TABLE = 256, /* places in a table */
    GROUND_MARGIN = 192 /* bytes around the destination that must stay as they are */
};

enum place {
    PLACE_LEFT,        /* the first byte behind an inaccessible page */
    PLACE_RIGHT,       /* the last byte before one */
    PLACE_SLID,        /* 0 .. 63 bytes behind an address that is a multiple of 64 */
    PLACE_PAGES_LEFT,  /* each row like that */
    PLACE_PAGES_RIGHT, /* each row like that */
    PLACES
};

/* What has a page of its own. */
enum piece {
    PIECE_ROW,  /* each row; of a transpose's source each column */
    PIECE_LOOP, /* the rows of an inner loop together */
    PIECE_COL,  /* of a gather's source: each element of a row, with those of all rows */
    PIECES
};

struct ground_side {
    struct guard_mem flat, pages, table;
};

struct ground {
    struct ground_side src, dst;
    uint8_t *noise; /* what a destination holds before */
    uint8_t *image; /* what it must hold after */
    size_t page;
};

/* A shape on its ground. */
struct site {
    struct shape shape;
    enum place dst_place, src_place;
    size_t dst_slide, src_slide;
    enum piece dst_piece, src_piece;
    uint8_t *dst;
    const uint8_t *src;
};

/* 0, or -1 when the system gives no memory. */
int ground_init(struct ground *g);
void ground_finish(struct ground *g);

/*
 * Finds dst and src, and fills the tables. A place on pages overwrites the shape's steps; where the
 * shape does not fit on them it is placed flat. False where it does not fit there either.
 */
bool ground_place(const struct ground *g, struct site *site);

/* Fills the destination with noise, and the image with the reference's results on it. */
void ground_prepare(const struct ground *g, const struct site *site);

/* Whether every accessible byte near the destination is as in the image; else the first that is
   not, relative to site->dst. */
bool ground_holds(const struct ground *g, const struct site *site, ptrdiff_t *at);

#endif /* TEST_LEAF_GROUND_H */
