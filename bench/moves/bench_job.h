/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A case at one element size and one size of the destination, first as numbers only, then with the
 * addresses of source and destination. Strides and counts are in elements.
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
    uint32_t count;     /* coordinates written */
    uint32_t at;        /* the first of them in the destination */
    int64_t to;         /* the destination's stride */
    int64_t from;       /* the source's stride */
    int64_t first;      /* source coordinate of the first; below 0 in the padding */
    uint32_t step;      /* source coordinates from one to the next */
    uint32_t extent;    /* number of source coordinates */
    uint32_t inside_at; /* first one written that is not padding */
    uint32_t inside;    /* number of written coordinates that are not padding */
};

struct job {
    const struct bench_case *kind;
    uint32_t rank, elem;
    uint32_t shape[CASE_RANK];  /* of the source */
    uint32_t offset[CASE_RANK]; /* of the window, by source dimension */
    uint32_t size[CASE_RANK];
    uint32_t step[CASE_RANK];
    int64_t stride[CASE_RANK];
    uint8_t perm[CASE_RANK];
    struct axis axis[CASE_RANK]; /* by destination dimension */
    bool padded;                 /* some of what is written is padding */
    size_t src_bytes, dst_bytes; /* first to last byte, untouched bytes between them included */
    size_t moved_bytes;          /* written */
    const uint8_t *src;          /* set by memory_place() */
    uint8_t *dst;
};

void job_init(struct job *j, const struct bench_case *c, uint32_t elem, size_t wanted);

/*
 * The part that is not padding, as a copy between two strided arrays, in the order of the
 * destination; dimensions of 1 left out, neighbours folded where both sides allow it.
 */
struct box {
    uint32_t rank; /* at least 1 */
    size_t count[CASE_RANK];
    int64_t from[CASE_RANK], to[CASE_RANK];
    const uint8_t *src;
    uint8_t *dst;
};

void job_box(const struct job *j, struct box *b);

/*
 * The padding as boxes to clear, those of outer dimensions first and as wide as they can be, in the
 * job's own dimensions. Returns how many, up to 2 * CASE_RANK; src of each is null.
 */
int job_borders(const struct job *j, struct box *borders);

#ifdef __cplusplus
}
#endif

#endif
