/* SPDX-License-Identifier: BSD-3-Clause */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bench/moves/bench_clock.h"
#include "bench/moves/evict.h"
#include "bench/moves/lines.h"

/*
 * Accesses the cache lines of a placed job in some order. A tile is a part of the destination,
 * with the bytes of the source that it needs. Padding is written and has no source.
 */

/* An order in which tiles are moved. */
struct lines_way {
    uint32_t dst_bytes; /* bytes of a tile that are contiguous in the destination */
    uint32_t src_bytes; /* bytes of a tile that are contiguous in the source */
    uint32_t places;    /* tiles are taken in turns from so many parts of the move */
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

enum { LINES_FORMS = 81 /* at most three forms in each dimension */ };

struct lines_tiles {
    struct lines_tile *at;
    size_t count;
    struct lines_form form[LINES_FORMS];
    uint32_t forms;
};

/* The extents of a tile, and the order of its elements, by dimension of the destination. */
struct lines_shape {
    uint32_t extent[CASE_RANK]; /* extent of a tile in each dimension */
    uint32_t dim[CASE_RANK];    /* order of the dimensions, the outermost first */
};

enum { LINES_TILES_LINE = 64 };

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

static struct lines_shape lines_shape(const struct job *j, const struct lines_way *way)
{
    struct lines_shape shape = {{1, 1, 1, 1}, {0}};

    sort_dims(j, false, shape.dim);
    grow(j, shape.dim, way->dst_bytes, shape.extent);
    sort_dims(j, true, shape.dim);
    grow(j, shape.dim, way->src_bytes, shape.extent);
    sort_dims(j, way->by_source, shape.dim);
    return shape;
}

/* Writes the spans that a form loads or stores. If `at` is null, only counts them. */
struct spans {
    struct lines_span *at;
    uint32_t count;
    int64_t end;
};

/* A gap of less than a line after the last span contains no whole line. */
static void add_span(struct spans *s, int64_t at, uint32_t bytes)
{
    if (s->count == 0 || at - s->end >= LINES_TILES_LINE || at < s->end - LINES_TILES_LINE) {
        if (s->at)
            s->at[s->count] = (struct lines_span){(int32_t)at, bytes};
        s->count++;
    } else if (s->at) {
        struct lines_span *last = &s->at[s->count - 1];

        last->bytes = (uint32_t)(at + bytes - last->at);
    }
    s->end = at + bytes;
}

/* The source or the destination of a tile: counts and steps (in bytes) of its dimensions, the
 * largest step first. */
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

/* Returns the number of the form *like. Adds the form if it is new; returns -1 if this fails. */
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

/* Returns the number of the i-th tile to access, if `count` tiles are taken in turns from `places`
 * parts. */
static size_t in_turns(size_t i, size_t count, size_t places)
{
    const size_t rounds = count / places;

    return i < rounds * places ? i % places * rounds + i / places : i;
}

static void lines_tiles_finish(struct lines_tiles *t)
{
    for (uint32_t i = 0; i < t->forms; i++)
        free(t->form[i].loads);
    free(t->at);
    memset(t, 0, sizeof(*t));
}

/*
 * Makes the tiles. Returns 0, or -1 if there is no memory or a tile exceeds the range of its spans.
 */
static int lines_tiles_init(struct lines_tiles *t, const struct job *j, const struct lines_way *way)
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

#if defined(__x86_64__)
#include <immintrin.h>
#endif

enum { LINES_LINE = 64, RUNS = 3 /* runs of each order that is tried */, TURNS = 8 };

/* A run that is shorter than this cannot be measured alone. */
#define SHORT_NS 100000.0

struct lines {
    struct lines_tiles tiles;
    struct lines_way way;
};

static struct lines_way chosen = {LINES_LINE, LINES_LINE, 1, false, false, false};

#if defined(__x86_64__)

static const char *lines_open(void)
{
    return __builtin_cpu_supports("avx512f") ? "AVX-512" : NULL;
}

/* Returns the first line of a span that is read. */
static inline uintptr_t line_of(const uint8_t *p)
{
    return (uintptr_t)p & ~(uintptr_t)(LINES_LINE - 1);
}

/* Returns the first line that begins in a written span, so that each line is written once, even if
 * several tiles share it. */
static inline uintptr_t line_from(const uint8_t *p)
{
    return line_of(p + LINES_LINE - 1);
}

__attribute__((target("prfchw"))) static void fetch(const struct lines_tile *tile,
                                                    const struct lines_form *form, bool streamed)
{
    for (uint32_t i = 0; i < form->load_count; i++) {
        const uint8_t *at = tile->src + form->loads[i].at;

        for (uintptr_t p = line_of(at); p < (uintptr_t)at + form->loads[i].bytes; p += LINES_LINE)
            __builtin_prefetch((const void *)p, 0);
    }
    for (uint32_t i = 0; !streamed && i < form->store_count; i++) {
        const uint8_t *at = tile->dst + form->stores[i].at;

        for (uintptr_t p = line_from(at); p < (uintptr_t)at + form->stores[i].bytes;
             p += LINES_LINE)
            __builtin_prefetch((const void *)p, 1);
    }
}

__attribute__((target("avx512f"))) static void load(const struct lines_tile *tile,
                                                    const struct lines_form *form)
{
    for (uint32_t i = 0; i < form->load_count; i++) {
        const uint8_t *at = tile->src + form->loads[i].at;

        for (uintptr_t p = line_of(at); p < (uintptr_t)at + form->loads[i].bytes; p += LINES_LINE) {
            const __m512i line = _mm512_load_si512((const void *)p);

            __asm__ volatile("" ::"v"(line));
        }
    }
}

__attribute__((target("avx512f"))) static void store(const struct lines_tile *tile,
                                                     const struct lines_form *form, bool streamed)
{
    const __m512i line = _mm512_set1_epi8(0x5A);

    for (uint32_t i = 0; i < form->store_count; i++) {
        const uint8_t *at = tile->dst + form->stores[i].at;
        const uintptr_t end = (uintptr_t)at + form->stores[i].bytes;

        if (streamed) {
            for (uintptr_t p = line_from(at); p < end; p += LINES_LINE)
                _mm512_stream_si512((void *)p, line);
        } else {
            for (uintptr_t p = line_from(at); p < end; p += LINES_LINE)
                _mm512_store_si512((void *)p, line);
        }
    }
    __asm__ volatile("" ::: "memory");
}

static int lines_run(void *state)
{
    const struct lines *l = state;
    const struct lines_tiles *t = &l->tiles;

    for (size_t i = 0; i < t->count; i++) {
        const struct lines_tile *tile = &t->at[i];
        const struct lines_form *form = &t->form[tile->form];

        if (l->way.ahead && i + 1 < t->count)
            fetch(&tile[1], &t->form[tile[1].form], l->way.streamed);
        load(tile, form);
        store(tile, form, l->way.streamed);
    }
    if (l->way.streamed)
        _mm_sfence();
    return 0;
}

#else

static const char *lines_open(void)
{
    return NULL;
}

static int lines_run(void *state)
{
    (void)state;
    return -1;
}

#endif

static void *lines_prepare(const struct job *job)
{
    struct lines *l = malloc(sizeof(*l));

    if (l && lines_tiles_init(&l->tiles, job, &chosen)) {
        free(l);
        return NULL;
    }
    if (l)
        l->way = chosen;
    return l;
}

static void lines_release(void *state)
{
    struct lines *l = state;

    lines_tiles_finish(&l->tiles);
    free(l);
}

static double once(struct lines *l, const struct job *job, bool cold)
{
    size_t runs = 0;
    double begin, ns;

    if (cold) {
        evict(job->src, job->src_bytes);
        evict(job->dst, job->dst_bytes);
    }
    begin = clock_ns();
    do {
        lines_run(l);
        runs++;
        ns = clock_ns() - begin;
    } while (!cold && ns < SHORT_NS);
    return ns / (double)runs;
}

/* Stores of lines that are only partly written cannot bypass the caches. */
static bool can_stream(const struct job *job)
{
    for (uint32_t i = 1; i < job->rank; i++) {
        if (job->axis[i].at > 0 || job->kind->dst_more[i] > 0)
            return false;
    }
    return true;
}

/* Chooses the order if it is faster than all orders before. */
static void try(const struct job *job, bool cold, const struct lines_way *way, double *best_ns,
                struct lines_way *best)
{
    struct lines *l;
    double ns = 0;

    chosen = *way;
    l = lines_prepare(job);
    for (int i = 0; l && i < (cold ? 1 : RUNS); i++) {
        const double sample = once(l, job, cold);

        ns = i == 0 || sample < ns ? sample : ns;
    }
    if (l && (*best_ns == 0 || ns < *best_ns)) {
        *best_ns = ns;
        *best = *way;
    }
    if (l)
        lines_release(l);
    chosen = *best;
}

enum { SHAPES = 32 };

/* Records the order; returns false if it was recorded before. */
static bool is_new(struct lines_shape *shapes, int *count, const struct lines_shape *shape)
{
    for (int i = 0; i < *count; i++) {
        if (memcmp(&shapes[i], shape, sizeof(*shape)) == 0)
            return false;
    }
    shapes[(*count)++] = *shape;
    return true;
}

void lines_choose(const struct job *job, bool cold)
{
    static const uint32_t dst_bytes[] = {64, 256, 1024, 4096}, src_bytes[] = {1, 64, 256, 1024};
    const bool stream = cold && can_stream(job);
    struct lines_way best = {LINES_LINE, LINES_LINE, 1, false, stream, false}, way;
    struct lines_shape shapes[SHAPES];
    int count = 0;
    double ns = 0;

    for (int i = 0; i < SHAPES; i++) {
        way = (struct lines_way){dst_bytes[i / 4 % 4], src_bytes[i % 4], 1, i / 16, stream, false};
        const struct lines_shape shape = lines_shape(job, &way);

        if (is_new(shapes, &count, &shape))
            try(job, cold, &way, &ns, &best);
    }
    way = best;
    way.places = TURNS;
    try(job, cold, &way, &ns, &best);
    way = best;
    way.ahead = true;
    try(job, cold, &way, &ns, &best);
    way = best;
    way.streamed = !way.streamed;
    if (can_stream(job))
        try(job, cold, &way, &ns, &best);
}

const char *lines_way_name(char name[LINES_WAY])
{
    snprintf(name, LINES_WAY, "%u x %u%s%s%s%s", chosen.dst_bytes, chosen.src_bytes,
             chosen.by_source ? ", by source" : "", chosen.streamed ? ", streamed" : "",
             chosen.ahead ? ", ahead" : "", chosen.places > 1 ? ", in turns" : "");
    return name;
}

const struct peer lines_peer = {"lines", lines_open, lines_prepare, lines_run, lines_release};
