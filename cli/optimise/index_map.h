/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A move as a map of indices, and the composition of two moves.
 *
 * A move writes samples. Each axis of a map numbers the samples along one destination dimension:
 * sample j of an axis is at dst + j * dst_step in the destination. The samples inside the box
 * [lo, hi) of all axes come from the source, at src + sum of (j - lo) * src_step; all other samples
 * are zeros. All addresses and steps are in bytes: a map knows neither the shapes of the two
 * tensors nor the order of the source dimensions, so that a reshape of the tensor between two moves
 * does not matter.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "cli/job/byte_set.h"
#include "mli_explain.h"

struct index_axis {
    uint64_t count;    /* samples that are written, from 1 */
    uint64_t lo, hi;   /* the samples that come from the source */
    uint64_t src_step; /* bytes between neighbours in the source; unused if hi - lo < 2 */
    uint64_t dst_step; /* bytes between neighbours in the destination; valid even if count is 1 */
};

struct index_map {
    uint32_t rank, elem; /* elem: bytes of an element */
    bool zeros;          /* all samples are zeros: src, lo and hi are unused */
    uint64_t src, dst;   /* address of sample `lo` of all axes; address of sample 0 of all axes */
    struct index_axis axis[MLI_MAX_RANK]; /* by destination dimension */
};

/* Samples [lo, hi) along each axis of a map. */
struct index_box {
    uint64_t lo[MLI_MAX_RANK], hi[MLI_MAX_RANK];
};

/** Returns the map of a move. `src`, `dst`: addresses of the first elements of the two tensors. */
struct index_map index_map_of(const mli_explanation *move, uint64_t src, uint64_t dst);

/** Returns the bytes that a map reads; no bytes if it writes only zeros. */
struct byte_set index_map_read(const struct index_map *map);
/** Returns the bytes that a map writes. */
struct byte_set index_map_written(const struct index_map *map);

/** Returns the number of samples that come from the source. */
uint64_t index_map_samples_read(const struct index_map *map);
/** Returns the number of samples in a box of a map with this rank. */
uint64_t index_box_samples(const struct index_box *box, uint32_t rank);

enum composition {
    COMPOSED,          /* both results are filled */
    COMPOSED_GIVEN,    /* only `given` is filled: the composition is no map */
    COMPOSED_APART,    /* the reader reads no element that the writer writes */
    COMPOSED_SIZES,    /* the elements of the two moves have different sizes */
    COMPOSED_IRREGULAR /* the read elements are not in order in the writer's destination */
};

/**
 * Composes two moves: `reader` reads where `writer` has written. `given`: the samples within the
 * reader's [lo, hi) that the writer has written, as values or zeros. `composed`: the reader's map
 * from the source of the writer; samples outside of `given` count as zeros. COMPOSED_APART and the
 * failures apply to the whole read.
 */
enum composition index_map_compose(const struct index_map *reader, const struct index_map *writer,
                                   struct index_map *composed, struct index_box *given);
