/* SPDX-License-Identifier: BSD-3-Clause */
/* The peer `rows`: memcpy for each contiguous row, memset for the padding before and after it. */
#include <stdlib.h>
#include <string.h>

#include "bench/moves/bench_peer.h"

/* The dimensions from `inner` on are one contiguous row: `left` bytes of padding, `bytes` bytes of
 * data, and `right` bytes of padding. */
struct rows {
    struct job job;
    uint32_t inner;
    size_t left, bytes, right;
};

static const char *rows_open(void)
{
    return "libc";
}

/* Returns whether the dimensions from `from` on are contiguous in source and destination, without
 * padding. */
static bool one_piece(const struct job *j, uint32_t from)
{
    int64_t expected = 1;

    for (uint32_t i = j->rank; i-- > from;) {
        const struct axis *a = &j->axis[i];

        if (a->count == 1)
            continue;
        if (a->from * a->step != expected || a->to != expected)
            return false;
        if (i > from && a->inside != a->count)
            return false;
        expected *= a->count;
    }
    return true;
}

static void *rows_prepare(const struct job *job)
{
    uint32_t inner = 0;
    struct rows *r;
    size_t unit = job->elem;

    while (inner < job->rank && !one_piece(job, inner))
        inner++;
    if (inner == job->rank)
        return NULL;
    r = malloc(sizeof(*r));
    if (!r)
        return NULL;
    r->job = *job;
    r->inner = inner;
    for (uint32_t i = inner + 1; i < job->rank; i++)
        unit *= job->axis[i].count;
    const struct axis *a = &job->axis[inner];

    r->left = a->inside_at * unit;
    r->bytes = a->inside * unit;
    r->right = a->count * unit - r->left - r->bytes;
    return r;
}

static void row(const struct rows *r, const uint8_t *src, uint8_t *dst)
{
    if (r->left)
        memset(dst, 0, r->left);
    memcpy(dst + r->left, src, r->bytes);
    if (r->right)
        memset(dst + r->left + r->bytes, 0, r->right);
}

static void walk(const struct rows *r, uint32_t dim, const uint8_t *src, uint8_t *dst)
{
    const struct axis *a = &r->job.axis[dim];
    const int64_t from = a->from * a->step * r->job.elem, to = a->to * r->job.elem;

    for (uint32_t c = 0; c < a->count; c++) {
        const bool inside = src && c >= a->inside_at && c - a->inside_at < a->inside;
        const uint8_t *at = inside ? src + (int64_t)(c - a->inside_at) * from : NULL;

        if (dim + 1 < r->inner && dim + 1 < CASE_RANK)
            walk(r, dim + 1, at, dst + c * to);
        else if (inside)
            row(r, at, dst + c * to);
        else
            memset(dst + c * to, 0, r->left + r->bytes + r->right);
    }
}

static int rows_run(void *state)
{
    const struct rows *r = state;
    const struct job *j = &r->job;
    const uint8_t *src = j->src;
    uint8_t *dst = j->dst;

    for (uint32_t i = 0; i < j->rank; i++) {
        const struct axis *a = &j->axis[i];

        src += (a->first + (int64_t)a->inside_at * a->step) * a->from * j->elem;
        dst += (int64_t)a->at * a->to * j->elem;
    }
    if (r->inner == 0)
        row(r, src, dst);
    else
        walk(r, 0, src, dst);
    return 0;
}

const struct peer peer_rows = {"rows", rows_open, rows_prepare, rows_run, free};
