/* SPDX-License-Identifier: BSD-3-Clause */
#include "libmli/src/dma/dma.h"

#include "libmli/src/plan.h"

enum {
    LINE = 64,        /* bytes of a cache line */
    RUN = -1,         /* seam.index if the runs are cut instead of a loop */
    UNEVEN = 1024,    /* unevenness() returns multiples of 1 / UNEVEN */
    EVEN_ENOUGH = 16, /* the largest part may exceed its share by one 16th */
};

/*
 * A place to cut a box: loop `index`, with `count` iterations that move the destination by `step`
 * each.
 */
struct seam {
    int index;
    size_t count, step;
};

static struct seam seam_at(const struct mli_copy_box *box, int index)
{
    if (index == RUN)
        return (struct seam){RUN, box->run, 1};
    return (struct seam){index, box->loop[index].count, box->loop[index].dst_step};
}

/*
 * Returns the first iteration of part number `part`. Parts begin with a new cache line of the
 * destination, so that two parts do not write to one line.
 */
static size_t cut_before(const struct mli_copy_box *box, const struct seam *seam, size_t part,
                         size_t parts)
{
    const size_t at = (size_t)((uint64_t)seam->count * part / parts);
    size_t into_line, cut;

    if (seam->step >= LINE || at == 0 || at == seam->count)
        return at;
    into_line = ((uintptr_t)box->dst + at * seam->step) % LINE;
    if (into_line == 0)
        return at;
    cut = at + (LINE - into_line + seam->step - 1) / seam->step;
    return cut < seam->count ? cut : seam->count;
}

/* Returns the number of iterations in the largest part. */
static size_t largest_part(const struct mli_copy_box *box, const struct seam *seam, size_t parts)
{
    size_t largest = 0, begin = 0;

    for (size_t part = 1; part <= parts; part++) {
        const size_t end = cut_before(box, seam, part, parts);

        if (largest < end - begin)
            largest = end - begin;
        begin = end;
    }
    return largest;
}

/* Returns the share of the largest part, as a multiple of 1 / UNEVEN. */
static uint64_t unevenness(const struct mli_copy_box *box, const struct seam *seam, size_t parts)
{
    return (uint64_t)largest_part(box, seam, parts) * UNEVEN / seam->count;
}

/*
 * Chooses the loop to cut into parts: the outermost loop that gives parts of about equal size, or
 * else the loop with the most equal parts. Does not cut rows into less than a cache line.
 */
static struct seam find_seam(const struct mli_copy_box *box, size_t parts)
{
    struct seam best = seam_at(box, box->loops ? 0 : RUN);
    const int last = (int)box->loops - (box->run < parts * LINE);

    for (int i = 0; i <= last; i++) {
        const struct seam seam = seam_at(box, i < (int)box->loops ? i : RUN);

        if (unevenness(box, &seam, parts) < unevenness(box, &best, parts))
            best = seam;
        if (unevenness(box, &best, parts) * parts <= UNEVEN + UNEVEN / EVEN_ENOUGH)
            break;
    }
    return best;
}

/* Returns the part of the box with iterations [begin, end) of the loop that is cut. */
static struct mli_copy_box cut(const struct mli_copy_box *box, const struct seam *seam,
                               size_t begin, size_t end)
{
    struct mli_copy_box piece = *box;
    const size_t src_step = seam->index == RUN ? 1 : box->loop[seam->index].src_step;

    piece.dst += begin * seam->step;
    if (piece.src)
        piece.src += begin * src_step;
    if (seam->index == RUN)
        piece.run = end - begin;
    else
        piece.loop[seam->index].count = end - begin;
    return piece;
}

static struct mli_plan *lightest(struct mli_plan *const out[], size_t parts)
{
    struct mli_plan *least = out[0];

    for (size_t i = 1; i < parts; i++) {
        if (out[i]->bytes < least->bytes)
            least = out[i];
    }
    return least;
}

/*
 * Distributes a box over the parts. A small box goes to one part: cutting it costs more than it
 * gains.
 */
static void deal(struct mli_copy_box *box, size_t whole, size_t parts, struct mli_plan *const out[])
{
    struct seam seam;

    if ((uint64_t)box_bytes(box) * EVEN_ENOUGH * parts < whole) {
        plan_add_box(lightest(out, parts), box);
        return;
    }
    seam = find_seam(box, parts);
    for (size_t i = 0; i < parts; i++) {
        const size_t begin = cut_before(box, &seam, i, parts);
        const size_t end = cut_before(box, &seam, i + 1, parts);
        struct mli_copy_box piece = cut(box, &seam, begin, end);

        if (begin < end)
            plan_add_box(out[i], &piece);
    }
}

size_t split_plan(const struct mli_plan *plan, size_t parts, struct mli_plan *const out[])
{
    struct mli_copy_box box = plan->box;
    size_t used = 0;

    for (size_t i = 0; i < parts; i++)
        plan_clear(out[i]);
    if (box.run > 0)
        deal(&box, plan->bytes, parts, out);
    for (size_t i = 0; i < plan->slabs; i++) {
        box = slab_box(&plan->slab[i]);
        deal(&box, plan->bytes, parts, out);
    }
    for (size_t i = 0; i < parts; i++) {
        if (out[i]->bytes == 0)
            continue;
        if (used < i)
            plan_copy(out[used], out[i]);
        used++;
    }
    return used;
}

size_t split_among(const struct mli_plan *plan, size_t channels, size_t tiny,
                   struct mli_plan *const out[])
{
    const size_t worth = tiny < plan->bytes ? plan->bytes / (tiny + 1) : 1;
    const size_t parts = worth < channels ? worth : channels;

    if (parts > 1)
        return split_plan(plan, parts, out);
    plan_copy(out[0], plan);
    return 1;
}
