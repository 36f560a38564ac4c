/* SPDX-License-Identifier: BSD-3-Clause */
#include "tests/leaf/ground.h"

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

static int side_init(struct ground_side *side, size_t bytes, size_t page)
{
    struct rng rng = rng_for_case(bytes, 0);

    if (guard_mem_init(&side->flat, bytes) != 0 ||
        guard_mem_init(&side->pages, 2 * GROUND_PAGES * page) != 0 ||
        guard_mem_init(&side->table, GROUND_TABLE * sizeof(size_t)) != 0)
        return -1;
    rng_fill(&rng, side->flat.base, side->flat.bytes);
    rng_fill(&rng, side->pages.base, side->pages.bytes);
    for (size_t i = 1; i < 2 * GROUND_PAGES; i += 2)
        if (mprotect(side->pages.base + i * page, page, PROT_NONE) != 0)
            return -1;
    return 0;
}

/* A leaf must not write to the source. */
static int protect_source(const struct ground *g)
{
    for (size_t i = 0; i < 2 * GROUND_PAGES; i += 2)
        if (mprotect(g->src.pages.base + i * g->page, g->page, PROT_READ) != 0)
            return -1;
    return mprotect(g->src.flat.base, g->src.flat.bytes, PROT_READ);
}

int ground_init(struct ground *g)
{
    struct rng rng = rng_for_case(1, 1);
    size_t bytes;

    *g = (struct ground){.page = (size_t)sysconf(_SC_PAGESIZE)};
    if (side_init(&g->src, GROUND_SRC_BYTES, g->page) != 0 ||
        side_init(&g->dst, GROUND_DST_BYTES, g->page) != 0 || protect_source(g) != 0)
        return -1;
    bytes = g->dst.flat.bytes > g->dst.pages.bytes ? g->dst.flat.bytes : g->dst.pages.bytes;
    g->noise = malloc(bytes);
    g->image = malloc(bytes);
    if (!g->noise || !g->image)
        return -1;
    rng_fill(&rng, g->noise, bytes);
    return 0;
}

static void side_finish(struct ground_side *side)
{
    guard_mem_finish(&side->flat);
    guard_mem_finish(&side->pages);
    guard_mem_finish(&side->table);
}

void ground_finish(struct ground *g)
{
    side_finish(&g->src);
    side_finish(&g->dst);
    free(g->noise);
    free(g->image);
}

static bool on_pages(enum place place)
{
    return place == PLACE_PAGES_LEFT || place == PLACE_PAGES_RIGHT;
}

/* Parts of a shape, each of which is placed on a page of its own. */
struct pieces {
    size_t count, bytes;
};

/* Returns number and size of the pieces. A piece is a row, or all rows of one inner loop. */
static struct pieces pieces_of(const struct layout *l, size_t count, size_t bytes, enum piece piece)
{
    if (piece != PIECE_LOOP || l->seed)
        return (struct pieces){count, bytes};
    return (struct pieces){count / l->inner, (l->inner - 1) * l->step + bytes};
}

/* Returns whether the pieces fit on separate pages. If they do not, changes the place to
 * contiguous memory. */
static bool fit_pages(const struct ground *g, enum place *place, struct pieces pieces)
{
    if (!on_pages(*place))
        return false;
    if (pieces.count <= GROUND_PAGES && pieces.bytes <= g->page)
        return true;
    *place = *place == PLACE_PAGES_LEFT ? PLACE_LEFT : PLACE_RIGHT;
    return false;
}

static void lay_on_pages(const struct ground *g, struct layout *l, enum piece piece)
{
    const size_t step = 2 * g->page;

    l->begin = l->slack = 0;
    if (piece != PIECE_LOOP || l->seed)
        l->step = step;
    l->outer_step = piece == PIECE_LOOP ? step : l->inner * step;
}

static void step_over_pages(const struct ground *g, struct site *site)
{
    struct shape *s = &site->shape;
    const struct layout *src = &s->src;
    const size_t src_count = shape_src_count(s);

    if (!shape_has_nest(s))
        site->dst_piece = site->src_piece = PIECE_ROW;
    if (fit_pages(g, &site->dst_place,
                  pieces_of(&s->dst, s->rows, shape_dst_piece(s), site->dst_piece)))
        lay_on_pages(g, &s->dst, site->dst_piece);
    if (s->kind == LEAF_GATHER && site->src_piece == PIECE_COL) {
        if (fit_pages(g, &site->src_place,
                      (struct pieces){s->cols, layout_span(src, src_count) + s->size}))
            s->gather_step = 2 * g->page;
    } else if (fit_pages(g, &site->src_place,
                         pieces_of(src, src_count, shape_src_piece(s), site->src_piece))) {
        lay_on_pages(g, &s->src, site->src_piece);
    }
}

static void fill_table(const struct ground_side *side, struct layout *l, size_t count)
{
    size_t *table = (void *)guard_mem_right(&side->table, count * sizeof(*table));

    l->table = NULL;
    layout_fill(l, table, count);
    l->table = table;
}

/*
 * Returns the address of the first byte, or null if the layout does not fit. With
 * PLACE_PAGES_RIGHT, the last piece ends at the end of its page.
 */
static uint8_t *locate(const struct ground *g, const struct ground_side *side, enum place place,
                       size_t extent, size_t slide)
{
    const size_t on_last_page = (extent - 1) % (2 * g->page) + 1;

    if (place == PLACE_PAGES_LEFT)
        return side->pages.base;
    if (place == PLACE_PAGES_RIGHT)
        return side->pages.base + g->page - on_last_page;
    if (extent + 2 * GROUND_MARGIN + slide > side->flat.bytes)
        return NULL;
    if (place == PLACE_RIGHT)
        return guard_mem_right(&side->flat, extent);
    return side->flat.base + (place == PLACE_SLID ? GROUND_MARGIN + slide : 0);
}

bool ground_place(const struct ground *g, struct site *site)
{
    step_over_pages(g, site);
    if (site->shape.kind == LEAF_TRANSPOSE_AT) {
        fill_table(&g->dst, &site->shape.dst, site->shape.rows);
        fill_table(&g->src, &site->shape.src, site->shape.cols);
    }
    site->dst =
        locate(g, &g->dst, site->dst_place, shape_dst_extent(&site->shape), site->dst_slide);
    site->src = NULL;
    if (site->shape.kind != LEAF_FILL)
        site->src =
            locate(g, &g->src, site->src_place, shape_src_extent(&site->shape), site->src_slide);
    return site->dst && (site->src || site->shape.kind == LEAF_FILL);
}

/*
 * Iterates over the pieces of the destination. A piece is `at` .. `at + bytes` of its memory.
 */
struct watch {
    const struct guard_mem *mem;
    size_t at, bytes, step, count;
};

static struct watch watch_of(const struct ground *g, const struct site *site)
{
    const struct shape *s = &site->shape;
    struct watch w = {&g->dst.flat, 0, 0, 0, 1};
    size_t end;

    if (on_pages(site->dst_place)) {
        const struct pieces p = pieces_of(&s->dst, s->rows, shape_dst_piece(s), site->dst_piece);

        w = (struct watch){&g->dst.pages, 0, 0, 2 * g->page, p.count};
        w.bytes = p.bytes + GROUND_MARGIN;
        if (w.bytes > g->page)
            w.bytes = g->page;
        if (site->dst_place == PLACE_PAGES_RIGHT)
            w.at = g->page - w.bytes;
        return w;
    }
    w.at = (size_t)(site->dst - w.mem->base);
    end = w.at + shape_dst_extent(s);
    w.at -= w.at < GROUND_MARGIN ? w.at : GROUND_MARGIN;
    end += w.mem->bytes - end < GROUND_MARGIN ? w.mem->bytes - end : GROUND_MARGIN;
    w.bytes = end - w.at;
    return w;
}

void ground_prepare(const struct ground *g, const struct site *site)
{
    const struct watch w = watch_of(g, site);

    for (size_t i = 0, at = w.at; i < w.count; i++, at += w.step) {
        memcpy(w.mem->base + at, g->noise + at, w.bytes);
        memcpy(g->image + at, g->noise + at, w.bytes);
    }
    shape_reference(&site->shape, g->image + (site->dst - w.mem->base), site->src);
}

bool ground_holds(const struct ground *g, const struct site *site, ptrdiff_t *first)
{
    const struct watch w = watch_of(g, site);

    for (size_t i = 0, at = w.at; i < w.count; i++, at += w.step) {
        if (memcmp(w.mem->base + at, g->image + at, w.bytes) == 0)
            continue;
        while (w.mem->base[at] == g->image[at])
            at++;
        *first = w.mem->base + at - site->dst;
        return false;
    }
    return true;
}
