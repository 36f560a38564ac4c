/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The cache lines of a placed job in some order: tiles of the destination, each with its pieces of
 * the source. Padding is written and has no source.
 */
#ifndef BENCH_LINES_TILES_H
#define BENCH_LINES_TILES_H

#include "bench/moves/bench_job.h"

/* An order in which tiles are moved. */
struct lines_way {
    uint32_t dst_bytes; /* bytes of a tile that are contiguous in the destination */
    uint32_t src_bytes; /* bytes of a tile that are contiguous in the source */
    uint32_t places;    /* number of parts of the move from which tiles are taken in turns */
    bool by_source;     /* true: tiles in the order of the source; false: of the destination */
    bool streamed;      /* true: stores of lines bypass the caches */
    bool ahead;         /* true: the lines of the next tile are prefetched during a tile */
};

/* A run of bytes; `at` counts from the beginning of the tile. */
struct lines_span {
    int32_t at;
    uint32_t bytes;
};

/* Tiles of one form; one array holds the loads and the stores. */
struct lines_form {
    uint32_t count[CASE_RANK], inside_at[CASE_RANK], inside[CASE_RANK];
    struct lines_span *loads, *stores;
    uint32_t load_count, store_count;
};

struct lines_tile {
    const uint8_t *src; /* source of the first element that is not padding */
    uint8_t *dst;
    uint32_t form;
};

enum { LINES_FORMS = 81 /* three forms for each dimension */ };

struct lines_tiles {
    struct lines_tile *at;
    size_t count;
    struct lines_form form[LINES_FORMS];
    uint32_t forms;
};

/*
 * Makes the tiles. Returns 0, or -1 if there is no memory or a tile exceeds the range of its spans.
 */
int lines_tiles_init(struct lines_tiles *t, const struct job *j, const struct lines_way *way);
void lines_tiles_finish(struct lines_tiles *t);

/* The order of a form, in dimensions of the destination. */
struct lines_shape {
    uint32_t extent[CASE_RANK]; /* extent of a tile in each dimension */
    uint32_t dim[CASE_RANK];    /* order of the dimensions, the outermost first */
};

struct lines_shape lines_shape(const struct job *j, const struct lines_way *way);

#endif
