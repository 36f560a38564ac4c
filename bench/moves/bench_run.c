/* SPDX-License-Identifier: BSD-3-Clause */
#include "bench/moves/bench_run.h"

#include <stdio.h>
#include <string.h>

#include "bench/moves/bench_plan.h"
#include "bench/moves/lines.h"
#include "bench/moves/ours.h"
#include "bench/moves/traffic.h"
#include "mli_api.h"

/* The size from which moves are streamed by default: mli_cpu_set_stream_min(). */
enum { STREAMED = 32 * 1024 * 1024 };

/* A tuning that takes more than TUNED_AGAIN times the time of the defaults is measured in up to
 * TUNED_RACES further races of TUNED_ROUNDS rounds. */
#define TUNED_AGAIN 1.02
enum { TUNED_RACES = 3, TUNED_ROUNDS = 21 };

/* Returns the seed of a cell, so that its data does not depend on the cells measured before. */
static uint64_t seed_of(const struct options *o, const struct result *r)
{
    const uint64_t cell = ((uint64_t)r->number << 40) | ((uint64_t)r->elem << 32) | r->kib;
    const uint64_t mixed = (o->seed + 1) * 0x9E3779B97F4A7C15u ^ cell * 0xBF58476D1CE4E5B9u;

    return mixed ? mixed : 1;
}

static int judge(const struct result *r, const struct contender *c)
{
    char name[RESULT_NAME];

    if (c->outcome == RACE_TIMED)
        return 0;
    plan_progress_end();
    if (c->outcome == RACE_DIFFERS)
        fprintf(stderr, "bench-moves: WRONG: %s: byte %lld is %02x, expected %02x\n",
                result_name(r, name), (long long)c->differs_at, c->values[0], c->values[1]);
    else
        fprintf(stderr, "bench-moves: REFUSED: %s: %s\n", result_name(r, name), mli_last_error());
    return 1;
}

/* A quick run measures sizes with cold caches without the slow contenders: those that were far
 * behind at the largest size with warm caches. They would take most of the time. */
static void pick_peers(const struct options *o, const struct result_list *list,
                       const struct result *r, struct race *race)
{
    const struct result *before = NULL;

    for (int s = 0; o->quick && race->job->moved_bytes >= RACE_COLD && s < o->kib_count; s++) {
        const struct result *other = result_find(list, r->number, r->elem, o->kib[s]);

        if (other && other->moved_bytes < RACE_COLD && (!before || other->kib > before->kib))
            before = other;
    }
    const int best = before ? result_best(list, before) : -1;

    for (int i = 0; best >= 0 && i < list->peers.count; i++)
        race->at[1 + i].sits_out = before->peer[i].median > 3 * before->peer[best].median;
}

/* Adds the contender that only accesses the cache lines (lines.h). Its best order is searched
 * before the race, with the job at another place in memory. */
static void add_lines(struct memory *memory, struct result *r, struct race *race)
{
    struct contender *last = &race->at[race->count++];

    memory_place(memory, race->job);
    lines_choose(race->job, race->job->moved_bytes >= RACE_COLD);
    lines_way_name(r->lines_way);
    last->peer = &lines_peer;
    last->unchecked = true;
}

/* Adds a second contender for libmli, with the calibrated tuning; the first contender has the
 * defaults. */
static struct contender *add_tuned(struct race *race, const struct tuned *tuned)
{
    struct contender *c = &race->at[race->count++];

    race->at[0].tuning = &tuned->defaults;
    c->peer = &ours_peer;
    c->tuning = &tuned->values;
    return c;
}

/*
 * Compares the times with the tuning and with the defaults, measured in turns. A high ratio is
 * often due to a disturbance: the two tunings are then measured again, without the peers and with
 * more rounds, and the last result counts.
 */
static void compare(struct race *race, const struct contender *tuned, struct result *r)
{
    r->tuned = tuned->ratio;
    r->tuned_ratio = tuned->against_first;
    for (int i = 1; i < race->count; i++)
        race->at[i].sits_out = &race->at[i] != tuned;
    for (int i = 0; i < TUNED_RACES && r->tuned_ratio > TUNED_AGAIN; i++) {
        race->rounds_min = race->rounds_max = TUNED_ROUNDS;
        race_run(race);
        r->tuned_again = true;
        if (tuned->against_first <= 0)
            break;
        r->tuned = tuned->ratio;
        r->tuned_ratio = tuned->against_first;
    }
}

static int cell(const struct options *o, const struct tuned *tuned, struct memory *memory,
                const struct result_list *list, struct result *r)
{
    const struct peer_list *peers = &list->peers;
    struct race race = {.memory = memory, .spoil = o->spoil, .count = 1 + peers->count};
    struct contender *calibrated = NULL;
    struct job job;

    job_init(&job, r->kind, r->elem, (size_t)r->kib * 1024);
    memory->random = r->seed = seed_of(o, r);
    race.job = &job;
    plan_rounds(o, &race, job.moved_bytes, result_listed(r) ? PLAN_LISTED : PLAN_NEIGHBOUR);
    race.at[0].peer = &ours_peer;
    for (int i = 0; i < peers->count; i++)
        race.at[1 + i].peer = peers->at[i];
    pick_peers(o, list, r, &race);
    if (tuned)
        calibrated = add_tuned(&race, tuned);
    if (o->lines)
        add_lines(memory, r, &race);
    race_run(&race);
    r->moved_bytes = job.moved_bytes;
    r->bound = traffic_bound(r->kind, r->elem, job.moved_bytes, job.moved_bytes >= STREAMED);
    r->memcpy_ns = race.memcpy_ns;
    r->interrupted = race.interrupted;
    r->ours_ns = race.at[0].ns;
    r->ours = race.at[0].ratio;
    r->outcome = race.at[0].outcome;
    for (int i = 0; i < peers->count; i++) {
        r->peer_outcome[i] = race.at[1 + i].outcome;
        r->peer[i] = race.at[1 + i].ratio;
    }
    if (o->lines)
        r->lines = race.at[race.count - 1].ratio;
    if (judge(r, &race.at[0]))
        return 1;
    if (!calibrated)
        return 0;
    if (judge(r, calibrated))
        return 1;
    compare(&race, calibrated, r);
    (void)mli_tuning_set(&tuned->defaults);
    return 0;
}

int run_size(const struct options *o, const struct tuned *tuned, const struct case_list *cases,
             struct memory *memory, uint32_t kib, struct result_list *list)
{
    int wrong = 0;

    for (int i = 0; i < cases->count; i++) {
        for (int e = 0; plan_wants(o, &cases->at[i]) && e < o->elem_count; e++) {
            struct result *r = &list->at[list->count++];

            memset(r, 0, sizeof(*r));
            r->kind = &cases->at[i];
            r->number = i;
            r->elem = o->elem[e];
            r->kib = kib;
            plan_progress(result_listed(r) ? "cases" : "neighbours", r->kind->name, r->elem, kib);
            wrong += cell(o, tuned, memory, list, r);
        }
    }
    plan_progress_end();
    return wrong;
}
