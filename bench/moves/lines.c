/* SPDX-License-Identifier: BSD-3-Clause */
#include "bench/moves/lines.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bench/moves/bench_clock.h"
#include "bench/moves/evict.h"
#include "bench/moves/lines_tiles.h"

#if defined(__x86_64__)
#include <immintrin.h>
#endif

enum { LINE = 64, RUNS = 3 /* runs of each order that is tried */, TURNS = 8 };

/* Shorter single runs take too little time to be measured. */
#define SHORT_NS 100000.0

struct lines {
    struct lines_tiles tiles;
    struct lines_way way;
};

static struct lines_way chosen = {LINE, LINE, 1, false, false, false};

#if defined(__x86_64__)

static const char *lines_open(void)
{
    return __builtin_cpu_supports("avx512f") ? "AVX-512" : NULL;
}

/* Returns the first line of a span that is read. */
static inline uintptr_t line_of(const uint8_t *p)
{
    return (uintptr_t)p & ~(uintptr_t)(LINE - 1);
}

/* Returns the first line that begins in a written span, so that each line is written once, even if
 * several tiles share it. */
static inline uintptr_t line_from(const uint8_t *p)
{
    return line_of(p + LINE - 1);
}

__attribute__((target("prfchw"))) static void fetch(const struct lines_tile *tile,
                                                    const struct lines_form *form, bool streamed)
{
    for (uint32_t i = 0; i < form->load_count; i++) {
        const uint8_t *at = tile->src + form->loads[i].at;

        for (uintptr_t p = line_of(at); p < (uintptr_t)at + form->loads[i].bytes; p += LINE)
            __builtin_prefetch((const void *)p, 0);
    }
    for (uint32_t i = 0; !streamed && i < form->store_count; i++) {
        const uint8_t *at = tile->dst + form->stores[i].at;

        for (uintptr_t p = line_from(at); p < (uintptr_t)at + form->stores[i].bytes; p += LINE)
            __builtin_prefetch((const void *)p, 1);
    }
}

__attribute__((target("avx512f"))) static void load(const struct lines_tile *tile,
                                                    const struct lines_form *form)
{
    for (uint32_t i = 0; i < form->load_count; i++) {
        const uint8_t *at = tile->src + form->loads[i].at;

        for (uintptr_t p = line_of(at); p < (uintptr_t)at + form->loads[i].bytes; p += LINE) {
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
            for (uintptr_t p = line_from(at); p < end; p += LINE)
                _mm512_stream_si512((void *)p, line);
        } else {
            for (uintptr_t p = line_from(at); p < end; p += LINE)
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
    struct lines_way best = {LINE, LINE, 1, false, stream, false}, way;
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
