/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Compares the order of jobs with a model of the scheduler, for random users, connections,
 * priorities, sizes, times, removed and backfilled jobs.
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "daemon/job/scheduler.h"
#include "tests/support/rng.h"
#include "tests/support/scale.h"
#include "tests/support/unit.h"
#include "tests/unit/daemon/scheduler_model.h"

enum { CASES = 2000, STEPS = 300, QUANTUM = 10000 };

static uint64_t seed = 1, current; /* `current` is the index of the current case */

/*
 * Numbers of events in all cases: a run in which one kind of event never occurs would prove
 * nothing.
 */
static struct {
    uint64_t taken, backfilled, removed, moved_up;
} seen;

struct scene {
    struct rng rng;
    struct scheduler scheduler;
    struct share shares[MODEL_USERS];
    struct lanes lanes[MODEL_FLOWS];
    struct queued jobs[MODEL_JOBS];
    struct model model;
    int max[MODEL_USERS]; /* maximum priority of each user */
    int sizes;            /* number of job sizes to choose from */
    uint64_t now;
};

static void begin(struct scene *s, uint64_t index)
{
    memset(s, 0xA5, sizeof(*s)); /* the initialising functions must set every member */
    s->model = (struct model){.quantum = QUANTUM};
    s->rng = rng_for_case(seed, index);
    s->model.ageing = rng_chance(&s->rng, 30) ? 0 : 1000;
    scheduler_init(&s->scheduler, QUANTUM, s->model.ageing);
    s->sizes = (int)rng_between(&s->rng, 1, 6);
    s->now = 1;
    for (int user = 0; user < MODEL_USERS; user++) {
        share_init(&s->shares[user]);
        assert_int_equal(s->shares[user].weight, 1);
        s->model.weights[user] = rng_between(&s->rng, 1, 3);
        s->shares[user].weight = (uint32_t)s->model.weights[user];
        s->max[user] = (int)rng_below(&s->rng, 3) - 1;
    }
    for (int flow = 0; flow < MODEL_FLOWS; flow++)
        lanes_init(&s->lanes[flow], &s->shares[flow % MODEL_USERS]);
    for (int job = 0; job < MODEL_JOBS; job++)
        queued_init(&s->jobs[job]);
}

static void push(struct scene *s)
{
    static const uint64_t sizes[] = {20000, 1, QUANTUM + 1, 9999, 70000, 400000};
    const int job = (int)rng_below(&s->rng, MODEL_JOBS);
    const int flow = (int)rng_below(&s->rng, MODEL_FLOWS);
    const int priority = (int)rng_below(&s->rng, 3) - 1, max = s->max[flow % MODEL_USERS];
    const uint64_t bytes = sizes[rng_below(&s->rng, (uint32_t)s->sizes)];

    if (s->model.jobs[job].queued)
        return;
    scheduler_push(&s->scheduler, &s->lanes[flow], &s->jobs[job], priority, max, bytes, s->now);
    model_push(&s->model, job, flow, (priority < max ? priority : max) + 1, priority + 1,
               bytes < LANE_COST_MIN ? LANE_COST_MIN : bytes, s->now);
}

static void remove_one(struct scene *s)
{
    const int job = (int)rng_below(&s->rng, MODEL_JOBS);

    scheduler_remove(&s->scheduler, &s->jobs[job]); /* does nothing to a job that is not queued */
    if (s->model.jobs[job].queued) {
        model_remove(&s->model, job);
        seen.removed++;
    }
}

static int number_of(const struct scene *s, const struct queued *queued)
{
    return queued ? (int)(queued - s->jobs) : -1;
}

static bool fits(int job)
{
    return job % 3 == 0;
}

static bool queued_fits(struct queued *queued, const void *context)
{
    return fits(number_of(context, queued));
}

static int take(struct scene *s)
{
    struct queued *queued;

    do
        queued = scheduler_take(&s->scheduler, s->now);
    while (s->scheduler.undecided);
    return number_of(s, queued);
}

static void expect(const char *what, int got, int expected)
{
    if (got != expected)
        fail_msg("case %" PRIu64 ": %s: job %d, expected job %d", current, what, got, expected);
}

static void compare_queues(const struct scene *s)
{
    uint32_t lengths[LANE_PRIORITIES] = {0};

    for (int job = 0; job < MODEL_JOBS; job++) {
        const struct model_job *j = &s->model.jobs[job];

        assert_int_equal(s->jobs[job].lane != NULL, j->queued);
        if (!j->queued)
            continue;
        assert_int_equal(s->jobs[job].class, j->class);
        assert_int_equal(s->jobs[job].priority, j->priority);
        assert_int_equal(s->jobs[job].cost, j->cost);
        lengths[j->class]++;
    }
    assert_memory_equal(s->scheduler.lengths, lengths, sizeof(lengths));
    assert_int_equal(s->scheduler.length, lengths[0] + lengths[1] + lengths[2]);
}

static void step(struct scene *s)
{
    const uint32_t dice = rng_below(&s->rng, 100);
    int job;

    s->now += rng_below(&s->rng, 120);
    if (dice < 50) {
        push(s);
    } else if (dice < 55) {
        remove_one(s);
    } else if (dice < 65) {
        job = number_of(s, scheduler_backfill(&s->scheduler, queued_fits, s, s->now));
        expect("backfill", job, model_backfill(&s->model, fits, SCHEDULER_BACKFILL_USERS, s->now));
        seen.backfilled += job >= 0;
    } else {
        job = take(s);
        expect("take", job, model_take(&s->model, s->now));
        seen.taken += job >= 0;
    }
    compare_queues(s);
}

static void test_the_order_is_the_models(void **state)
{
    static struct scene scene;

    (void)state;
    for (uint64_t i = 0; i < scaled(CASES); i++) {
        current = i;
        begin(&scene, i);
        for (int n = 0; n < STEPS; n++)
            step(&scene);
        seen.moved_up += scene.model.moved_up;
    }
    assert_true(seen.taken > 1000 && seen.backfilled > 100 && seen.removed > 100);
    assert_true(seen.moved_up > 1000);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_the_order_is_the_models),
    };
    const char *text = getenv("MLI_TEST_SEED");

    if (text)
        seed = strtoull(text, NULL, 10);
    print_message("MLI_TEST_SEED=%" PRIu64 "\n", seed);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
