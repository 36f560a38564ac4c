/* SPDX-License-Identifier: BSD-3-Clause */
/* The lower bound of the number of pieces; cutter_least() in box_cutter.h has the proof. */
#include "target/controller/box_cutter.h"

/* The weights of the run or of a loop, for the proof at cutter_least(). */
struct dimension {
    uint64_t weight;                     /* weight of the whole dimension */
    uint64_t by_loops[MLI_MAX_RANK + 1]; /* maximum weight of a range that n loops make */
};

/* The weights of the run: 1 for the first byte of every `run` bytes. */
static struct dimension weigh_run(const struct box_cutter *cutter, uint64_t run)
{
    struct dimension d = {.weight = cut_divided_up(cutter->whole.box.run, run)};
    uint64_t length = run; /* length of a range that n loops make */

    d.by_loops[0] = 1;
    for (uint32_t n = 1; n <= MLI_MAX_RANK; n++) {
        const uint64_t step = cut_lesser(length, cut_step_limit(&cutter->limits, run));

        length = cut_saturating_mul(step, cutter->limits.count_max);
        d.by_loops[n] = cut_lesser(d.weight, cut_divided_up(length, run));
    }
    return d;
}

/* Returns whether a step exceeds the limit with every run of at most `run` bytes. */
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
    uint64_t periods = 1; /* periods of t iterations in a range that n loops make */
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

/* Gives loops of a piece to one more dimension: most[n] is the maximum weight with n loops. */
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

/* Returns the lower bound that the weights prove for one choice of k. */
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
