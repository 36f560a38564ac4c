/* SPDX-License-Identifier: BSD-3-Clause */
#include "target/tile/tile_choice.h"

#include <stdlib.h>

#include "target/tile/tile_estimate.h"

struct chooser {
    const struct tile_estimate *estimate;
    const struct tile_board *board;
    struct fault *fault;
};

/* A plan of a list, and its time by samples. */
struct sampled {
    const struct tile_plan *plan;
    profile_cost time;
};

/* Sets *time to the time of a plan by the cost of one transfer of each operand. */
static int sample(const struct chooser *c, const struct tile_plan *plan, profile_cost *time)
{
    struct tile_moving moving[TILE_OPERANDS] = {0};
    struct tile_loops loops[TILE_OPERANDS] = {0};

    for (uint32_t i = 0; i < plan->layer->operands; i++) {
        profile_cost total = 0, data = 0, start;
        uint64_t bytes = 1;
        double transfers;

        loops[i] = tile_loops_of(plan, i);
        if (tile_time_sample(plan, c->board, i, &total, &data, &bytes, c->fault) < 0)
            return -1;
        transfers = (double)plan->traffic[i] / (double)bytes;
        start = c->estimate->start < total ? c->estimate->start : total;
        moving[i].time =
            (double)loops[i].changes * (double)start + transfers * (double)(total - start);
        moving[i].data = transfers * (double)data;
    }
    *time = tile_estimate_moving(c->estimate, plan, loops, moving);
    return 0;
}

/* Returns about how many jobs the plan has. */
static uint64_t jobs_of(const struct tile_plan *plan)
{
    uint64_t jobs = plan->steps;

    for (uint32_t i = 0; i < plan->layer->operands; i++)
        jobs = tile_plus(jobs, tile_loops_of(plan, i).changes);
    return jobs;
}

/* Orders plans by rounded time, jobs, and time. */
static int by_time(const void *a, const void *b)
{
    const struct sampled *x = a, *y = b;
    const uint64_t left[] = {tile_estimate_round(x->time), jobs_of(x->plan), x->time};
    const uint64_t right[] = {tile_estimate_round(y->time), jobs_of(y->plan), y->time};

    for (size_t i = 0; i < sizeof left / sizeof left[0]; i++) {
        if (left[i] != right[i])
            return left[i] < right[i] ? -1 : 1;
    }
    return x->plan < y->plan ? -1 : x->plan > y->plan;
}

/* Sets *time to the end of the schedule of a plan. */
static int schedule(const struct chooser *c, const struct tile_plan *plan, profile_cost *time)
{
    struct tile_times times = {0};
    struct tile_jobs jobs;
    int status = tile_jobs_init(&jobs, plan, TILE_FIRMWARE, UINT32_MAX);

    if (status < 0)
        fault_no_memory(c->fault);
    if (status == 0)
        status = tile_times_init(&times, &jobs, c->board, c->fault);
    *time = times.end;
    tile_times_finish(&times);
    tile_jobs_finish(&jobs);
    return status;
}

/* Returns whether a timed plan is better: a shorter time, or less traffic in the same time. */
static bool is_better(const struct tile_timed *best, const struct tile_plan *plan,
                      profile_cost time)
{
    if (time != best->time)
        return time < best->time;
    return plan->total < best->plan.total;
}

/* Finds the plan with the shortest time of a list that is not empty. */
static int choose(const struct chooser *c, const struct tile_list *list, struct tile_timed *best)
{
    struct sampled sampled[TILE_CANDIDATES];
    uint64_t jobs = 0;

    for (uint32_t i = 0; i < list->count; i++) {
        sampled[i].plan = tile_list_at(list, i);
        if (sample(c, sampled[i].plan, &sampled[i].time) < 0)
            return -1;
    }
    qsort(sampled, list->count, sizeof sampled[0], by_time);
    *best = (struct tile_timed){.plan = *sampled[0].plan, .time = sampled[0].time};
    for (uint32_t i = 0; i < list->count; i++) {
        const uint64_t more = jobs_of(sampled[i].plan);
        profile_cost time;

        /* The first plan counts even if it has many jobs; times of two kinds do not compare. */
        if (i == 0 && more > CHOICE_JOBS_ONE)
            return 0;
        if (i > 0 && jobs + more > CHOICE_JOBS)
            continue;
        jobs += more;
        if (schedule(c, sampled[i].plan, &time) < 0)
            return -1;
        if (i > 0 && !is_better(best, sampled[i].plan, time))
            continue;
        *best = (struct tile_timed){.plan = *sampled[i].plan, .time = time, .scheduled = true};
    }
    return 0;
}

static int choose_of(const struct chooser *c, enum tile_objective objective,
                     const struct tile_candidates *found, struct tile_choice *choice)
{
    struct tile_timed least, near, fast;

    if (choose(c, &found->least, &least) < 0 || choose(c, &found->near, &near) < 0 ||
        choose(c, &found->fast, &fast) < 0)
        return -1;
    if (near.time <= tile_plus(fast.time, fast.time / 100 * CHOICE_SLOWER))
        fast = near;
    if (objective == TILE_LEAST_TRAFFIC)
        *choice = (struct tile_choice){near, fast};
    else
        *choice = (struct tile_choice){fast, least};
    return 0;
}

int tile_choose(struct tile_choice *choice, enum tile_objective objective,
                const struct tile_layer *layer, const struct tile_memory *memory,
                const struct tile_estimate *estimate, const struct tile_board *board,
                struct fault *fault)
{
    const struct chooser c = {estimate, board, fault};
    struct tile_candidates *found = calloc(1, sizeof *found);
    int status;

    if (!found)
        return fault_no_memory(fault);
    status = tile_candidates_find(found, layer, memory, estimate, true, fault);
    if (status == 0)
        status = choose_of(&c, objective, found, choice);
    free(found);
    return status;
}
