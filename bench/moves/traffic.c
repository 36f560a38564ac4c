/* SPDX-License-Identifier: BSD-3-Clause */
#include "bench/moves/traffic.h"

#include <stdlib.h>
#include <string.h>

#include "bench/moves/bench_job.h"

enum {
    LINE = 64,
    ENOUGH = 4 * 1024 * 1024 /* bytes; larger moves repeat the pattern */
};

/* The touched cache lines of the source or the destination. */
struct lines {
    uint8_t *touched;
    size_t count;
};

static void touch(struct lines *l, int64_t at, size_t bytes)
{
    for (size_t i = (size_t)at / LINE; i <= ((size_t)at + bytes - 1) / LINE; i++) {
        l->count += !l->touched[i];
        l->touched[i] = 1;
    }
}

/*
 * Adds all elements of a box on one side; elements of the innermost dimension are added together if
 * they are neighbours.
 */
static void touch_box(struct lines *l, const struct box *b, const int64_t *step, int64_t at,
                      uint32_t dim, size_t elem)
{
    if (dim == CASE_RANK || dim == b->rank) {
        touch(l, at, elem);
    } else if (dim + 1 == b->rank && step[dim] == 1) {
        touch(l, at, b->count[dim] * elem);
    } else {
        for (size_t i = 0; i < b->count[dim]; i++)
            touch_box(l, b, step, at + (int64_t)(i * elem) * step[dim], dim + 1, elem);
    }
}

double traffic_bound(const struct bench_case *c, uint32_t elem, size_t wanted, bool streamed)
{
    struct lines src = {0}, dst = {0};
    double bound = 0;
    struct job job;
    struct box box;

    job_init(&job, c, elem, wanted < ENOUGH ? wanted : ENOUGH);
    src.touched = calloc(job.src_bytes / LINE + 2, 1);
    dst.touched = calloc(job.dst_bytes / LINE + 2, 1);
    if (src.touched && dst.touched) {
        struct box borders[2 * CASE_RANK];
        int count;

        job.src = src.touched; /* job_box() computes addresses, but accesses no data */
        job.dst = dst.touched;
        job_box(&job, &box);
        count = job_borders(&job, borders);
        touch_box(&src, &box, box.from, box.src - job.src, 0, elem);
        touch_box(&dst, &box, box.to, box.dst - job.dst, 0, elem);
        for (int i = 0; i < count; i++)
            touch_box(&dst, &borders[i], borders[i].to, borders[i].dst - job.dst, 0, elem);
        bound = (double)(src.count + (streamed ? 1 : 2) * dst.count) * LINE /
                (3.0 * (double)job.moved_bytes);
    }
    free(src.touched);
    free(dst.touched);
    return bound;
}
