/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The legaliser cuts plans into descriptors that a channel can express (split.h has an overview of
 * all cutters). A piece takes take[i] iterations of loop i, and take[MLI_MAX_RANK] bytes of the
 * run. These numbers form a grid over the box. Pieces are visited with the coordinates in the grid
 * as the digits of a counter.
 */
#include "libmli/src/plan.h"
#include "mli_engine.h"

enum {
    RUN = MLI_MAX_RANK,
    SHARED = 256, /* contiguous source bytes that a piece of a transpose uses, if possible */
};

static size_t at_most(size_t value, size_t limit)
{
    return limit != 0 && value > limit ? limit : value;
}

static bool step_fits(const struct mli_copy_loop *loop, size_t step_max)
{
    return step_max == 0 || (loop->src_step <= step_max && loop->dst_step <= step_max);
}

/*
 * If the source of a box continues along a loop that is not the innermost one, as in a transpose,
 * every run reads a cache line of its own. A block therefore also takes some iterations of that
 * loop (the shared loop), so that it uses the whole lines it reads. Returns the index of the shared
 * loop, or the number of loops.
 */
static size_t find_shared(const struct mli_legaliser *l)
{
    const struct mli_copy_box *box = &l->box;
    size_t i = 0;

    if (!l->blocks || !box->src || box->run >= SHARED)
        return box->loops;
    while (i < box->loops && box->loop[i].src_step != box->run)
        i++;
    return i;
}

/*
 * Chooses the takes from the innermost loop outwards. A piece takes a loop whole as long as the
 * piece is legal and takes all loops inside it whole. It takes a part of the first loop that is too
 * large, and one iteration of each loop around that, except the shared loop. Returns the number of
 * pieces.
 */
static uint64_t choose_takes(struct mli_legaliser *l)
{
    const struct mli_channel_caps *caps = &l->caps;
    const struct mli_copy_box *box = &l->box;
    const size_t shared = find_shared(l);
    size_t bytes = at_most(at_most(box->run, caps->run_max), caps->bytes_max);
    size_t share = 1; /* divides caps->bytes_max among the loops inside the shared one */
    uint32_t loops = caps->loops;
    uint64_t pieces = (box->run - 1) / bytes + 1;
    bool whole = bytes == box->run;

    if (shared < box->loops && whole)
        share = at_most(box->loop[shared].count, SHARED / box->run);
    l->take[RUN] = bytes;
    for (size_t i = box->loops; i-- > 0;) {
        size_t count = at_most(box->loop[i].count, caps->count_max);

        if (i == shared)
            share = 1;
        if (caps->bytes_max && count > caps->bytes_max / share / bytes)
            count = caps->bytes_max / share / bytes;
        if (!(whole || i == shared) || loops == 0 || count < 2 ||
            !step_fits(&box->loop[i], caps->step_max))
            count = 1;
        whole = whole && count == box->loop[i].count;
        pieces *= (box->loop[i].count - 1) / count + 1;
        l->take[i] = count;
        bytes *= count;
        loops -= count > 1;
    }
    return pieces;
}

void mli_legalise_init(struct mli_legaliser *l, const struct mli_plan *plan,
                       const struct mli_channel_caps *caps)
{
    *l = (struct mli_legaliser){.plan = plan, .caps = *caps};
}

/* Sets *piece to the piece that begins at l->at. */
static void cut(const struct mli_legaliser *l, struct mli_descriptor *piece)
{
    const struct mli_copy_box *from = &l->box;
    struct mli_copy_box *to = &piece->box;
    size_t offset = l->at[RUN];

    *to = (struct mli_copy_box){.src = from->src, .dst = from->dst + offset};
    to->run = at_most(from->run - offset, l->take[RUN]);
    piece->index = l->index;
    piece->bytes = to->run;
    piece->row = 0;
    for (size_t i = 0; i < from->loops; i++) {
        struct mli_copy_loop loop = from->loop[i];

        to->dst += l->at[i] * loop.dst_step;
        offset += l->at[i] * loop.src_step;
        piece->row = piece->row * loop.count + l->at[i];
        loop.count = at_most(loop.count - l->at[i], l->take[i]);
        piece->bytes *= loop.count;
        if (loop.count > 1)
            to->loop[to->loops++] = loop;
    }
    if (to->src)
        to->src += offset;
}

/* Moves l->at to the next piece; false after the last. */
static bool advance(struct mli_legaliser *l)
{
    l->at[RUN] += l->take[RUN];
    if (l->at[RUN] < l->box.run)
        return true;
    l->at[RUN] = 0;
    for (size_t i = l->box.loops; i-- > 0;) {
        l->at[i] += l->take[i];
        if (l->at[i] < l->box.loop[i].count)
            return true;
        l->at[i] = 0;
    }
    return false;
}

/* Begins descriptor l->index. Returns its number of pieces; 0 if it writes nothing. */
static uint64_t begin(struct mli_legaliser *l)
{
    l->box = plan_box(l->plan, l->index);
    return l->box.run > 0 ? choose_takes(l) : 0;
}

bool mli_legalise_next(struct mli_legaliser *l, struct mli_descriptor *piece)
{
    while (!l->cutting) {
        if (l->index > l->plan->slabs)
            return false;
        l->cutting = begin(l) > 0;
        if (!l->cutting)
            l->index++;
    }
    cut(l, piece);
    if (!advance(l)) {
        l->cutting = false;
        l->index++;
    }
    return true;
}

uint64_t mli_legalise_count(const struct mli_plan *plan, const struct mli_channel_caps *caps)
{
    struct mli_legaliser l;
    uint64_t count = 0;

    mli_legalise_init(&l, plan, caps);
    for (; l.index <= plan->slabs; l.index++)
        count += begin(&l);
    return count;
}
