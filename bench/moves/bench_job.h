/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A job is a case with an element size and a size of the destination. job_init() computes its
 * numbers; memory_place() then sets the addresses. Strides and counts are in elements.
 */
#ifndef BENCH_JOB_H
#define BENCH_JOB_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "bench/moves/bench_cases.h"

#ifdef __cplusplus
extern "C" {
#endif

/* One dimension of the destination. */
struct axis {
    uint32_t count;     /* number of coordinates that the move writes */
    uint32_t at;        /* first coordinate that the move writes */
    int64_t to;         /* stride of the destination */
    int64_t from;       /* stride of the source */
    int64_t first;      /* source coordinate of coordinate `at`; negative in the padding */
    uint32_t step;      /* distance in the source between two neighbouring coordinates */
    uint32_t extent;    /* number of source coordinates */
    uint32_t inside_at; /* first written coordinate that is not padding */
    uint32_t inside;    /* number of written coordinates that are not padding */
};

struct job {
    const struct bench_case *kind;
    uint32_t rank, elem;
    uint32_t shape[CASE_RANK];  /* shape of the source */
    uint32_t offset[CASE_RANK]; /* first sample of the window, by source dimension */
    uint32_t size[CASE_RANK];
    uint32_t step[CASE_RANK];
    int64_t stride[CASE_RANK];
    uint8_t perm[CASE_RANK];
    struct axis axis[CASE_RANK]; /* the dimensions of the destination, in their order */
    bool padded;                 /* true: the move writes padding, too */
    size_t src_bytes, dst_bytes; /* bytes from the first to the last accessed byte, gaps included */
    size_t moved_bytes;          /* bytes that the move writes */
    const uint8_t *src;          /* set by memory_place() */
    uint8_t *dst;
};

void job_init(struct job *j, const struct bench_case *c, uint32_t elem, size_t wanted);

/*
 * Makes *box the part of the move that is not padding: a copy between two strided arrays, in the
 * order of the destination. Leaves out dimensions of extent 1, and merges neighbouring dimensions
 * that are contiguous on both sides.
 */
struct box {
    uint32_t rank; /* rank of the box, at least 1 */
    size_t count[CASE_RANK];
    int64_t from[CASE_RANK], to[CASE_RANK];
    const uint8_t *src;
    uint8_t *dst;
};

void job_box(const struct job *j, struct box *b);

/*
 * Divides the padding into boxes to clear, each as large as possible: the padding of outer
 * dimensions first. The boxes have the dimensions of the job. Returns the number of boxes, up to 2
 * * CASE_RANK; src of each box is null.
 */
int job_borders(const struct job *j, struct box *borders);

#ifdef __cplusplus
}
#endif

#endif
