/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The elements at which two tensors of one dtype and shape differ: their region, the first ones,
 * their number in each plane, the largest difference, and a sample for a diagnosis. The size of
 * struct differing does not depend on the tensors.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "cli/diagnose/elements.h"
#include "proto/json/jsonw.h"

enum {
    DIFFERING_FIRST_MAX = 50,
    DIFFERING_RUNS_MAX = 8,
    DIFFERING_SAMPLE_MAX = 256,
    DIFFERING_ORIGIN_MAX = 80
};

struct differing_element {
    uint32_t at[TENSOR_RANK_MAX];
    char a[DTYPE_TEXT_MAX], b[DTYPE_TEXT_MAX];
    char origin[DIFFERING_ORIGIN_MAX]; /* for example "from src[0, 1], not src[1, 0]"; or empty */
};

/* Consecutive planes with equal numbers of differing elements. A plane has the last two dimensions
 * of the tensor; in a tensor of rank 2 it is a row. */
struct differing_run {
    uint32_t at[TENSOR_RANK_MAX]; /* coordinates of the first plane in the outer dimensions */
    uint32_t planes;
    uint64_t each; /* differing elements of each plane */
};

struct differing {
    const struct dtype *dtype;
    uint32_t rank;
    uint64_t count; /* differing elements */
    uint32_t low[TENSOR_RANK_MAX],
        high[TENSOR_RANK_MAX]; /* first and last coordinate of the region */
    bool fills_region;         /* every element of the region differs */

    /* The largest absolute difference. Differences with NaN do not count. */
    bool has_largest;
    uint32_t largest_at[TENSOR_RANK_MAX];
    double largest;
    double relative; /* floats: `largest` / |b's element|; 0 if b's element is 0 */
    uint64_t ulps;   /* floats: number of representable numbers from a to b */

    uint32_t leading; /* number of dimensions before those of a plane; 0: there are no planes */
    uint64_t planes, planes_differ;
    struct differing_run runs[DIFFERING_RUNS_MAX]; /* the first runs of planes that differ */
    uint32_t run_count;
    bool runs_cut; /* further planes differ, but are not in `runs` */

    uint32_t first_max; /* maximum number of elements in `first`, at most DIFFERING_FIRST_MAX */
    uint32_t first_count;
    struct differing_element first[DIFFERING_FIRST_MAX];

    uint64_t sample[DIFFERING_SAMPLE_MAX]; /* indices in C order of some differing elements */
    uint32_t sample_count;

    /* Private: the current plane. */
    uint32_t plane_at[TENSOR_RANK_MAX];
    uint64_t plane_count;
};

/** Makes *differing empty, for tensors like `a`; keeps the first `first_max` elements. */
void differing_init(struct differing *differing, const struct elements *a, uint32_t first_max);

/** Adds the element at `at`, which differs. Call it in C order. */
void differing_add(struct differing *differing, const struct elements *a, const struct elements *b,
                   const uint32_t *at);

/** Completes the counts after the last element. */
void differing_end(struct differing *differing);

enum { DIFFERING_TEXT_MAX = 512 };

/** Writes a coordinate: "[1, 0, 2]". Returns `out`. */
const char *differing_place(char out[DIFFERING_TEXT_MAX], uint32_t rank, const uint32_t *at);

/** Writes "95.8 % of 72 elements, in [0:4, 1]; the largest difference is 3 at [1, 0]". Returns
 * `out`. */
const char *differing_summary(const struct differing *differing, uint64_t elements,
                              char out[DIFFERING_TEXT_MAX]);

/** Writes the planes: "planes [0, :, :] 15, [1:4, :, :] 18 each". Empty: there are no planes.
 * Returns `out`. */
const char *differing_planes(const struct differing *differing, char out[DIFFERING_TEXT_MAX]);

/** Writes the members region, largest, planes and first into the open object. */
void differing_json(struct jsonw *w, const struct differing *differing);
