/* SPDX-License-Identifier: BSD-3-Clause */
/* Tests the order of jobs: shares of users and connections, classes, priorities, ageing. */
#include "daemon/job/scheduler.h"

#include <stdlib.h>
#include <time.h>

#include "tests/support/rng.h"
#include "tests/support/unit.h"

enum { QUANTUM = 10000, AGEING = 1000, LANES_MAX = 50 };

struct job {
    struct queued queued;
    int flow;
    uint64_t number;
    uint64_t pushed; /* sum of the times of all calls of scheduler_push(); only some tests use it */
};

static struct scheduler scheduler;
static struct share shares[LANES_MAX]; /* users */
static struct lanes lanes[LANES_MAX];  /* connections; several may belong to one user */
static int max_priority;               /* maximum priority of all users */

static int setup(void **state)
{
    (void)state;
    scheduler_init(&scheduler, QUANTUM, AGEING);
    max_priority = 1;
    for (int i = 0; i < LANES_MAX; i++) {
        share_init(&shares[i]);
        lanes_init(&lanes[i], &shares[i]);
    }
    return 0;
}

static struct job *push(int flow, int priority, uint64_t bytes, uint64_t now)
{
    static uint64_t number;
    struct job *job = calloc(1, sizeof *job);

    assert_non_null(job);
    queued_init(&job->queued);
    job->flow = flow;
    job->number = ++number;
    scheduler_push(&scheduler, &lanes[flow], &job->queued, priority, max_priority, bytes, now);
    return job;
}

static struct job *take(uint64_t now)
{
    struct queued *queued;

    do
        queued = scheduler_take(&scheduler, now);
    while (scheduler.undecided);
    return queued ? LINK_OWNER(queued, struct job, queued) : NULL;
}

static void assert_next(struct job *job, uint64_t now)
{
    assert_ptr_equal(take(now), job);
    free(job);
}

static void test_nothing(void **state)
{
    (void)state;
    assert_null(take(0));
    assert_int_equal(scheduler.length, 0);
}

static void test_one_lane_keeps_its_order(void **state)
{
    struct job *jobs[20];

    (void)state;
    for (int i = 0; i < 20; i++)
        jobs[i] = push(0, 0, i % 3 ? 1 : 1000 * 1000 * 1000, 0);
    assert_int_equal(scheduler.lengths[1], 20);
    for (int i = 0; i < 20; i++)
        assert_next(jobs[i], 0);
    assert_null(take(0));
    assert_int_equal(scheduler.length, 0);
}

static void test_higher_priorities_first(void **state)
{
    struct job *low, *normal, *high;

    (void)state;
    low = push(0, -1, 1, 0);
    normal = push(0, 0, 1, 0);
    high = push(1, 1, 1, 0);
    assert_next(high, 1);
    assert_next(normal, 1);
    assert_next(low, 1);
}

/* The bytes that each flow started while all flows had jobs. */
static void share(int flows, const uint64_t *sizes, uint64_t *got, uint64_t rounds)
{
    for (int i = 0; i < flows; i++) {
        got[i] = 0;
        for (int k = 0; k < 4; k++)
            push(i, 0, sizes[i], 0);
    }
    for (uint64_t i = 0; i < rounds; i++) {
        struct job *job = take(0);

        got[job->flow] += job->queued.cost;
        push(job->flow, 0, sizes[job->flow], 0);
        free(job);
    }
    for (struct job *job; (job = take(0));)
        free(job);
}

static void test_equal_bytes_for_all_job_sizes(void **state)
{
    const uint64_t sizes[] = {4096, 1000 * 1000, 50 * 1000, 1, 7 * QUANTUM};
    uint64_t got[COUNT_OF(sizes)];

    (void)state;
    share(COUNT_OF(sizes), sizes, got, 20000);
    for (size_t i = 1; i < COUNT_OF(sizes); i++) {
        const uint64_t more = got[i] > got[0] ? got[i] - got[0] : got[0] - got[i];

        /*
         * By the theory of deficit round robin, flows differ by at most the size of a job plus two
         * quanta.
         */
        assert_true(more <= 1000 * 1000 + 2 * QUANTUM);
    }
}

static void test_few_jobs_do_not_wait_for_many(void **state)
{
    struct job *few;
    int before = 0;

    (void)state;
    for (int i = 0; i < 10000; i++)
        push(0, 0, 4096, 0);
    few = push(1, 0, 4096, 0);
    for (struct job *job; (job = take(0)) != few; before++)
        free(job);
    free(few);
    assert_true(before <= QUANTUM / 4096 + 1);
    for (struct job *job; (job = take(0));)
        free(job);
}

static void test_pauses_save_no_deficit(void **state)
{
    int mine = 0;

    (void)state;
    for (int i = 0; i < 100; i++) { /* flow 0 has only one job at a time */
        push(0, 0, 1, 0);
        free(take(0));
    }
    assert_int_equal(lanes[0].of[1][1].turn.deficit, 0);
    assert_int_equal(shares[0].portions[1].turn.deficit, 0);
    for (int i = 0; i < 100; i++) {
        push(0, 0, 4096, 0);
        push(1, 0, 4096, 0);
    }
    for (int i = 0; i < 20; i++) {
        struct job *job = take(0);

        mine += job->flow == 0;
        free(job);
    }
    assert_in_range(mine, 8, 12);
    for (struct job *job; (job = take(0));)
        free(job);
}

static void test_no_job_waits_for_ever(void **state)
{
    struct job *low = push(0, -1, 4096, 0);
    uint64_t now = 0;

    (void)state;
    for (;; now += 10) { /* a job of high priority is always queued */
        struct job *job;

        push(1, 1, 4096, now);
        job = take(now);
        assert_non_null(job);
        if (job == low)
            break;
        free(job);
        assert_true(now < 3 * AGEING);
    }
    free(low);
    assert_true(now >= 2 * AGEING);
    for (struct job *job; (job = take(now));)
        free(job);
}

/*
 * A job does not age while it waits for other jobs of its own flow, so a flow with many jobs has no
 * advantage.
 */
static void test_only_the_first_job_ages(void **state)
{
    uint64_t got[2] = {0};

    (void)state;
    for (int i = 0; i < 400; i++) {
        push(0, 0, 1000 * 1000, 0);
        push(1, 0, 50 * 1000, 0);
    }
    /* times that are long enough for ageing */
    for (uint64_t now = 0; now < 300 * AGEING; now += AGEING) {
        struct job *job = take(now);

        got[job->flow] += job->queued.cost;
        push(job->flow, 0, job->queued.cost, now);
        free(job);
    }
    assert_true(got[0] < 2 * got[1] + 2 * 1000 * 1000);
    for (struct job *job; (job = take(0));)
        free(job);
}

/*
 * One call moves up only a limited number of jobs. The next calls move up the remaining jobs, each
 * job once.
 */
static void test_ageing_of_many_jobs_takes_several_calls(void **state)
{
    enum { MANY = 1000 };
    static struct share many_shares[MANY];
    static struct lanes many_lanes[MANY];
    static struct queued many[MANY];

    (void)state;
    for (int i = 0; i < MANY; i++) {
        share_init(&many_shares[i]);
        lanes_init(&many_lanes[i], &many_shares[i]);
        queued_init(&many[i]);
        scheduler_push(&scheduler, &many_lanes[i], &many[i], -1, 1, 1, 0);
    }
    assert_non_null(scheduler_take(&scheduler, AGEING));
    assert_in_range(scheduler.lengths[0], MANY - SCHEDULER_AGED_MAX, MANY - 2);
    /* Twice as many calls, because a job moves up first a priority, then a class. */
    for (int i = 0; i < 2 * MANY / SCHEDULER_AGED_MAX; i++)
        assert_non_null(scheduler_take(&scheduler, AGEING));
    assert_int_equal(scheduler.lengths[0], 0);
    assert_int_equal(scheduler.lengths[2], 0);
    while (scheduler_take(&scheduler, AGEING))
        ;
}

/* If the scheduler must pass over thousands of users, one choice takes several calls. */
static void test_choice_among_many_users_takes_several_calls(void **state)
{
    enum { MANY = 4096, CHEAP = 100 };
    static struct share many_shares[MANY];
    static struct lanes many_lanes[MANY];
    static struct queued many[MANY];
    struct queued *queued;
    int calls = 0;

    (void)state;
    for (int i = 0; i < MANY; i++) {
        share_init(&many_shares[i]);
        lanes_init(&many_lanes[i], &many_shares[i]);
        queued_init(&many[i]);
        scheduler_push(&scheduler, &many_lanes[i], &many[i], 0, 1,
                       i == CHEAP ? 1000 * QUANTUM : 1001 * QUANTUM, 0);
    }
    do {
        queued = scheduler_take(&scheduler, 0);
        calls++;
        assert_true(queued ? !scheduler.undecided : scheduler.undecided);
    } while (!queued);
    assert_ptr_equal(queued, &many[CHEAP]);
    assert_in_range(calls, MANY / SCHEDULER_STEPS_MAX, 5 * MANY / SCHEDULER_STEPS_MAX);
    for (int i = 0; i < MANY - 1; i++) /* each other user can start one job in the next round */
        do
            queued = scheduler_take(&scheduler, 0);
        while (scheduler.undecided);
    assert_non_null(queued);
    assert_null(take(0));
}

static void test_ageing_can_be_off(void **state)
{
    struct job *low = push(0, -1, 1, 0);

    (void)state;
    scheduler.ageing_ns = 0;
    assert_next(push(1, 1, 1, UINT64_MAX - 1), UINT64_MAX);
    assert_int_equal(scheduler.lengths[0], 1);
    assert_next(low, UINT64_MAX);
}

static void test_clock_that_is_behind(void **state)
{
    struct job *job = push(0, -1, 1, 5000);

    (void)state;
    assert_ptr_equal(take(4000), job); /* a job does not age beyond the top class */
    assert_int_equal(job->queued.priority, 0);
    free(job);
}

static void drop_all(uint64_t now)
{
    for (struct job *job; (job = take(now));)
        free(job);
}

/*
 * Takes jobs and queues a new one for each; adds up the bytes of flows [first, last) and of all
 * other flows.
 */
static void serve(int count, int first, int last, uint64_t now, uint64_t *some, uint64_t *others)
{
    *some = *others = 0;
    for (int i = 0; i < count; i++) {
        struct job *job = take(now);

        *(job->flow >= first && job->flow < last ? some : others) += job->queued.cost;
        push(job->flow, 0, job->queued.cost, now);
        free(job);
    }
}

static void test_many_connections_of_one_user(void **state)
{
    uint64_t crowd, one;

    (void)state;
    for (int i = 0; i < 40; i++) {
        lanes_init(&lanes[i], &shares[0]);
        for (int k = 0; k < 8; k++)
            push(i, 0, 4096, 0);
    }
    for (int k = 0; k < 8; k++)
        push(40, 0, 4096, 0);
    serve(2000, 0, 40, 0, &crowd, &one);
    assert_in_range(crowd, one * 95 / 100, one * 105 / 100);
    drop_all(0);
}

/* The connections of a user get equally many bytes, whatever the sizes of their jobs. */
static void test_connections_of_one_user_share_evenly(void **state)
{
    const uint64_t sizes[] = {4096, 100 * 1000, 30 * 1000};
    uint64_t got[COUNT_OF(sizes)], most;

    (void)state;
    for (size_t i = 0; i < COUNT_OF(sizes); i++)
        lanes_init(&lanes[i], &shares[0]);
    share(COUNT_OF(sizes), sizes, got, 10000);
    most = got[0];
    for (size_t i = 0; i < COUNT_OF(sizes); i++)
        most = got[i] > most ? got[i] : most;
    for (size_t i = 0; i < COUNT_OF(sizes); i++)
        assert_true(most - got[i] <= 100 * 1000 + 2 * QUANTUM);
}

/* Priorities above the user's maximum only order the jobs of that user. */
static void test_priority_above_the_maximum(void **state)
{
    struct job *own, *other, *high;

    (void)state;
    max_priority = 0;
    other = push(1, 0, QUANTUM, 0);
    own = push(0, 0, QUANTUM, 0);
    high = push(0, 1, QUANTUM, 0);
    assert_next(other, 0);
    assert_next(high, 0);
    assert_next(own, 0);
}

static void test_a_flood_of_high_priority(void **state)
{
    uint64_t got[2] = {0};

    (void)state;
    max_priority = 0;
    for (int i = 0; i < 100; i++) {
        push(0, 1, 4096, 0);
        push(1, 0, 4096, 0);
    }
    for (int i = 0; i < 2000; i++) {
        struct job *job = take(0);

        got[job->flow] += job->queued.cost;
        push(job->flow, job->flow == 0, job->queued.cost, 0);
        free(job);
    }
    assert_in_range(got[1], got[0] * 95 / 100, got[0] * 105 / 100);
    drop_all(0);
}

/* Ageing also works within one user, and does not give the user more bytes. */
static void test_own_jobs_of_low_priority(void **state)
{
    struct job *low;
    uint64_t now = 0, others = 0, mine = 0;

    (void)state;
    max_priority = 0;
    low = push(0, 0, 4096, now);
    for (bool served = false; now < 10 * AGEING; now += 10) {
        struct job *job;

        push(0, 1, 4096, now);
        push(1, 0, 4096, now);
        job = take(now);
        assert_non_null(job);
        served = served || job == low;
        *(job->flow == 1 ? &others : &mine) += 1;
        free(job);
        assert_true(served || now <= 4 * AGEING);
    }
    assert_in_range(others, mine * 9 / 10, mine * 11 / 10);
    drop_all(now);
}

/*
 * A job may have waited long only because other connections of the same user had their turns. Such
 * a job must not overtake jobs of other users.
 */
static void test_many_connections_do_not_speed_up_ageing(void **state)
{
    uint64_t now = 0, crowd = 0, one = 0;

    (void)state;
    for (int i = 0; i < 41; i++) {
        if (i < 40)
            lanes_init(&lanes[i], &shares[0]);
        for (int k = 0; k < 8; k++)
            push(i, 0, QUANTUM, now);
    }
    /* each of the 40 connections gets a turn once in a time of 20 * AGEING */
    for (int i = 0; i < 1000; i++, now += AGEING / 4) {
        struct job *job = take(now);

        *(job->flow < 40 ? &crowd : &one) += job->queued.cost;
        push(job->flow, 0, job->queued.cost, now);
        free(job);
    }
    assert_in_range(one, crowd * 9 / 10, crowd * 11 / 10);
    drop_all(now);
}

static uint64_t seed(void)
{
    const char *given = getenv("MLI_SEED");
    const uint64_t number = given ? strtoull(given, NULL, 10) : (uint64_t)time(NULL);

    print_message("MLI_SEED=%llu\n", (unsigned long long)number);
    return number;
}

/*
 * Compares the scheduler with a list of the queued jobs: no job is lost or served twice, and the
 * numbers of jobs are right.
 */
static void test_at_random(void **state)
{
    struct rng rng = {seed()};
    struct job *queued[512];
    size_t count = 0;

    (void)state;
    for (int i = 0; i < LANES_MAX; i++)
        lanes_init(&lanes[i], &shares[rng_below(&rng, 10)]);
    for (uint64_t now = 0; now < 200 * 1000; now += rng_below(&rng, 20)) {
        const uint64_t what = rng_below(&rng, 5);

        if (what < 2 && count < COUNT_OF(queued)) {
            max_priority = (int)rng_below(&rng, 3) - 1;
            queued[count++] = push((int)rng_below(&rng, LANES_MAX), (int)rng_below(&rng, 3) - 1,
                                   UINT64_C(1) << rng_below(&rng, 34), now);
        } else if (what == 2 && count > 0) {
            const size_t which = rng_below(&rng, (uint32_t)count);

            scheduler_remove(&scheduler, &queued[which]->queued);
            scheduler_remove(&scheduler, &queued[which]->queued); /* no effect */
            free(queued[which]);
            queued[which] = queued[--count];
        } else {
            struct job *job = take(now);
            size_t at = 0;

            assert_int_equal(job != NULL, count > 0);
            while (job && queued[at] != job)
                assert_true(++at < count);
            if (job)
                queued[at] = queued[--count];
            free(job);
        }
        assert_int_equal(scheduler.length, count);
        assert_int_equal(scheduler.lengths[0] + scheduler.lengths[1] + scheduler.lengths[2], count);
    }
    while (count > 0)
        free(queued[--count]);
}

/*
 * One user always has queued jobs of high priority. Jobs of all other users, connections and
 * priorities still start after ageing has moved them up twice.
 */
static void test_no_starvation_at_random(void **state)
{
    enum { STEP = 10, USERS = 5 };
    struct rng rng = {seed()};

    (void)state;
    for (int i = 0; i < LANES_MAX; i++)
        lanes_init(&lanes[i], &shares[i % (USERS + 1)]);
    for (uint64_t now = 0; now < 500 * AGEING; now += STEP) {
        struct job *job;

        max_priority = 1;
        push((USERS + 1) * (int)rng_below(&rng, 8), 1, QUANTUM, now);
        max_priority = 0;
        for (int user = 1; user <= USERS; user++) {
            const int flow = user + (USERS + 1) * (int)rng_below(&rng, 8);

            if (rng_below(&rng, 300) == 0)
                push(flow, (int)rng_below(&rng, 3) - 1, 1 + rng_below(&rng, QUANTUM), now)->pushed =
                    now;
        }
        job = take(now);
        assert_non_null(job);
        if (job->flow % (USERS + 1) != 0)
            assert_true(now - job->pushed <= 20 * AGEING);
        free(job);
    }
    /* No job that is still queued has waited longer than 20 * AGEING. */
    for (struct job *job; (job = take(500 * AGEING));) {
        if (job->flow % (USERS + 1) != 0)
            assert_true(500 * AGEING - job->pushed <= 20 * AGEING);
        free(job);
    }
}

/*
 * Users have random weights, connections and sizes of jobs, and get bytes in proportion to their
 * weights.
 */
static void test_weights_at_random(void **state)
{
    enum { USERS = 6, TAKES = 400 * 1000 };
    struct rng rng = {seed()};
    const uint64_t size_max = 3 * QUANTUM;
    uint64_t got[USERS] = {0};
    int owner[LANES_MAX];

    (void)state;
    for (int i = 0; i < USERS; i++)
        shares[i].weight = 1 + rng_below(&rng, 20);
    for (int i = 0; i < LANES_MAX; i++) {
        owner[i] = i < USERS ? i : (int)rng_below(&rng, USERS);
        lanes_init(&lanes[i], &shares[owner[i]]);
        push(i, 0, rng_below(&rng, (uint32_t)size_max), 0);
        push(i, 0, rng_below(&rng, (uint32_t)size_max), 0);
    }
    for (int i = 0; i < TAKES; i++) {
        struct job *job = take(0);

        got[owner[job->flow]] += job->queued.cost;
        push(job->flow, (int)rng_below(&rng, 2), rng_below(&rng, (uint32_t)size_max), 0);
        free(job);
    }
    for (int i = 1; i < USERS; i++) {
        const uint64_t a = got[i] / shares[i].weight, b = got[0] / shares[0].weight;

        /* The bounds allow one turn of `weight` quanta, plus the largest job. */
        assert_in_range(a, b * 9 / 10 - size_max, b * 11 / 10 + size_max);
    }
    drop_all(0);
}

static bool fits_bytes(struct queued *queued, const void *bytes)
{
    return queued->cost <= *(const uint64_t *)bytes;
}

static struct job *backfill(uint64_t bytes)
{
    struct queued *queued = scheduler_backfill(&scheduler, fits_bytes, &bytes, 0);

    return queued ? LINK_OWNER(queued, struct job, queued) : NULL;
}

/* If the next job of a user does not fit, later users are not blocked. */
static void test_backfill(void **state)
{
    struct job *large, *low, *first[2], *second[2];

    (void)state;
    assert_null(backfill(UINT64_MAX));
    large = push(0, 0, 1000 * 1000, 0);
    low = push(3, -1, 1, 0);
    for (int i = 0; i < 2; i++)
        first[i] = push(1, 0, 50000, 0);
    for (int i = 0; i < 2; i++)
        second[i] = push(2, 0, 50000, 0);
    for (int i = 0; i < 2; i++) { /* both users take turns */
        assert_ptr_equal(backfill(50000), first[i]);
        assert_ptr_equal(backfill(50000), second[i]);
        free(first[i]);
        free(second[i]);
    }
    assert_ptr_equal(backfill(50000), low);
    free(low);
    assert_null(backfill(50000));
    assert_int_equal(scheduler.length, 1);
    assert_next(large, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(test_nothing, setup),
        cmocka_unit_test_setup(test_one_lane_keeps_its_order, setup),
        cmocka_unit_test_setup(test_higher_priorities_first, setup),
        cmocka_unit_test_setup(test_equal_bytes_for_all_job_sizes, setup),
        cmocka_unit_test_setup(test_few_jobs_do_not_wait_for_many, setup),
        cmocka_unit_test_setup(test_pauses_save_no_deficit, setup),
        cmocka_unit_test_setup(test_no_job_waits_for_ever, setup),
        cmocka_unit_test_setup(test_only_the_first_job_ages, setup),
        cmocka_unit_test_setup(test_ageing_of_many_jobs_takes_several_calls, setup),
        cmocka_unit_test_setup(test_choice_among_many_users_takes_several_calls, setup),
        cmocka_unit_test_setup(test_ageing_can_be_off, setup),
        cmocka_unit_test_setup(test_clock_that_is_behind, setup),
        cmocka_unit_test_setup(test_many_connections_of_one_user, setup),
        cmocka_unit_test_setup(test_connections_of_one_user_share_evenly, setup),
        cmocka_unit_test_setup(test_priority_above_the_maximum, setup),
        cmocka_unit_test_setup(test_a_flood_of_high_priority, setup),
        cmocka_unit_test_setup(test_own_jobs_of_low_priority, setup),
        cmocka_unit_test_setup(test_many_connections_do_not_speed_up_ageing, setup),
        cmocka_unit_test_setup(test_at_random, setup),
        cmocka_unit_test_setup(test_weights_at_random, setup),
        cmocka_unit_test_setup(test_no_starvation_at_random, setup),
        cmocka_unit_test_setup(test_backfill, setup),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
