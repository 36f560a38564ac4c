/* SPDX-License-Identifier: BSD-3-Clause */
#include "bench/moves/bench_job.h"

#include <string.h>

static uint32_t or_one(uint32_t n)
{
    return n ? n : 1;
}

static uint32_t padded(const struct bench_case *c, uint32_t d, uint32_t shape)
{
    return shape + c->pre[d] + c->post[d];
}

/* Returns the number of samples that the move takes along dimension d. */
static uint32_t samples(const struct bench_case *c, uint32_t d, uint32_t shape)
{
    const uint32_t all = padded(c, d, shape), window = c->half[d] ? all / 2 : c->size[d],
                   step = or_one(c->step[d]);

    return ((window ? window : all) + step - 1) / step;
}

/* Returns the extent of dimension d from which the move takes this number of samples. */
static uint32_t grown(const struct bench_case *c, uint32_t d, uint64_t wanted)
{
    const uint64_t n = wanted ? wanted : 1;
    const uint64_t all = n * or_one(c->step[d]) * (c->half[d] ? 2 : 1);
    const uint64_t pads = (uint64_t)c->pre[d] + c->post[d];
    const uint64_t shape = all > pads ? all - pads : 1;

    return (uint32_t)(c->odd ? shape | 1 : shape);
}

static void set_shape(struct job *j, size_t wanted)
{
    const struct bench_case *c = j->kind;
    uint32_t grows = 0;
    uint64_t others = 1;

    for (uint32_t d = 0; d < j->rank; d++) {
        if (c->shape[d] == 0)
            grows = d;
        else
            others *= samples(c, d, c->shape[d]);
        j->shape[d] = c->shape[d];
    }
    j->shape[grows] = grown(c, grows, wanted / j->elem / others);
}

static void set_source(struct job *j)
{
    const struct bench_case *c = j->kind;
    int64_t pitch = 1;

    for (uint32_t d = j->rank; d-- > 0;) {
        const uint32_t all = padded(c, d, j->shape[d]);

        j->stride[d] = pitch;
        pitch *= j->shape[d] + c->more[d];
        j->step[d] = or_one(c->step[d]);
        j->size[d] = c->half[d] ? all / 2 : c->size[d];
        j->offset[d] = c->half[d] ? all / 4 : 0;
        j->src_bytes += (size_t)((j->shape[d] - 1) * j->stride[d]);
        j->perm[d] = (uint8_t)d;
    }
    if (c->perm[0] || c->perm[1])
        memcpy(j->perm, c->perm, sizeof(j->perm));
    j->src_bytes = (j->src_bytes + 1) * j->elem;
}

static void set_axis(struct job *j, uint32_t i)
{
    struct axis *a = &j->axis[i];
    const struct bench_case *c = j->kind;
    const uint32_t d = j->perm[i];

    a->count = samples(c, d, j->shape[d]);
    a->at = c->dst_at[i];
    a->from = j->stride[d];
    a->step = j->step[d];
    a->extent = j->shape[d];
    a->first = (int64_t)j->offset[d] - c->pre[d];
    a->inside_at = a->first < 0 ? (uint32_t)((-a->first + a->step - 1) / a->step) : 0;
    const uint32_t end = (uint32_t)((a->extent - 1 - a->first) / a->step) + 1;

    a->inside = (end < a->count ? end : a->count) - a->inside_at;
    j->padded = j->padded || a->inside < a->count;
}

void job_init(struct job *j, const struct bench_case *c, uint32_t elem, size_t wanted)
{
    int64_t pitch = 1;

    memset(j, 0, sizeof(*j));
    j->kind = c;
    j->rank = c->rank;
    j->elem = elem;
    j->moved_bytes = elem;
    set_shape(j, wanted);
    set_source(j);
    for (uint32_t i = j->rank; i-- > 0;) {
        struct axis *a = &j->axis[i];

        set_axis(j, i);
        a->to = pitch;
        pitch *= (int64_t)a->at + a->count + c->dst_more[i];
        j->dst_bytes += (size_t)((a->at + a->count - 1) * a->to);
        j->moved_bytes *= a->count;
    }
    j->dst_bytes = (j->dst_bytes + 1) * elem;
}

static void box_fold(struct box *b)
{
    uint32_t n = 0;

    for (uint32_t i = 0; i < b->rank; i++) {
        const bool fits = n > 0 && b->from[n - 1] == b->from[i] * (int64_t)b->count[i] &&
                          b->to[n - 1] == b->to[i] * (int64_t)b->count[i];

        if (b->count[i] == 1)
            continue;
        n = fits ? n : n + 1;
        b->count[n - 1] = (fits ? b->count[n - 1] : 1) * b->count[i];
        b->from[n - 1] = b->from[i];
        b->to[n - 1] = b->to[i];
    }
    if (n == 0) {
        b->from[0] = b->to[0] = 1;
        n = 1;
    }
    b->rank = n;
}

void job_box(const struct job *j, struct box *b)
{
    b->rank = j->rank;
    b->src = j->src;
    b->dst = j->dst;
    for (uint32_t i = 0; i < j->rank; i++) {
        const struct axis *a = &j->axis[i];

        b->count[i] = a->inside;
        b->from[i] = a->from * a->step;
        b->to[i] = a->to;
        b->src += (a->first + (int64_t)a->inside_at * a->step) * a->from * j->elem;
        b->dst += (int64_t)(a->at + a->inside_at) * a->to * j->elem;
    }
    box_fold(b);
}

static void add_border(const struct job *j, struct box *b, uint32_t dim, uint32_t at, uint32_t n)
{
    memset(b, 0, sizeof(*b));
    b->rank = j->rank;
    b->dst = j->dst;
    for (uint32_t i = 0; i < j->rank; i++) {
        const struct axis *a = &j->axis[i];
        const uint32_t first = i == dim ? at : i < dim ? a->inside_at : 0;

        b->count[i] = i == dim ? n : i < dim ? a->inside : a->count;
        b->to[i] = a->to;
        b->dst += (int64_t)(a->at + first) * a->to * j->elem;
    }
}

int job_borders(const struct job *j, struct box *borders)
{
    int n = 0;

    for (uint32_t i = 0; i < j->rank; i++) {
        const struct axis *a = &j->axis[i];
        const uint32_t end = a->inside_at + a->inside;

        if (a->inside_at > 0)
            add_border(j, &borders[n++], i, 0, a->inside_at);
        if (end < a->count)
            add_border(j, &borders[n++], i, end, a->count - end);
    }
    return n;
}
