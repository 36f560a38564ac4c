/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The legaliser cuts plans into pieces: descriptors that a channel can express, and pieces for the
 * processor (dma.h has an overview of all cutters).
 *
 * Each run of a box has a head, a middle and a tail. The device moves the middle, which begins at
 * an aligned address and is a multiple of the granularity long; the processor moves head and tail.
 * The processor moves the whole run if the rows of a box are not aligned alike, or if descriptors
 * would take longer. First come the middles of all boxes, then heads and tails: while the device
 * writes the middle of a cache line, a processor with a cache of its own must not write the line.
 *
 * A piece takes take[i] iterations of loop i, and take[MLI_MAX_RANK] bytes of the run. So the
 * pieces form a grid over the box. They are visited like the values of a counter: the last
 * coordinate in the grid changes fastest.
 */
#include "libmli/src/plan.h"
#include "mli_engine.h"

enum {
    RUN = MLI_MAX_RANK,
    SHARED = 256, /* contiguous source bytes that a piece of a transpose uses, if possible */
};

/* The parts of the runs, in the order of their pieces. */
enum part { MIDDLE, HEAD, TAIL };

static size_t at_most(size_t value, size_t limit)
{
    return limit != 0 && value > limit ? limit : value;
}

static size_t greater(size_t a, size_t b)
{
    return a > b ? a : b;
}

/* Alignments are powers of two; 0 and 1: none. */
static bool is_aligned(uintptr_t value, size_t alignment)
{
    return alignment == 0 || (value & (alignment - 1)) == 0;
}

static size_t src_align(const struct mli_channel_caps *caps)
{
    return greater(caps->src_align, caps->granularity);
}

static size_t dst_align(const struct mli_channel_caps *caps)
{
    return greater(caps->dst_align, caps->granularity);
}

static bool is_for_processor(const struct mli_legaliser *l)
{
    return l->part != MIDDLE;
}

static bool within(size_t src_step, size_t dst_step, size_t limit)
{
    return limit == 0 || (src_step <= limit && dst_step <= limit);
}

static size_t distance(size_t a, size_t b)
{
    return a > b ? a - b : b - a;
}

static size_t tighter(size_t a, size_t b)
{
    return a == 0 ? b : at_most(a, b);
}

/*
 * Returns the limits of loop `number` of a descriptor (0: the innermost loop). With
 * MLI_CHANNEL_ANY_LOOPS, returns the tightest limits of all loops: if only one iteration of a loop
 * is left, its loop vanishes from the descriptor, and the outer loops take other numbers.
 */
static struct mli_loop_caps own_limits(const struct mli_channel_caps *caps, uint32_t number)
{
    struct mli_loop_caps own = caps->loop[number];

    for (uint32_t i = 0; caps->flags & MLI_CHANNEL_ANY_LOOPS && i < caps->loops && i < MLI_MAX_RANK;
         i++) {
        own.count_max = tighter(own.count_max, caps->loop[i].count_max);
        own.step_max = tighter(own.step_max, caps->loop[i].step_max);
    }
    return own;
}

/* Returns whether loop `number` of a descriptor can have the steps of *loop. */
static bool steps_fit(const struct mli_channel_caps *caps, const struct mli_copy_box *box,
                      const struct mli_copy_loop *loop, uint32_t number)
{
    if (!within(loop->src_step, loop->dst_step, caps->step_max) ||
        !within(loop->src_step, loop->dst_step, own_limits(caps, number).step_max))
        return false;
    if (caps->flags & MLI_CHANNEL_DISTINCT_ROWS && box->src && loop->src_step < box->run)
        return false;
    return within(box->src ? distance(loop->src_step, box->run) : 0,
                  distance(loop->dst_step, box->run), caps->gap_max);
}

/* Returns whether descriptors without loops are better, because they can have longer runs. */
static bool is_linear(const struct mli_channel_caps *caps, size_t run)
{
    return caps->run_max != 0 && run > caps->run_max && caps->linear_max > caps->run_max;
}

/*
 * Returns the length of the pieces of a run: the run, or a multiple of the alignment. Returns 0 if
 * the limits are tighter than the alignment.
 */
static size_t take_of_run(const struct mli_legaliser *l)
{
    const struct mli_channel_caps *caps = &l->caps;
    const size_t run = l->box.run, unit = greater(src_align(caps), dst_align(caps));
    size_t limit = is_linear(caps, run) ? caps->linear_max : caps->run_max, take;

    if (!l->box.src && caps->fill_max != 0)
        limit = at_most(caps->fill_max, limit);
    take = at_most(at_most(run, limit), caps->bytes_max);
    return take < run && unit > 1 ? take & ~(unit - 1) : take;
}

/*
 * Returns the index of the shared loop of a box, or the number of loops if there is none. In the
 * source of a transpose, neighbouring runs are not moved one after the other, so that each run uses
 * a small part of a cache line. The shared loop goes from one such neighbour to the next: a piece
 * also takes some of its iterations, and so uses whole lines.
 */
static size_t find_shared(const struct mli_legaliser *l)
{
    const struct mli_copy_box *box = &l->box;
    size_t i = 0;

    if (!(l->blocks || is_for_processor(l)) || !box->src || box->run >= SHARED)
        return box->loops;
    while (i < box->loops && box->loop[i].src_step != box->run)
        i++;
    return i;
}

/* Returns whether a descriptor that has `used` loops already can also have *loop. */
static bool is_possible(const struct mli_legaliser *l, const struct mli_copy_loop *loop,
                        uint32_t used)
{
    const struct mli_channel_caps *caps = &l->caps;

    return used < caps->loops && used < MLI_MAX_RANK && !is_linear(caps, l->box.run) &&
           steps_fit(caps, &l->box, loop, used);
}

/*
 * Returns the loops that a descriptor should have, as bits: the longest of the loops that it can
 * have. Of equally long loops, it takes the innermost.
 */
static uint32_t longest_loops(const struct mli_legaliser *l)
{
    const struct mli_copy_box *box = &l->box;
    uint32_t chosen = 0;

    for (uint32_t used = 0; used < l->caps.loops && used < MLI_MAX_RANK; used++) {
        size_t longest = 1, best = box->loops;

        for (size_t i = box->loops; i-- > 0;) {
            const size_t count = at_most(box->loop[i].count, l->caps.count_max);

            if (count > longest && !(chosen & 1u << i) && is_possible(l, &box->loop[i], used)) {
                longest = count;
                best = i;
            }
        }
        if (best < box->loops)
            chosen |= 1u << best;
    }
    return chosen;
}

/*
 * Returns the maximum number of iterations of a loop in a descriptor, for the next free loop of the
 * device.
 */
static size_t take_of_loop(const struct mli_legaliser *l, const struct mli_copy_loop *loop,
                           uint32_t used)
{
    const struct mli_channel_caps *caps = &l->caps;

    if (is_for_processor(l))
        return loop->count;
    if (!is_possible(l, loop, used))
        return 1;
    return at_most(at_most(loop->count, caps->count_max), own_limits(caps, used).count_max);
}

/*
 * Chooses how many iterations of each loop a piece has. Takes whole loops, from the innermost one
 * outwards, while the device can move the piece. Then takes a part of the next loop, and one
 * iteration of each loop around it; the shared loop is an exception. With MLI_CHANNEL_ANY_LOOPS,
 * takes as many iterations as possible of the longest loops instead. Returns the number of pieces;
 * 0 if the device can move none.
 */
static uint64_t choose_takes(struct mli_legaliser *l)
{
    const struct mli_copy_box *box = &l->box;
    const size_t of_processor = l->caps.piece_cpu ? l->caps.piece_cpu : MLI_PIECE_CPU_BYTES;
    const size_t bytes_max = is_for_processor(l) ? of_processor : l->caps.bytes_max;
    const size_t shared = find_shared(l);
    size_t bytes = is_for_processor(l) ? at_most(box->run, bytes_max) : take_of_run(l);
    size_t share = 1; /* loops inside the shared loop get bytes_max / share */
    const bool any = l->caps.flags & MLI_CHANNEL_ANY_LOOPS && !is_for_processor(l);
    const uint32_t chosen = any ? longest_loops(l) : 0;
    uint32_t used = 0;
    uint64_t pieces;
    bool whole = bytes == box->run;

    if (bytes == 0)
        return 0;
    pieces = (box->run - 1) / bytes + 1;
    if (shared < box->loops && whole)
        share = at_most(box->loop[shared].count, SHARED / box->run);
    l->take[RUN] = bytes;
    for (size_t i = box->loops; i-- > 0;) {
        size_t count = 1;

        if (i == shared)
            share = 1;
        if (any ? bytes >= box->run && chosen & 1u << i : whole || i == shared)
            count = take_of_loop(l, &box->loop[i], used);
        if (bytes_max && count > bytes_max / share / bytes)
            count = bytes_max / share / bytes;
        if (count < 2)
            count = 1;
        whole = whole && count == box->loop[i].count;
        pieces *= (box->loop[i].count - 1) / count + 1;
        l->take[i] = count;
        bytes *= count;
        used += count > 1;
    }
    return pieces;
}

/* Returns whether the alignment allows the device to begin `head` bytes behind the start of each
 * row. */
static bool rows_are_alike(const struct mli_channel_caps *caps, const struct mli_copy_box *box,
                           size_t head)
{
    if (box->src && !is_aligned((uintptr_t)box->src + head, src_align(caps)))
        return false;
    for (size_t i = 0; i < box->loops; i++) {
        if (!is_aligned(box->loop[i].dst_step, dst_align(caps)) ||
            (box->src && !is_aligned(box->loop[i].src_step, src_align(caps))))
            return false;
    }
    return true;
}

/* Limits l->box to `bytes` bytes from `offset` on of each run. */
static void limit_runs(struct mli_legaliser *l, size_t offset, size_t bytes)
{
    l->box.dst += offset;
    if (l->box.src)
        l->box.src += offset;
    l->box.run = bytes;
}

/*
 * Returns whether the device should move the middle of the runs. It should if its descriptors have
 * at least piece_min bytes on average.
 */
static bool is_worth(struct mli_legaliser *l, size_t head, size_t bytes)
{
    const struct mli_copy_box whole = l->box;
    const enum part part = l->part;
    uint64_t pieces;

    if (bytes == 0 || bytes < l->caps.run_min || !rows_are_alike(&l->caps, &whole, head))
        return false;
    l->part = MIDDLE;
    limit_runs(l, head, bytes);
    pieces = choose_takes(l);
    l->box = whole;
    l->part = part;
    return pieces > 0 && bytes * box_rows(&whole) / pieces >= l->caps.piece_min;
}

/*
 * Returns the length of the middle of the runs of l->box, in bytes, and sets *head to the length of
 * the head. If there is no middle, the head is the whole run. l->box must not be cut yet.
 */
static size_t find_middle(struct mli_legaliser *l, size_t *head)
{
    const size_t run = l->box.run, align = greater(dst_align(&l->caps), 1);
    size_t bytes;

    *head = (size_t)(-(uintptr_t)l->box.dst & (align - 1));
    bytes = *head < run ? run - *head : 0;
    if (l->caps.granularity > 1)
        bytes &= ~(l->caps.granularity - 1);
    if (is_worth(l, *head, bytes))
        return bytes;
    *head = run;
    return 0;
}

/* Begins part l->part of descriptor l->index. Returns its number of pieces. */
static uint64_t begin(struct mli_legaliser *l)
{
    size_t run, head = 0, middle;

    l->box = plan_box(l->plan, l->index);
    run = l->box.run;
    if (run == 0)
        return 0;
    middle = l->demands ? find_middle(l, &head) : run;
    l->shared |= middle < run;
    if (l->part == MIDDLE)
        limit_runs(l, head, middle);
    else if (l->part == HEAD)
        limit_runs(l, 0, head);
    else
        limit_runs(l, head + middle, run - head - middle);
    return l->box.run > 0 ? choose_takes(l) : 0;
}

/* Moves to the next part; false after the last. */
static bool next_part(struct mli_legaliser *l)
{
    if (l->part == HEAD) {
        l->part = TAIL;
        return true;
    }
    if (l->index < l->plan->slabs) {
        l->index++;
        l->part = l->part == TAIL ? HEAD : MIDDLE;
        return true;
    }
    if (l->part == TAIL || !l->shared)
        return false;
    l->index = 0;
    l->part = HEAD;
    return true;
}

void mli_legalise_init(struct mli_legaliser *l, const struct mli_plan *plan,
                       const struct mli_channel_caps *caps)
{
    l->plan = plan;
    l->caps = *caps;
    l->index = 0;
    l->part = MIDDLE;
    l->cutting = false;
    l->blocks = false;
    l->demands = caps->granularity > 1 || caps->src_align > 1 || caps->dst_align > 1 ||
                 caps->run_min > 0 || caps->piece_min > 0;
    l->shared = false;
    for (size_t i = 0; i <= MLI_MAX_RANK; i++)
        l->at[i] = 0;
}

/* Sets *piece to the piece that begins at l->at. */
static void cut(const struct mli_legaliser *l, struct mli_descriptor *piece)
{
    const struct mli_copy_box *from = &l->box;
    struct mli_copy_box *to = &piece->box;
    size_t offset = l->at[RUN];

    to->src = from->src;
    to->dst = from->dst + offset;
    to->run = at_most(from->run - offset, l->take[RUN]);
    to->loops = 0;
    piece->index = l->index;
    piece->bytes = to->run;
    piece->row = 0;
    piece->flags = is_for_processor(l) ? MLI_PIECE_CPU : 0;
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

bool mli_legalise_next(struct mli_legaliser *l, struct mli_descriptor *piece)
{
    /* After the last piece, the index equals the number of descriptors. */
    while (!l->cutting) {
        if (l->index > l->plan->slabs)
            return false;
        l->cutting = begin(l) > 0;
        if (!l->cutting && !next_part(l))
            l->index = UINT32_MAX;
    }
    cut(l, piece);
    if (!advance(l)) {
        l->cutting = false;
        if (!next_part(l))
            l->index = UINT32_MAX;
    }
    return true;
}

uint64_t mli_piece_row(const struct mli_plan *plan, const struct mli_descriptor *piece,
                       uint64_t row)
{
    const struct mli_copy_box whole = plan_box(plan, piece->index);
    uint64_t in_plan = piece->row, rows = 1; /* rows of the plan in one iteration of loop i */
    size_t k = piece->box.loops;

    /* No two loops of a box have equal steps in the destination, because its bytes are distinct. */
    for (size_t i = whole.loops; i-- > 0; rows *= whole.loop[i].count) {
        if (k == 0 || piece->box.loop[k - 1].dst_step != whole.loop[i].dst_step)
            continue;
        k--;
        in_plan += row % piece->box.loop[k].count * rows;
        row /= piece->box.loop[k].count;
    }
    return in_plan;
}

void mli_legalise_pieces(const struct mli_plan *plan, const struct mli_channel_caps *caps,
                         struct mli_piece_counts *counts)
{
    struct mli_legaliser l;

    mli_legalise_init(&l, plan, caps);
    *counts = (struct mli_piece_counts){0, 0, 0};
    do {
        const uint64_t pieces = begin(&l);

        if (!is_for_processor(&l)) {
            counts->descriptors += pieces;
        } else if (pieces > 0) {
            counts->cpu_pieces += pieces;
            counts->cpu_bytes += box_bytes(&l.box);
        }
    } while (next_part(&l));
}

uint64_t mli_legalise_count(const struct mli_plan *plan, const struct mli_channel_caps *caps)
{
    struct mli_piece_counts counts;

    mli_legalise_pieces(plan, caps, &counts);
    return counts.descriptors;
}
