/* SPDX-License-Identifier: BSD-3-Clause */
#include "bench/moves/race.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>

#include "bench/moves/bench_clock.h"
#include "bench/moves/evict.h"
#include "mli_api.h"

enum {
    AT_ONE_PLACE = 4,      /* rounds */
    SAMPLE_NS = 100000,    /* duration of the shortest sample, approximately */
    REPEAT_MAX = 8192,     /* most calls in a sample */
    TRIES = 4,             /* attempts to get a sample that is not interrupted */
    WARM_IN_ONE = 1 << 20, /* bytes that one run before the sample brings into the caches */
    HOPELESS = 4, /* a contender drops out if it is this many times slower than the first one */
    AGAIN_NS = 100 * 1000000 /* runs of up to this time are cheap enough to be measured twice */
};

static double memcpy_samples[RACE_ROUNDS * RACE_CONTENDERS];
static int memcpy_count;
static size_t memcpy_repeat;

/*
 * Untimed runs precede each sample, so that the caches are in the state that this contender
 * leaves, not in the state that the previous contender left. After stores that bypass the caches,
 * memcpy of some MiB reaches its usual speed in the third run only.
 */
static int warm_ups(const struct race *r)
{
    const size_t bytes = r->job->moved_bytes;

    return bytes >= RACE_COLD ? 0 : bytes > WARM_IN_ONE ? 2 : 1;
}

static void cool(const struct race *r)
{
    const struct job *j = r->job;
    const size_t read = j->src_bytes > j->moved_bytes ? j->src_bytes : j->moved_bytes;

    if (j->moved_bytes < RACE_COLD)
        return;
    evict(j->src, read);
    evict(j->dst, j->dst_bytes);
}

static void copy(const struct job *j)
{
    memcpy(j->dst, j->src, j->moved_bytes);
    __asm__ volatile("" ::: "memory");
}

static double memcpy_once(const struct race *r)
{
    cool(r);
    for (int i = 0; i < warm_ups(r); i++)
        copy(r->job);
    const double begin = clock_ns();

    for (size_t i = 0; i < memcpy_repeat; i++)
        copy(r->job);
    return (clock_ns() - begin) / (double)memcpy_repeat;
}

/* Sets the tuning and the processor mask of libmli for the samples of a contender. */
static void set_library(const struct contender *c)
{
    if (c->tuning)
        (void)mli_tuning_set(c->tuning);
    if (c->masked)
        mli_cpu_set_mask(c->mask);
}

static double contender_once(const struct race *r, struct contender *c)
{
    int failed = 0;

    cool(r);
    for (int i = 0; i < warm_ups(r); i++)
        failed |= c->peer->run(c->state);
    const double begin = clock_ns();

    for (size_t i = 0; i < c->repeat; i++)
        failed |= c->peer->run(c->state);
    const double ns = (clock_ns() - begin) / (double)c->repeat;

    if (failed) {
        c->outcome = RACE_FAILED;
        c->out = true;
    }
    return ns;
}

/* Returns the number of involuntary context switches of this thread. */
static long interruptions(void)
{
    struct rusage u;

    getrusage(RUSAGE_THREAD, &u);
    return u.ru_nivcsw;
}

/* Takes a sample of contender c; null: of memcpy. Repeats interrupted samples while there is time,
 * and returns the shortest if all were interrupted. */
static double sample(struct race *r, struct contender *c)
{
    double least = 0;

    if (c)
        set_library(c);
    for (int i = 0; i < TRIES; i++) {
        const long before = interruptions();
        const double ns = c ? contender_once(r, c) : memcpy_once(r);
        const bool whole = interruptions() == before;

        least = i == 0 || ns < least ? ns : least;
        if (whole)
            return ns;
        if (clock_ns() > r->end)
            break;
    }
    r->interrupted++;
    return least;
}

static size_t repeat_for(double ns)
{
    const double calls = SAMPLE_NS / (ns > 1 ? ns : 1) + 1;

    return calls > REPEAT_MAX ? REPEAT_MAX : (size_t)calls;
}

static double timed_once(const struct contender *c, int *failed)
{
    const double begin = clock_ns();

    *failed = c->peer->run(c->state);
    return clock_ns() - begin;
}

/* Runs a contender for the first time and checks every byte of the result. */
static void check(struct race *r, struct contender *c)
{
    int failed;

    memory_clear(r->job);
    set_library(c);
    c->once = timed_once(c, &failed);
    c->outcome = RACE_TIMED;
    if (failed)
        c->outcome = RACE_FAILED;
    else if (!c->unchecked && memory_differs(r->memory, r->job, &c->differs_at, c->values))
        c->outcome = RACE_DIFFERS;
    c->out = c->outcome != RACE_TIMED;
    if (!c->out && warm_ups(r))
        c->once = timed_once(c, &failed);
    c->repeat = repeat_for(c->once);
}

/* Measures a second time if a run is short, because the first run may have been disturbed. */
static bool hopeless(const struct race *r, struct contender *c)
{
    const double limit = fmax(2 * HOPELESS * r->at[0].once, SAMPLE_NS);
    int failed;

    if (c->once > limit && c->once < AGAIN_NS)
        c->once = fmin(c->once, timed_once(c, &failed));
    return c->once > limit;
}

/* Runs each contender once and drops the contenders that are much slower. */
static void qualify(struct race *r)
{
    memory_expect(r->memory, r->job, r->spoil);
    for (int i = 0; i < r->count; i++) {
        struct contender *c = &r->at[i];

        if (c->out)
            continue;
        check(r, c);
        if (!c->out && i > 0 && hopeless(r, c)) {
            c->out = true;
            c->ns = c->once;
        }
    }
    copy(r->job);
    const double begin = clock_ns();

    copy(r->job);
    memcpy_repeat = repeat_for(clock_ns() - begin);
}

static void enter(struct race *r, bool first)
{
    memory_place(r->memory, r->job);
    for (int i = 0; i < r->count; i++) {
        struct contender *c = &r->at[i];

        c->state = c->out ? NULL : c->peer->prepare(r->job);
        c->out = !c->state;
        if (first)
            c->outcome = RACE_CANNOT;
    }
    if (first)
        qualify(r);
}

static void leave(struct race *r)
{
    for (int i = 0; i < r->count; i++) {
        if (r->at[i].state)
            r->at[i].peer->release(r->at[i].state);
        r->at[i].state = NULL;
    }
}

/* Divides the samples of all contenders in a round by the median of the round's memcpy samples. */
static void one_round(struct race *r)
{
    struct contender *in[RACE_CONTENDERS];
    double units[RACE_CONTENDERS], ns[RACE_CONTENDERS];
    int count = 0;

    for (int i = 0; i < r->count; i++) {
        if (r->at[i].out)
            continue;
        in[count] = &r->at[i];
        units[count] = memcpy_samples[memcpy_count++] = sample(r, NULL);
        ns[count] = sample(r, in[count]);
        count++;
    }
    const double unit = figure_of(units, count).median;

    for (int i = 0; i < count; i++) {
        struct contender *c = in[i];

        c->ns = c->ratio.count == 0 || ns[i] < c->ns ? ns[i] : c->ns;
        c->samples[c->ratio.count++] = ns[i] / unit;
        if (c->ratio.count >= 2 && c->ns > HOPELESS * r->at[0].ns)
            c->out = true; /* a contender drops out only if it was slow twice: a single slow run may
                              be a disturbance */
    }
}

/* Returns the median ratio of two contenders over their common rounds. */
static double paired(const struct contender *c, const struct contender *first)
{
    static double ratios[RACE_ROUNDS];

    if (c->ratio.count == 0 || c->ratio.count != first->ratio.count)
        return 0;
    for (int i = 0; i < c->ratio.count; i++)
        ratios[i] = c->samples[i] / first->samples[i];
    return figure_of(ratios, c->ratio.count).median;
}

static void finish(struct race *r)
{
    for (int i = 0; i < r->count; i++)
        r->at[i].against_first = paired(&r->at[i], &r->at[0]);
    r->memcpy_ns = figure_of(memcpy_samples, memcpy_count).median;
    for (int i = 0; i < r->count; i++) {
        struct contender *c = &r->at[i];

        if (c->ratio.count > 0) {
            c->ratio = figure_of(c->samples, c->ratio.count);
        } else if (c->outcome == RACE_TIMED) {
            const double ratio = c->ns / r->memcpy_ns;

            c->ratio = (struct figure){ratio, ratio, ratio, 0};
        }
    }
}

void race_run(struct race *r)
{
    static double samples[RACE_CONTENDERS][RACE_ROUNDS];
    int round = 0;

    memcpy_count = 0;
    r->end = clock_ns() + r->budget;
    r->interrupted = 0;
    for (int i = 0; i < r->count; i++) {
        struct contender *c = &r->at[i];

        c->samples = samples[i];
        c->ratio = (struct figure){0};
        c->out = c->sits_out;
        c->state = NULL;
    }
    while (round < r->rounds_max && (round < r->rounds_min || clock_ns() < r->end)) {
        if (round % AT_ONE_PLACE == 0) {
            leave(r);
            enter(r, round == 0);
        }
        if (r->at[0].out)
            break;
        one_round(r);
        round++;
    }
    leave(r);
    finish(r);
}
