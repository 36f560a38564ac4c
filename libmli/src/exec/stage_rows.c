/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Moves rows and gathers with streaming stores. In a nest, the inner rows are contiguous in the
 * destination. In bursts, rows are contiguous in the source but not in the destination.
 */
#include "libmli/src/exec/nest.h"
#include "libmli/src/exec/stage.h"
#include "libmli/src/exec/stage_lines.h"
#include "libmli/src/exec/stage_ways.h"
#include "libmli/src/exec/tuning.h"

/* Nests: rows and gathers, with zeros around them. */

_Static_assert(!LEVEL_STREAMS || 2 * (TUNE_STAGE_BYTES_MAX + TUNE_LINE) <= STAGE_BYTES,
               "both halves fit into the stage buffer");

/* The stage buffer: a kernel fills one half while the bytes of the other half are streamed. */
struct stage {
    uint8_t *half[2]; /* the halves: stage_bytes + TUNE_LINE bytes of the thread's buffer each */
    size_t filled;    /* index of the half that is being filled */
    uint8_t *to;      /* destination of the bytes of the second half that are not streamed yet */
    const uint8_t *from;
    size_t left;
};

static void stage_init(struct stage *stage)
{
    stage->half[0] = stage_lines();
    stage->half[1] = stage->half[0] + TUNED(stage_bytes) + TUNE_LINE;
    stage->filled = 0;
    stage->left = 0;
}

static size_t at_least(size_t count, size_t least)
{
    return count > least ? count : least;
}

/*
 * Exchanges the halves. Returns the place for `dst` in the half to fill: at the offset of dst in a
 * cache line, so that whole lines are streamed.
 */
static uint8_t *place(struct stage *stage, const uint8_t *dst)
{
    stage->filled ^= 1;
    return stage->half[stage->filled] + (uintptr_t)dst % TUNE_LINE;
}

/*
 * Streams the bytes that are left, except `keep` bytes or a few more: it stops at the end of a
 * line.
 */
static void stream_but(const struct leaf_table *leaf, struct stage *stage, size_t keep)
{
    size_t bytes = stage->left > keep ? stage->left - keep : 0;

    if (keep > 0)
        bytes -= at_most(bytes, ((uintptr_t)stage->to + bytes) % TUNE_LINE);
    if (bytes == 0)
        return;
    leaf->stream(stage->to, stage->from, bytes);
    stage->to += bytes;
    stage->from += bytes;
    stage->left -= bytes;
}

/* Streams all bytes that are left. Meanwhile prefetches `bytes` bytes of the source of the next
   half. */
static void stream_and_fetch(const struct leaf_table *leaf, struct stage *stage,
                             const uint8_t *next, size_t bytes)
{
    const size_t first = 0, times = stage->left / TUNE_TURN + 1;
    struct stage_fetch fetch = {next, &first, bytes > 0, bytes, 0};
    const size_t share = stage_fetch_share(&fetch, times);

    while (stage->left > 0) {
        stream_but(leaf, stage, stage->left > TUNE_TURN ? stage->left - TUNE_TURN : 0);
        stage_fetch_some(&fetch, share);
    }
}

/* The inner rows of a nest and the zeros around them: contiguous in the destination. */
struct stretch {
    struct leaf_nest nest;
    size_t above, below;
};

static size_t stretch_bytes(const struct stretch *s, size_t row)
{
    return s->above + s->nest.inner.count * row + s->below;
}

/*
 * Returns the rows in another order: from several places of the source in turns. If the nest has
 * one loop only, *rest is the rows that do not divide among the places.
 */
static struct leaf_nest by_places(const struct leaf_nest *nest, struct leaf_nest *rest)
{
    const struct leaf_loop *rows = &nest->inner;
    const size_t places = at_most(rows->count, TUNE_TURN_PLACES), each = rows->count / places;
    struct leaf_nest turned = *nest;

    *rest = *nest;
    rest->inner.count = 0;
    turned.outer = *rows;
    turned.inner = nest->outer;
    if (nest->outer.count > 1)
        return turned;
    turned.outer.count = each;
    turned.inner = (struct leaf_loop){places, each * rows->dst_step, each * rows->src_step};
    rest->inner.count = rows->count % places;
    rest->dst += places * turned.inner.dst_step;
    rest->src += places * turned.inner.src_step;
    return turned;
}

/*
 * If the move skips lines of the source, memory is faster with reads from several places than from
 * one, with prefetches long before the reads, and with some writes in between. So rows come from
 * several places in turns, rows at distance `ahead` are prefetched, and the second half is streamed
 * meanwhile.
 */
static void move_in_turns(const struct leaf_table *leaf, const struct walk *walk,
                          const struct leaf_nest *nest, size_t ahead, struct stage *stage)
{
    struct leaf_nest rest;
    const struct leaf_nest all = by_places(nest, &rest);
    const size_t rows = all.outer.count, left = stage->left;
    const size_t some = at_least(TUNE_TURN / (walk_row(walk) * all.inner.count), 1);
    struct leaf_nest turn = all;

    turn.ahead = ahead;
    for (size_t r = 0; r < rows; r += some) {
        turn.outer.count = at_most(rows - r, some);
        turn.dst = all.dst + r * all.outer.dst_step;
        turn.src = all.src + r * all.outer.src_step;
        walk_move_rows(leaf, walk, &turn);
        stream_but(leaf, stage, left - left * (r + turn.outer.count) / rows);
    }
    if (rest.inner.count > 0)
        walk_move_rows(leaf, walk, &rest);
}

/* Returns whether rows take turns. Rows of a few bytes that share lines stay together, and long
   gathers read their source from end to end. */
static bool is_in_turns(const struct leaf_table *leaf, const struct walk *walk)
{
    if (!leaf->fetches || walk->border.before + walk->border.after > 0)
        return false;
    if (walk->kind == WALK_GATHER && walk->col[1].count * walk->col[1].src_step > TUNE_TURN_GATHER)
        return false;
    return walk_row(walk) >= TUNE_TURN_ROW || walk->nest.inner.src_step >= TUNE_LINE;
}

/* Returns the bytes of the source from the first row to the last; 0 if most of them are skipped. */
static size_t source_bytes(const struct leaf_nest *nest, size_t moved)
{
    const size_t outer = nest->outer.count > 1 ? nest->outer.count * nest->outer.src_step : 0,
                 inner = nest->inner.count > 1 ? nest->inner.count * nest->inner.src_step : 0;
    const size_t bytes = outer > inner ? outer : inner;

    return bytes <= TUNE_FETCH_GAPS * moved ? bytes : 0;
}

/*
 * Moves contiguous stretches that fit on the stage. `ahead` is the distance to the next rows of the
 * source.
 */
static void stage_packed(const struct leaf_table *leaf, const struct walk *walk,
                         const struct stretch *s, struct stage *stage, size_t ahead)
{
    const size_t row = walk_row(walk), bytes = stretch_bytes(s, row), count = s->nest.outer.count;
    uint8_t *to = s->nest.dst - s->above, *at = place(stage, to);
    struct leaf_nest staged = s->nest;

    staged.dst = at + s->above;
    if (is_in_turns(leaf, walk)) {
        move_in_turns(leaf, walk, &staged, ahead, stage);
        stream_but(leaf, stage, 0);
    } else {
        walk_move_rows(leaf, walk, &staged);
        stream_and_fetch(leaf, stage, s->nest.src + ahead,
                         leaf->fetches ? source_bytes(&s->nest, count * bytes) : 0);
    }
    if (s->above > 0)
        leaf->fill(at, bytes, s->above, count);
    if (s->below > 0)
        leaf->fill(at + bytes - s->below, bytes, s->below, count);
    stage->to = to;
    stage->from = at;
    stage->left = count * bytes;
}

/* Moves a stretch that does not fit on the stage: as many rows at a time as fit. */
static void stage_rows(const struct leaf_table *leaf, const struct walk *walk,
                       const struct stretch *s, struct stage *stage)
{
    const struct leaf_loop *inner = &s->nest.inner;
    const size_t rows = (TUNED(stage_bytes) - s->above - s->below) / walk_row(walk);
    struct stretch part = *s;

    for (size_t k = 0; k < inner->count; k += rows) {
        part.nest.inner.count = at_most(inner->count - k, rows);
        part.nest.dst = s->nest.dst + k * inner->dst_step;
        part.nest.src = s->nest.src + k * inner->src_step;
        part.above = k == 0 ? s->above : 0;
        part.below = inner->count - k <= rows ? s->below : 0;
        stage_packed(leaf, walk, &part, stage, rows * inner->src_step);
    }
}

/* Moves all stretches: as many at a time as fit if they are contiguous, or else each by itself. */
static void stage_stretches(const struct leaf_table *leaf, const struct walk *walk,
                            const struct stretch *s, struct stage *stage)
{
    const struct leaf_loop *outer = &s->nest.outer;
    const size_t bytes = stretch_bytes(s, walk_row(walk));
    const size_t some = outer->dst_step == bytes ? at_least(TUNED(stage_bytes) / bytes, 1) : 1;
    struct stretch part = *s;

    for (size_t i = 0; i < outer->count; i += some) {
        part.nest.outer.count = at_most(outer->count - i, some);
        part.nest.dst = s->nest.dst + i * outer->dst_step;
        part.nest.src = s->nest.src + i * outer->src_step;
        if (bytes <= TUNED(stage_bytes))
            stage_packed(leaf, walk, &part, stage, some * outer->src_step);
        else
            stage_rows(leaf, walk, &part, stage);
    }
}

/* Gathers a long row: as many elements at a time as fit. */
static void stage_gathered(const struct leaf_table *leaf, const struct walk *walk, uint8_t *dst,
                           const uint8_t *src, struct stage *stage)
{
    const size_t columns = TUNED(stage_bytes) >> walk->kernel, step = walk->col[1].src_step;

    for (size_t c = 0; c < walk->col[1].count; c += columns) {
        const size_t count = at_most(walk->col[1].count - c, columns);
        uint8_t *to = dst + (c << walk->kernel);
        const struct leaf_nest nest = {place(stage, to), src + c * step, {1, 0, 0}, {1, 0, 0}, 0};

        leaf->gather[walk->kernel](&nest, step, count);
        leaf->stream(to, nest.dst, count << walk->kernel);
    }
}

static void stage_long_rows(const struct leaf_table *leaf, const struct walk *walk,
                            const struct leaf_nest *nest, struct stage *stage)
{
    const struct leaf_border *border = &walk->border;

    NEST_FOR_ROWS(nest, to, from, {
        if (walk->kind == WALK_GATHER) {
            stage_gathered(leaf, walk, to, from, stage);
        } else {
            if (border->before > 0)
                leaf->fill(to, 0, border->before, 1);
            leaf->stream(to + border->before, from, border->run);
            if (border->after > 0)
                leaf->fill(to + border->before + border->run, 0, border->after, 1);
        }
    })
}

/* Returns whether the inner rows, with zeros around them, are worth a stage. */
static bool are_stretches(const struct walk *walk, size_t above, size_t below)
{
    const struct leaf_loop *inner = &walk->nest.inner, *outer = &walk->nest.outer;
    const size_t row = walk_row(walk), bytes = above + inner->count * row + below;

    return row < TUNE_STREAM_LONG && (inner->count == 1 || inner->dst_step == row) &&
           (bytes >= TUNE_STREAM_LONG || outer->count == 1 || outer->dst_step == bytes);
}

/* Returns whether one call of the kernel takes all inner rows, or all columns of a gather. */
static bool is_one_block(const struct walk *walk)
{
    if (walk->kind == WALK_GATHER)
        return walk->block == walk->col[1].count;
    return walk->kind == WALK_ROWS && walk->block == walk->nest.inner.count;
}

bool stage_take_zeros(struct walk *walk, size_t above, size_t below)
{
    if (walk->kind != WALK_ROWS || !is_one_block(walk) || above + below > TUNED(stage_bytes) / 2 ||
        !are_stretches(walk, above, below))
        return false;
    walk->above = above;
    walk->below = below;
    return true;
}

bool stage_is_nest(const struct walk *walk)
{
    return is_one_block(walk) &&
           (walk_row(walk) >= TUNE_STREAM_LONG || are_stretches(walk, walk->above, walk->below));
}

void stage_nest(const struct leaf_table *leaf, const struct walk *walk, uint8_t *dst,
                const uint8_t *src)
{
    struct leaf_nest nest = walk->nest;
    struct stage stage;

    nest.dst = dst;
    nest.src = src;
    stage_init(&stage);
    if (walk_row(walk) >= TUNE_STREAM_LONG)
        stage_long_rows(leaf, walk, &nest, &stage);
    else
        stage_stretches(leaf, walk, &(struct stretch){nest, walk->above, walk->below}, &stage);
    stream_but(leaf, &stage, 0);
}

/* Bursts: a block of each row at a time, so that the source is read from end to end. */

/* Returns the bytes of a slot of the stage: a block, and the partial lines at its ends. */
static size_t burst_slot(const struct walk *walk)
{
    return (walk->block * walk->border.run / TUNE_LINE + 2) * TUNE_LINE;
}

bool stage_is_bursts(const struct walk *walk)
{
    const struct leaf_nest *nest = &walk->nest;

    return walk->kind == WALK_ROWS && walk->block < nest->inner.count &&
           walk->border.before + walk->border.after == 0 &&
           nest->inner.dst_step == walk->border.run &&
           walk->block * walk->border.run >= TUNE_LINE &&
           nest->outer.count * burst_slot(walk) <= STAGE_BYTES;
}

/* Moves a block of each row to the slots of the stage. */
static void move_to_slots(const struct leaf_table *leaf, const struct walk *walk,
                          const struct leaf_nest *nest, size_t slot)
{
    struct leaf_nest part = *nest;

    part.outer.count = 1;
    for (size_t i = 0; i < nest->outer.count; i++) {
        part.dst = stage_place(stage_lines() + i * slot, nest->dst + i * nest->outer.dst_step);
        part.src = nest->src + i * nest->outer.src_step;
        walk_move_rows(leaf, walk, &part);
    }
}

void stage_bursts(const struct leaf_table *leaf, const struct walk *walk, uint8_t *dst,
                  const uint8_t *src)
{
    const struct leaf_loop *inner = &walk->nest.inner, *outer = &walk->nest.outer;
    const size_t run = walk->border.run, slot = burst_slot(walk), first = 0;
    /* whether the next block of the source begins where this one ends */
    const bool contiguous = inner->src_step == outer->count * outer->src_step;
    struct leaf_nest part = walk->nest;

    for (size_t i = 0; i < inner->count; i += walk->block) {
        const size_t some = at_most(inner->count - i, walk->block),
                     after = at_most(inner->count - i - some, walk->block);

        part.inner.count = some;
        part.dst = dst + i * inner->dst_step;
        part.src = src + i * inner->src_step;
        struct stage_fetch next = {part.src + some * inner->src_step, &first,
                                   contiguous && after > 0, after * inner->src_step, 0};
        const size_t share = stage_fetch_share(&next, outer->count);

        move_to_slots(leaf, walk, &part, slot);
        for (size_t k = 0; k < outer->count; k++) {
            stage_flush(leaf, part.dst + k * outer->dst_step, stage_lines() + k * slot, some * run,
                        i == 0, after == 0);
            stage_fetch_some(&next, share);
        }
    }
}
