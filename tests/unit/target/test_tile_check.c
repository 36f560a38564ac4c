/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Gives the checker broken plans: a dependency removed, a range shifted, a job moved. Its verdict
 * is compared with that of a search over all pairs of jobs.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "target/tile/tile_jobs.h"
#include "tests/support/unit.h"
#include "tests/unit/target/tile_cases.h"

enum { SEED = 30, LAYERS = 60, JOBS_MAX = 160 };

static const struct tile_estimate estimate = {.start = 300,
                                              .row = 4,
                                              .burst = 8,
                                              .beat = 1,
                                              .bus_bytes = 16,
                                              .burst_bytes = 256,
                                              .channels = 1};

/* Returns whether all conflicting accesses are ordered, by looking at all pairs of jobs. */
static bool all_pairs_ordered(const struct tile_use *uses, size_t count, uint64_t budget)
{
    static bool before[JOBS_MAX][JOBS_MAX]; /* [a][b]: job b waits for job a */

    memset(before, 0, sizeof before);
    for (size_t j = 0; j < count; j++) {
        for (uint32_t i = 0; i < uses[j].after_count; i++) {
            const uint32_t earlier = uses[j].after[i];

            before[earlier][j] = true;
            for (size_t k = 0; k < count; k++)
                before[k][j] |= before[k][earlier];
        }
        for (uint32_t i = 0; i < uses[j].access_count; i++) {
            const struct tile_access *a = &uses[j].access[i];

            if (a->end > budget)
                return false;
            for (size_t k = 0; k < j; k++) {
                for (uint32_t n = 0; n < uses[k].access_count; n++) {
                    const struct tile_access *b = &uses[k].access[n];

                    if (a->begin < b->end && b->begin < a->end && (a->writes || b->writes) &&
                        !before[k][j])
                        return false;
                }
            }
        }
    }
    return true;
}

/* Returns whether the text names two different jobs. */
static bool names_two_jobs(const struct tile_use *uses, size_t count, const char *text)
{
    uint32_t named = 0;

    for (size_t i = 0; i < count; i++) {
        const char *at = strstr(text, uses[i].name);
        const size_t length = strlen(uses[i].name);

        named += at && (at[length] < '0' || at[length] > '9');
    }
    return named >= 2;
}

struct tally {
    uint32_t accepted, refused;
};

/* Requires that the checker and the search over all pairs agree. */
static void compare(const struct tile_use *uses, size_t count, uint64_t budget, struct tally *tally)
{
    struct fault fault = {0};
    const bool ordered = all_pairs_ordered(uses, count, budget);
    const int status = tile_check(uses, count, budget, &fault);

    if ((status == 0) != ordered)
        fail_msg("the checker says %s, all pairs say %s", status ? fault.text : "ordered",
                 ordered ? "ordered" : "not ordered");
    if (status == 0) {
        tally->accepted++;
        return;
    }
    tally->refused++;
    assert_int_equal(fault.code, FAULT_REFUSED);
    if (!strstr(fault.text, "budget"))
        assert_true(names_two_jobs(uses, count, fault.text));
}

/* Removes each dependency of each job in turn. */
static void drop_edges(struct tile_use *uses, size_t count, uint64_t budget, struct tally *tally)
{
    for (size_t j = 0; j < count; j++) {
        const struct tile_use whole = uses[j];

        for (uint32_t i = 0; i < whole.after_count; i++) {
            uses[j].after[i] = whole.after[--uses[j].after_count];
            compare(uses, count, budget, tally);
            uses[j] = whole;
        }
    }
}

/* Shifts each range of each job in turn. */
static void shift_ranges(struct tile_use *uses, size_t count, uint64_t budget, struct rng *rng,
                         struct tally *tally)
{
    for (size_t j = 0; j < count; j++) {
        const struct tile_use whole = uses[j];

        for (uint32_t i = 0; i < whole.access_count; i++) {
            const uint64_t by = 1 + rng_below(rng, (uint32_t)budget);
            struct tile_access *access = &uses[j].access[i];

            if (rng_chance(rng, 50) && by <= access->begin) {
                access->begin -= by;
                access->end -= by;
            } else {
                access->begin += by;
                access->end += by;
            }
            compare(uses, count, budget, tally);
            uses[j] = whole;
        }
    }
}

static void test_broken_plans(void **state)
{
    struct tally edges = {0}, ranges = {0};
    uint32_t plans = 0;

    (void)state;
    for (uint32_t n = 0; plans < LAYERS; n++) {
        struct rng rng = rng_for_case(SEED, n);
        struct tile_memory memory = {.alignment = 1, .buffers = rng_between(&rng, 1, 3)};
        struct tile_layer layer;
        struct tile_plan plan;
        struct tile_jobs jobs;
        struct tile_use *uses;
        struct fault fault;

        memory.hold = rng_chance(&rng, 50);
        if (!tile_case_layer(&layer, &rng, 10))
            continue;
        memory.bytes = tile_plan_smallest(&layer, &memory) + rng_below(&rng, 200);
        if (tile_plan_find(&plan, &layer, &memory, &estimate, &fault) || plan.steps < 4 ||
            plan.steps > JOBS_MAX / 5)
            continue;
        plans++;
        assert_int_equal(tile_jobs_init(&jobs, &plan, (enum tile_program)rng_below(&rng, 3), 7), 0);
        uses = tile_jobs_uses(&jobs);
        assert_non_null(uses);
        assert_true(all_pairs_ordered(uses, jobs.count, plan.used));
        assert_int_equal(tile_check(uses, jobs.count, plan.used, &fault), 0);
        drop_edges(uses, jobs.count, plan.used, &edges);
        shift_ranges(uses, jobs.count, plan.used, &rng, &ranges);
        free(uses);
        tile_jobs_finish(&jobs);
    }
    printf("seed %d: %u plans; edges dropped: %u refused, %u not needed; ranges shifted: %u "
           "refused, %u harmless\n",
           SEED, plans, edges.refused, edges.accepted, ranges.refused, ranges.accepted);
    assert_true(edges.refused > edges.accepted && ranges.refused > ranges.accepted);
}

static void test_the_sentence(void **state)
{
    struct tile_use uses[] = {
        {.name = "load0", .access_count = 1, .access = {{0, 100, true}}},
        {.name = "kernel0",
         .after_count = 1,
         .after = {0},
         .access_count = 1,
         .access = {{0, 100, false}}},
        {.name = "load1",
         .after_count = 1,
         .after = {0},
         .access_count = 1,
         .access = {{64, 128, true}}},
    };
    struct fault fault = {0};

    (void)state;
    assert_int_equal(tile_check(uses, 3, 128, &fault), -1);
    assert_string_equal(fault.text,
                        "load1 writes bytes 64 to 99 that kernel0 reads, but does not wait for it");
    uses[2].after[0] = 1;
    assert_int_equal(tile_check(uses, 3, 128, &fault), 0);
    assert_int_equal(tile_check(uses, 3, 127, &fault), -1);
    assert_string_equal(fault.text, "load1 uses bytes 64 to 127, but the budget has 127 B");
    uses[1].after[0] = 2;
    assert_int_equal(tile_check(uses, 3, 128, &fault), -1);
    assert_string_equal(fault.text, "kernel0 waits for a job that is not before it");
    assert_int_equal(tile_check(uses, 0, 0, &fault), 0);
}

/* One range with 50 000 readers, and a chain of 50 000 writers: the checker takes linear time. */
static void test_long_chains(void **state)
{
    enum { COUNT = 50000 };
    struct tile_use *uses = calloc(2 * COUNT, sizeof *uses);
    struct fault fault = {0};

    (void)state;
    assert_non_null(uses);
    for (uint32_t i = 0; i < 2 * COUNT; i++) {
        snprintf(uses[i].name, sizeof uses[i].name, "job%" PRIu32, i);
        uses[i].access_count = 2;
        uses[i].access[0] = (struct tile_access){0, 8, i == 0 || i >= COUNT};
        uses[i].access[1] = (struct tile_access){16 + i % 2, 18 + i % 2, false};
        uses[i].after_count = i > 0;
        uses[i].after[0] = i - (i > 0);
    }
    assert_int_equal(tile_check(uses, 2 * COUNT, 32, &fault), 0);
    free(uses);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_the_sentence),
        cmocka_unit_test(test_broken_plans),
        cmocka_unit_test(test_long_chains),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
