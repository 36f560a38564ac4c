/* SPDX-License-Identifier: BSD-3-Clause */
#include "target/controller/box_cutter.h"

static uint64_t cut_lesser(uint64_t a, uint64_t b)
{
    return a < b ? a : b;
}

static uint64_t cut_divided_up(uint64_t number, uint64_t by)
{
    return number / by + (number % by != 0);
}

static uint64_t cut_rounded_down(uint64_t number, uint32_t power_of_two)
{
    return number & ~(uint64_t)(power_of_two - 1);
}

static uint64_t cut_saturating_mul(uint64_t a, uint64_t b)
{
    uint64_t product;

    return __builtin_mul_overflow(a, b, &product) ? UINT64_MAX : product;
}

/* Returns the longest step of a loop around runs of `run` bytes. */
static uint64_t cut_step_limit(const struct cut_limits *limits, uint64_t run)
{
    const uint64_t most = run + limits->gap_max;

    return cut_lesser(limits->step_max, most < run ? UINT64_MAX : most);
}

/* Returns whether the steps of a loop are within the limits; gap_fits() checks the gaps. */
static bool cut_steps_fit(const struct cut_limits *limits, uint64_t src_step, uint64_t dst_step)
{
    return src_step <= limits->step_max && dst_step <= limits->step_max &&
           (src_step | dst_step) % limits->granularity == 0;
}

/* Returns how many iterations of `loop` another loop may step over at once, within gap_max. */
static uint64_t cut_within_reach(const struct cut_limits *limits, const struct mli_copy_loop *loop,
                                 uint64_t run)
{
    const uint64_t step = loop->src_step > loop->dst_step ? loop->src_step : loop->dst_step;

    return step > 0 ? cut_step_limit(limits, run) / step : UINT64_MAX;
}

/* One way to split the runs of a part. */
struct cut_runs {
    uint64_t run; /* maximum bytes of a run in a piece */
    bool loops;   /* true: descriptors may have loops */
};

enum { DIVISORS = 4096 }; /* maximum number of divisors that are tried for a count or a run */

/* Returns the distance between the places at which a run may be cut, in bytes. */
static uint32_t unit_of(const struct cut_limits *limits)
{
    return limits->alignment > limits->granularity ? limits->alignment : limits->granularity;
}

/*
 * Returns the maximum length of the pieces of a run of `run` bytes: a multiple of the alignment,
 * except for the last piece.
 */
static uint64_t run_limit(const struct cut_limits *limits, uint64_t run, uint64_t run_max)
{
    const uint64_t most = cut_lesser(run_max, limits->bytes_max);

    return most < run ? cut_rounded_down(most, unit_of(limits)) : run;
}

/* Returns whether the gap between the end of a run and the next run is within the limit. */
static bool gap_fits(const struct cut_limits *limits, uint64_t step, uint64_t run)
{
    return (step > run ? step - run : run - step) <= limits->gap_max;
}

/* Returns whether a descriptor can have a loop around runs of `run` bytes. */
static bool loop_fits(const struct cut_limits *limits, const struct cut_axis *axis, uint64_t run)
{
    return cut_steps_fit(limits, axis->src_step, axis->dst_step) &&
           gap_fits(limits, axis->src_step, run) && gap_fits(limits, axis->dst_step, run);
}

/*
 * Chooses the iterations that each axis takes, if bytes_max limits their product. Tries all orders
 * of axes, and takes as many iterations of each axis as fit into the rest of `rows` runs. There
 * are at most CUT_AXES_MAX axes.
 */
static void search(struct cut_block *block, const struct cut_limits *limits, uint32_t loops,
                   uint64_t rows, uint64_t pieces, uint64_t take[CUT_AXES_MAX], uint64_t *best)
{
    if (pieces < *best) {
        *best = pieces;
        for (uint32_t i = 0; i < block->axes; i++)
            block->axis[i].take = take[i];
    }
    for (uint32_t i = 0; loops > 0 && rows > 1 && i < block->axes; i++) {
        const struct cut_axis *axis = &block->axis[i];
        uint64_t most = cut_lesser(cut_lesser(axis->count, limits->count_max), rows), parts;

        if (take[i] > 1 || most < 2 || (axis->outer && take[i + 1] < axis[1].count) ||
            !loop_fits(limits, axis, block->run))
            continue;
        parts = cut_divided_up(axis->count, most);
        take[i] = cut_divided_up(axis->count, parts);
        search(block, limits, loops - 1, rows / take[i], pieces / axis->count * parts, take, best);
        take[i] = 1;
    }
}

/* Returns the index of the axis that reduces the number of pieces most, or the number of axes. */
static uint32_t largest(const struct cut_block *block, const struct cut_limits *limits)
{
    uint32_t found = block->axes;
    uint64_t most = 1;

    for (uint32_t i = block->axes; i-- > 0;) {
        const struct cut_axis *axis = &block->axis[i];
        uint64_t count = cut_lesser(axis->count, limits->count_max);

        if (axis->take == 1 && count > most && !(axis->outer && axis[1].take < axis[1].count) &&
            loop_fits(limits, axis, block->run)) {
            most = count;
            found = i;
        }
    }
    return found;
}

/* Chooses how many iterations of each axis a piece takes. Returns the number of pieces. */
static uint64_t choose_takes(struct cut_block *block, const struct cut_limits *limits, bool loops)
{
    const uint64_t rows = limits->bytes_max / block->run;
    uint64_t pieces = 1, all = 1, taken = 1, take[CUT_AXES_MAX];

    for (uint32_t i = 0; i < block->axes; i++) {
        block->axis[i].take = take[i] = 1;
        block->axis[i].at = 0;
        all *= block->axis[i].count;
    }
    for (uint32_t n = 0; loops && n < limits->loops; n++) {
        uint32_t i = largest(block, limits);

        if (i == block->axes)
            break;
        block->axis[i].take = cut_lesser(block->axis[i].count, limits->count_max);
        taken = cut_saturating_mul(taken, block->axis[i].take);
    }
    if (taken > rows) {
        pieces = UINT64_MAX;
        search(block, limits, limits->loops, rows, all, take, &pieces);
        return pieces;
    }
    for (uint32_t i = 0; i < block->axes; i++)
        pieces *= cut_divided_up(block->axis[i].count, block->axis[i].take);
    return pieces;
}

static void add_axis(struct cut_block *block, uint64_t count, struct mli_copy_loop loop,
                     uint64_t steps, uint64_t row_step, bool outer)
{
    if (count > 1)
        block->axis[block->axes++] = (struct cut_axis){.count = count,
                                                       .src_step = loop.src_step * steps,
                                                       .dst_step = loop.dst_step * steps,
                                                       .row_step = row_step * steps,
                                                       .outer = outer};
}

/*
 * Sets *block to one part of the box, whose runs are whole. The bits of `part` say which part: bit
 * i selects the remainder of loop i. Returns false if this part is empty.
 */
static bool begin_part(const struct box_cutter *cutter, uint32_t part, struct cut_block *block)
{
    const struct mli_copy_box *box = &cutter->whole.box;
    uint64_t row_step[MLI_MAX_RANK], rows = 1;

    *block = (struct cut_block){.run = box->run, .row = cutter->whole.row};
    for (size_t i = box->loops; i-- > 0; rows *= box->loop[i].count)
        row_step[i] = rows;
    for (size_t i = 0; i < box->loops; i++) {
        const struct mli_copy_loop loop = box->loop[i];
        const uint64_t inner = cutter->inner[i], outer = loop.count / inner;
        const uint64_t rest = loop.count % inner, before = inner * outer;

        if (!(part >> i & 1)) {
            add_axis(block, outer, loop, inner, row_step[i], inner > 1);
            add_axis(block, inner, loop, 1, row_step[i], false);
            continue;
        }
        if (rest == 0)
            return false;
        add_axis(block, rest, loop, 1, row_step[i], false);
        block->src_offset += before * loop.src_step;
        block->dst_offset += before * loop.dst_step;
        block->row += before * row_step[i];
    }
    return true;
}

/*
 * Shortens the runs of a part to `run` bytes, or to their remainders if `rest` is set. Returns
 * false if nothing is left.
 */
static bool split_runs(struct cut_block *block, bool copies, uint64_t run, bool rest)
{
    const uint64_t pieces = block->run / run, before = pieces * run;

    if (!rest) {
        struct mli_copy_loop loop = {.src_step = copies ? run : 0, .dst_step = run};

        add_axis(block, pieces, loop, 1, 0, false);
        block->run = run;
        return true;
    }
    block->run -= before;
    block->src_offset += copies ? before : 0;
    block->dst_offset += before;
    return block->run > 0;
}

/* Returns the number of pieces of a part whose runs are split as `runs` says. */
static uint64_t count_runs(const struct box_cutter *cutter, const struct cut_block *part,
                           struct cut_runs runs)
{
    uint64_t pieces = 0;

    for (int rest = 0; rest < 2; rest++) {
        struct cut_block block = *part;

        if (split_runs(&block, cutter->copies, runs.run, rest))
            pieces += choose_takes(&block, &cutter->limits, runs.loops);
    }
    return pieces;
}

/*
 * Returns the largest divisor of `whole` that is a multiple of `unit` and fits into `whole` at
 * least `from` and at most `to` times. 0: no divisor was found among the first DIVISORS candidates.
 */
static uint64_t divisor(uint64_t whole, uint32_t unit, uint64_t from, uint64_t to)
{
    to = cut_lesser(cut_lesser(to, from + DIVISORS), whole);
    for (uint64_t times = from; times <= to; times++)
        if (whole % times == 0 && whole / times % unit == 0)
            return whole / times;
    return 0;
}

/* The split of runs with the fewest pieces among those tried. */
struct best_runs {
    struct cut_runs runs;
    uint64_t pieces;
};

static void try_runs(const struct box_cutter *cutter, const struct cut_block *part, uint64_t run,
                     bool loops, struct best_runs *best)
{
    const struct cut_runs runs = {run, loops};
    const uint64_t pieces = run > 0 ? count_runs(cutter, part, runs) : UINT64_MAX;

    if (pieces < best->pieces)
        *best = (struct best_runs){runs, pieces};
}

/* Returns the best way to split the runs of a part. Sets *pieces to its number of pieces. */
static struct cut_runs choose_runs(const struct box_cutter *cutter, const struct cut_block *part,
                                   uint64_t *pieces)
{
    const struct cut_limits *limits = &cutter->limits;
    const uint64_t longest = run_limit(limits, part->run, limits->run_max);
    const uint64_t linear = run_limit(limits, part->run, limits->linear_run_max);
    struct best_runs best = {.runs = {part->run, false}, .pieces = UINT64_MAX};

    if (linear > longest || limits->loops == 0)
        try_runs(cutter, part, linear, false, &best);
    if (limits->loops > 0)
        try_runs(cutter, part, longest, true, &best);
    if (limits->loops > 0 && longest < part->run) {
        const uint64_t parts = cut_divided_up(part->run, longest);

        try_runs(cutter, part, divisor(part->run, unit_of(limits), parts, limits->count_max), true,
                 &best);
        if (limits->step_max < longest)
            try_runs(cutter, part, cut_rounded_down(limits->step_max, unit_of(limits)), true,
                     &best);
    }
    *pieces = best.pieces;
    return best.runs;
}

uint64_t cutter_count(const struct box_cutter *cutter)
{
    uint64_t all = 0, pieces;

    for (uint32_t part = 0; part < 1U << cutter->whole.box.loops; part++) {
        struct cut_block block;

        if (!begin_part(cutter, part, &block))
            continue;
        (void)choose_runs(cutter, &block, &pieces);
        all += pieces;
    }
    return all;
}

/* Splits loop `i` at `inner` iterations if the number of pieces is then at most `most`. */
static void try_inner(struct box_cutter *cutter, size_t i, uint64_t inner, uint64_t *most)
{
    const uint64_t before = cutter->inner[i];
    uint64_t pieces;

    cutter->inner[i] = inner;
    pieces = cutter_count(cutter);
    if (pieces <= *most)
        *most = pieces;
    else
        cutter->inner[i] = before;
}

/*
 * Splits loop `i`, which has too many iterations, in the way that makes the fewest pieces. The ways
 * are parts of count_max or `reach` iterations and a remainder, or two nested loops without a
 * remainder. If bytes_max makes pieces short, a split may make more pieces than the whole loop:
 * then the loop stays whole.
 */
static void choose_inner(struct box_cutter *cutter, size_t i)
{
    const uint64_t count = cutter->whole.box.loop[i].count, count_max = cutter->limits.count_max;
    const uint64_t factor = divisor(count, 1, cut_divided_up(count, count_max), count_max);
    const uint64_t reach =
        cut_within_reach(&cutter->limits, &cutter->whole.box.loop[i], cutter->whole.box.run);
    uint64_t most = UINT64_MAX;

    try_inner(cutter, i, count, &most);
    try_inner(cutter, i, count_max, &most);
    if (factor > 0)
        try_inner(cutter, i, factor < count / factor ? count / factor : factor, &most);
    if (reach > 1 && reach < count_max)
        try_inner(cutter, i, reach, &most);
}

void cutter_init(struct box_cutter *cutter, const struct mli_descriptor *whole, bool copies,
                 const struct cut_limits *limits)
{
    *cutter = (struct box_cutter){.whole = *whole, .copies = copies, .limits = *limits};
    for (size_t i = 0; i < whole->box.loops; i++)
        cutter->inner[i] = cut_lesser(whole->box.loop[i].count, limits->count_max);
    for (size_t i = 0; limits->loops > 0 && i < whole->box.loops; i++)
        if (whole->box.loop[i].count > limits->count_max)
            choose_inner(cutter, i);
}

/* Sets cutter->block to the next block with pieces; false at the end. */
static bool next_block(struct box_cutter *cutter)
{
    for (; cutter->part < 1U << cutter->whole.box.loops; cutter->part++, cutter->rest = false) {
        struct cut_runs runs;
        uint64_t pieces;

        if (!begin_part(cutter, cutter->part, &cutter->block))
            continue;
        runs = choose_runs(cutter, &cutter->block, &pieces);
        if (split_runs(&cutter->block, cutter->copies, runs.run, cutter->rest)) {
            (void)choose_takes(&cutter->block, &cutter->limits, runs.loops);
            return true;
        }
    }
    return false;
}

/* Moves to the next block. */
static void leave_block(struct box_cutter *cutter)
{
    cutter->making = false;
    if (cutter->rest)
        cutter->part++;
    cutter->rest = !cutter->rest;
}

static void make_piece(const struct box_cutter *cutter, struct mli_descriptor *piece)
{
    const struct cut_block *block = &cutter->block;
    const struct mli_copy_box *from = &cutter->whole.box;
    uint64_t src = (uint64_t)(uintptr_t)from->src + block->src_offset;
    uint64_t dst = (uint64_t)(uintptr_t)from->dst + block->dst_offset;

    *piece = (struct mli_descriptor){.box.run = block->run,
                                     .bytes = block->run,
                                     .index = cutter->whole.index,
                                     .row = block->row};
    for (uint32_t i = 0; i < block->axes; i++) {
        const struct cut_axis *axis = &block->axis[i];
        const uint64_t count = cut_lesser(axis->take, axis->count - axis->at);

        src += axis->at * axis->src_step;
        dst += axis->at * axis->dst_step;
        piece->row += axis->at * axis->row_step;
        piece->bytes *= count;
        if (count > 1)
            piece->box.loop[piece->box.loops++] =
                (struct mli_copy_loop){count, axis->src_step, axis->dst_step};
    }
    piece->box.src = cutter->copies ? (const uint8_t *)(uintptr_t)src : NULL;
    piece->box.dst = (uint8_t *)(uintptr_t)dst;
}

/* Moves to the next piece of the block. Returns false after the last piece. */
static bool advance(struct cut_block *block)
{
    for (uint32_t i = block->axes; i-- > 0;) {
        struct cut_axis *axis = &block->axis[i];

        axis->at += axis->take;
        if (axis->at < axis->count)
            return true;
        axis->at = 0;
    }
    return false;
}

bool cutter_next(struct box_cutter *cutter, struct mli_descriptor *piece)
{
    if (!cutter->making && !next_block(cutter))
        return false;
    cutter->making = true;
    make_piece(cutter, piece);
    if (!advance(&cutter->block))
        leave_block(cutter);
    return true;
}

/* The lower bound of the number of pieces; docs/profiles.md has the proof. */

/* The weights of one dimension, the run or a loop, for the proof at cutter_least(). */
struct dimension {
    uint64_t weight;                     /* weight of the whole dimension */
    uint64_t by_loops[MLI_MAX_RANK + 1]; /* by_loops[n]: maximum weight that n loops can cover */
};

/* Returns the weights along the run: the first of every `run` bytes has weight 1, the others 0. */
static struct dimension weigh_run(const struct box_cutter *cutter, uint64_t run)
{
    struct dimension d = {.weight = cut_divided_up(cutter->whole.box.run, run)};
    uint64_t length = run; /* maximum length that n loops can cover */

    d.by_loops[0] = 1;
    for (uint32_t n = 1; n <= MLI_MAX_RANK; n++) {
        const uint64_t step = cut_lesser(length, cut_step_limit(&cutter->limits, run));

        length = cut_saturating_mul(step, cutter->limits.count_max);
        d.by_loops[n] = cut_lesser(d.weight, cut_divided_up(length, run));
    }
    return d;
}

/* Returns whether the gap of a step exceeds gap_max even for the longest run of `run` bytes. */
static bool beyond(uint64_t step, uint64_t run, uint64_t gap_max)
{
    return step > run && step - run > gap_max;
}

/* The weights of a loop: 1 for the first `k` (or all) of every `t` iterations. */
static struct dimension weigh_loop(const struct box_cutter *cutter,
                                   const struct mli_copy_loop *loop, uint64_t run, uint64_t k)
{
    const uint64_t t = cut_lesser(loop->count, cutter->limits.count_max);
    const uint64_t gap_max = cutter->limits.gap_max;
    const uint64_t reach = cut_within_reach(&cutter->limits, loop, run);
    uint64_t periods = 1; /* maximum number of periods of t iterations that n loops can cover */
    struct dimension d;

    if (!cut_steps_fit(&cutter->limits, loop->src_step, loop->dst_step) ||
        beyond(loop->src_step, run, gap_max) || beyond(loop->dst_step, run, gap_max)) {
        d.weight = loop->count;
        for (uint32_t n = 0; n <= MLI_MAX_RANK; n++)
            d.by_loops[n] = 1;
        return d;
    }
    k = cut_lesser(k, t);
    d.weight = loop->count / t * k + cut_lesser(k, loop->count % t);
    d.by_loops[0] = 1;
    for (uint32_t n = 1; n <= MLI_MAX_RANK; n++) {
        d.by_loops[n] = cut_lesser(d.weight, cut_saturating_mul(k, cut_lesser(periods, reach)));
        periods = cut_saturating_mul(periods, cutter->limits.count_max);
    }
    return d;
}

/* Adds a dimension to most[], where most[n] is the maximum weight of a piece of n loops. */
static void combine(uint64_t most[MLI_MAX_RANK + 1], const struct dimension *d, uint32_t loops)
{
    for (uint32_t n = loops + 1; n-- > 0;) {
        uint64_t best = 0;

        for (uint32_t own = 0; own <= n; own++) {
            uint64_t weight = cut_saturating_mul(most[n - own], d->by_loops[own]);

            best = weight > best ? weight : best;
        }
        most[n] = best;
    }
}

/* Returns the lower bound that the weights prove for one value of k. */
static uint64_t bound(const struct box_cutter *cutter, uint64_t run, uint64_t linear, uint64_t k)
{
    const struct mli_copy_box *box = &cutter->whole.box;
    const uint32_t loops = cutter->limits.loops;
    struct dimension d = weigh_run(cutter, run);
    uint64_t most[MLI_MAX_RANK + 1], weight = d.weight;
    const uint64_t without_loops = cut_lesser(d.weight, cut_divided_up(linear, run));

    for (uint32_t n = 0; n <= loops; n++)
        most[n] = 1;
    combine(most, &d, loops);
    for (size_t i = 0; i < box->loops; i++) {
        d = weigh_loop(cutter, &box->loop[i], run, k);
        weight *= d.weight;
        combine(most, &d, loops);
    }
    return cut_divided_up(weight, most[loops] > without_loops ? most[loops] : without_loops);
}

/* Returns the longest run that a limit allows. */
static uint64_t whole_units(const struct cut_limits *limits, uint64_t run_max)
{
    return cut_rounded_down(cut_lesser(run_max, limits->bytes_max), limits->granularity);
}

uint64_t cutter_least(const struct box_cutter *cutter)
{
    const struct mli_copy_box *box = &cutter->whole.box;
    const struct cut_limits *limits = &cutter->limits;
    const uint64_t linear = cut_lesser(box->run, whole_units(limits, limits->linear_run_max));
    const uint64_t looped = cut_lesser(box->run, whole_units(limits, limits->run_max));
    const uint64_t run = limits->loops > 0 ? looped : linear;
    uint64_t bytes = box->run, least, found;

    for (size_t i = 0; i < box->loops; i++)
        bytes *= box->loop[i].count;
    least = cut_divided_up(bytes, cut_rounded_down(limits->bytes_max, limits->granularity));
    found = bound(cutter, run, linear, 1);
    least = found > least ? found : least;
    for (size_t i = 0; i < box->loops; i++) {
        const uint64_t t = cut_lesser(box->loop[i].count, limits->count_max);
        const uint64_t rest = box->loop[i].count % t;

        found = bound(cutter, run, linear, t);
        least = found > least ? found : least;
        if (rest > 0) {
            found = bound(cutter, run, linear, rest);
            least = found > least ? found : least;
        }
    }
    return least;
}
