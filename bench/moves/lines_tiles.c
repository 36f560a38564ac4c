/* SPDX-License-Identifier: BSD-3-Clause */
#include "bench/moves/lines_tiles.h"

#include <stdlib.h>
#include <string.h>

enum { LINE = 64 };

/* The dimensions of the destination, those with the largest steps first. */
static void sort_dims(const struct job *j, bool by_source, uint32_t dims[CASE_RANK])
{
    for (uint32_t i = 0; i < j->rank; i++) {
        uint32_t at = i;

        for (; by_source && at > 0; at--) {
            const struct axis *a = &j->axis[i], *before = &j->axis[dims[at - 1]];

            if (before->from * before->step >= a->from * a->step)
                break;
            dims[at] = dims[at - 1];
        }
        dims[at] = i;
    }
}

/* Enlarges a tile in these dimensions, the last dimension first, until it has the wanted bytes. */
static void grow(const struct job *j, const uint32_t dims[CASE_RANK], size_t wanted,
                 uint32_t extent[CASE_RANK])
{
    size_t bytes = j->elem;

    for (uint32_t i = j->rank; i-- > 0 && bytes < wanted;) {
        const size_t need = (wanted + bytes - 1) / bytes, all = j->axis[dims[i]].count;
        const uint32_t some = (uint32_t)(need < all ? need : all);

        extent[dims[i]] = some > extent[dims[i]] ? some : extent[dims[i]];
        bytes *= some;
    }
}

struct lines_shape lines_shape(const struct job *j, const struct lines_way *way)
{
    struct lines_shape shape = {{1, 1, 1, 1}, {0}};

    sort_dims(j, false, shape.dim);
    grow(j, shape.dim, way->dst_bytes, shape.extent);
    sort_dims(j, true, shape.dim);
    grow(j, shape.dim, way->src_bytes, shape.extent);
    sort_dims(j, way->by_source, shape.dim);
    return shape;
}

/* Writes the spans of one side of a form. With a null array, only counts them. */
struct spans {
    struct lines_span *at;
    uint32_t count;
    int64_t end;
};

/* A gap of less than a line after the last span contains no whole line. */
static void add_span(struct spans *s, int64_t at, uint32_t bytes)
{
    if (s->count == 0 || at - s->end >= LINE || at < s->end - LINE) {
        if (s->at)
            s->at[s->count] = (struct lines_span){(int32_t)at, bytes};
        s->count++;
    } else if (s->at) {
        struct lines_span *last = &s->at[s->count - 1];

        last->bytes = (uint32_t)(at + bytes - last->at);
    }
    s->end = at + bytes;
}

/* A side of a tile: its counts and steps in bytes, those with the largest steps first. */
struct side {
    uint32_t rank, elem;
    uint32_t count[CASE_RANK];
    int64_t step[CASE_RANK];
};

static void add_spans(struct spans *s, const struct side *side, uint32_t dim, int64_t at)
{
    if (dim == CASE_RANK || dim == side->rank) {
        add_span(s, at, side->elem);
        return;
    }
    for (uint32_t i = 0; i < side->count[dim]; i++)
        add_spans(s, side, dim + 1, at + i * side->step[dim]);
}

static void sides(const struct job *j, const struct lines_form *form, struct side *src,
                  struct side *dst)
{
    uint32_t dims[CASE_RANK];

    sort_dims(j, true, dims);
    src->rank = dst->rank = j->rank;
    src->elem = dst->elem = j->elem;
    for (uint32_t i = 0; i < j->rank; i++) {
        const struct axis *a = &j->axis[dims[i]];

        src->count[i] = form->inside[dims[i]];
        src->step[i] = a->from * a->step * j->elem;
        dst->count[i] = form->count[i];
        dst->step[i] = j->axis[i].to * j->elem;
    }
}

static int64_t reach(const struct side *side)
{
    int64_t last = 0;

    for (uint32_t i = 0; i < side->rank; i++)
        last += side->count[i] * side->step[i];
    return last;
}

static int fill_form(const struct job *j, struct lines_form *form)
{
    struct side src, dst;
    struct spans loads = {0}, stores = {0};

    sides(j, form, &src, &dst);
    if (reach(&src) > INT32_MAX || reach(&dst) > INT32_MAX)
        return -1;
    add_spans(&loads, &src, 0, 0);
    add_spans(&stores, &dst, 0, 0);
    form->load_count = loads.count;
    form->store_count = stores.count;
    form->loads = calloc(loads.count + stores.count + 1, sizeof(*form->loads));
    if (!form->loads)
        return -1;
    form->stores = form->loads + loads.count;
    loads = (struct spans){form->loads, 0, 0};
    stores = (struct spans){form->stores, 0, 0};
    add_spans(&loads, &src, 0, 0);
    add_spans(&stores, &dst, 0, 0);
    return 0;
}

/* Returns the number of the form, or -1 on failure. */
static int find_form(struct lines_tiles *t, const struct job *j, const struct lines_form *like)
{
    for (uint32_t i = 0; i < t->forms; i++) {
        const struct lines_form *f = &t->form[i];

        if (memcmp(f->count, like->count, sizeof(f->count)) == 0 &&
            memcmp(f->inside_at, like->inside_at, sizeof(f->inside_at)) == 0 &&
            memcmp(f->inside, like->inside, sizeof(f->inside)) == 0)
            return (int)i;
    }
    if (t->forms == LINES_FORMS)
        return -1;
    t->form[t->forms] = *like;
    if (fill_form(j, &t->form[t->forms]))
        return -1;
    return (int)t->forms++;
}

static uint32_t least(uint32_t a, uint32_t b)
{
    return a < b ? a : b;
}

/* Fills the tile that begins at these coordinates. */
static int add_tile(struct lines_tiles *t, const struct job *j, const uint32_t first[CASE_RANK],
                    const uint32_t extent[CASE_RANK], struct lines_tile *tile)
{
    struct lines_form form = {0};
    int number;

    tile->src = j->src;
    tile->dst = j->dst;
    for (uint32_t i = 0; i < j->rank; i++) {
        const struct axis *a = &j->axis[i];
        const uint32_t end = least(first[i] + extent[i], a->count),
                       from = first[i] > a->inside_at ? first[i] : a->inside_at,
                       until = least(end, a->inside_at + a->inside);

        form.count[i] = end - first[i];
        form.inside_at[i] = from - first[i];
        form.inside[i] = until > from ? until - from : 0;
        tile->dst += (int64_t)(a->at + first[i]) * a->to * j->elem;
        tile->src += (a->first + (int64_t)from * a->step) * a->from * j->elem;
    }
    number = find_form(t, j, &form);
    tile->form = (uint32_t)number;
    return number < 0 ? -1 : 0;
}

/* Returns the i-th tile in the order that takes `count` tiles from `places` in turns. */
static size_t in_turns(size_t i, size_t count, size_t places)
{
    const size_t rounds = count / places;

    return i < rounds * places ? i % places * rounds + i / places : i;
}

int lines_tiles_init(struct lines_tiles *t, const struct job *j, const struct lines_way *way)
{
    const struct lines_shape shape = lines_shape(j, way);
    const uint32_t *extent = shape.extent;
    uint32_t first[CASE_RANK] = {0};
    size_t count = 1;

    memset(t, 0, sizeof(*t));
    for (uint32_t i = 0; i < j->rank; i++)
        count *= (j->axis[i].count + extent[i] - 1) / extent[i];
    t->at = calloc(count, sizeof(*t->at));
    if (!t->at)
        return -1;
    t->count = count;
    for (size_t i = 0; i < count; i++) {
        size_t rest = in_turns(i, count, way->places);

        for (uint32_t d = j->rank; d-- > 0;) {
            const uint32_t dim = shape.dim[d],
                           n = (j->axis[dim].count + extent[dim] - 1) / extent[dim];

            first[dim] = (uint32_t)(rest % n) * extent[dim];
            rest /= n;
        }
        if (add_tile(t, j, first, extent, &t->at[i])) {
            lines_tiles_finish(t);
            return -1;
        }
    }
    return 0;
}

void lines_tiles_finish(struct lines_tiles *t)
{
    for (uint32_t i = 0; i < t->forms; i++)
        free(t->form[i].loads);
    free(t->at);
    memset(t, 0, sizeof(*t));
}
