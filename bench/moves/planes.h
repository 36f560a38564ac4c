/* SPDX-License-Identifier: BSD-3-Clause */
/* A box as matrices, for libraries that move matrices only. */
#ifndef BENCH_PLANES_H
#define BENCH_PLANES_H

#include "bench/moves/bench_job.h"

#ifdef __cplusplus
extern "C" {
#endif

/*
 * Every plane is a matrix of `rows` x `columns` elements, whose rows are contiguous in the
 * destination. In the source, its rows are also contiguous, or, if it is transposed, its columns.
 * The others, rows or columns, are `from` elements apart in the source.
 */
struct planes {
    bool transposed;
    uint32_t elem;
    size_t rows, columns;
    int64_t from, to; /* distances of rows or columns, in elements */
    size_t outer[2];  /* number of planes */
    int64_t outer_from[2], outer_to[2];
    const uint8_t *src;
    uint8_t *dst;
    struct box borders[2 * CASE_RANK];
    int border_count;
};

/*
 * Converts a box. Returns false if the box cannot be divided into planes, because the elements are
 * not contiguous in the source or in the destination.
 */
bool planes_init(struct planes *p, const struct job *j);

/* Fills the padding of the job with zeros. */
void planes_clear(const struct planes *p);

/* Return the source and the destination of plane number (i, k). */
static inline const uint8_t *planes_src(const struct planes *p, size_t i, size_t k)
{
    return p->src +
           ((int64_t)i * p->outer_from[0] + (int64_t)k * p->outer_from[1]) * (int64_t)p->elem;
}

static inline uint8_t *planes_dst(const struct planes *p, size_t i, size_t k)
{
    return p->dst + ((int64_t)i * p->outer_to[0] + (int64_t)k * p->outer_to[1]) * (int64_t)p->elem;
}

/* Fills the elements of the boxes with zeros. */
void boxes_clear(const struct box *boxes, int count, uint32_t elem);

#ifdef __cplusplus
}
#endif

#endif
