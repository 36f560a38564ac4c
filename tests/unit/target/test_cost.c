/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Compares the traffic of random plans with a count of each row, and the cost model with results
 * computed by hand.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "target/cost/cost.h"
#include "tests/support/rng.h"
#include "tests/support/unit.h"

enum { PLANS = 3000, ROWS_MAX = 4096 };

static struct profile_dma units; /* bus_bytes and burst_bytes */

/* Adds up the traffic of one row. */
static void count_row(struct traffic *t, uint64_t address, uint64_t run)
{
    t->rows++;
    t->bytes += run;
    t->beats += (address + run - 1) / units.bus_bytes - address / units.bus_bytes + 1;
    t->bursts += (address + run - 1) / units.burst_bytes - address / units.burst_bytes + 1;
}

static void count_box(struct traffic *t, const struct mli_copy_box *box, bool read)
{
    size_t at[MLI_MAX_RANK] = {0}, level;

    do {
        uint64_t address = (uintptr_t)(read ? box->src : box->dst);

        for (size_t i = 0; i < box->loops; i++)
            address += at[i] * (read ? box->loop[i].src_step : box->loop[i].dst_step);
        count_row(t, address, box->run);
        for (level = box->loops; level > 0 && ++at[level - 1] == box->loop[level - 1].count;)
            at[--level] = 0;
    } while (level > 0);
}

static struct mli_plan draw_plan(struct rng *rng)
{
    struct mli_plan plan = {.box = {.run = 1 + rng_below(rng, 300), .loops = rng_below(rng, 5)}};
    uint64_t rows = 1;

    plan.box.src = (const uint8_t *)(uintptr_t)(0x10000000 + rng_below(rng, 5000));
    plan.box.dst = (uint8_t *)(uintptr_t)(0x90000000 + rng_below(rng, 5000));
    for (size_t i = 0; i < plan.box.loops; i++) {
        struct mli_copy_loop *loop = &plan.box.loop[i];

        loop->count = 2 + rng_below(rng, rows < ROWS_MAX / 16 ? 14 : 1);
        loop->src_step = rng_below(rng, 2) ? rng_below(rng, 600) : 64 * rng_below(rng, 9);
        loop->dst_step = rng_below(rng, 2) ? rng_below(rng, 600) : 512 * rng_below(rng, 9);
        rows *= loop->count;
    }
    return plan;
}

static void assert_equal_traffic(const struct traffic *counted, const struct traffic *found,
                                 uint64_t seed)
{
    if (counted->rows != found->rows || counted->bytes != found->bytes ||
        counted->beats != found->beats || counted->bursts != found->bursts)
        fail_msg("seed %llu: rows %llu/%llu, bytes %llu/%llu, beats %llu/%llu, bursts %llu/%llu",
                 (unsigned long long)seed, (unsigned long long)counted->rows,
                 (unsigned long long)found->rows, (unsigned long long)counted->bytes,
                 (unsigned long long)found->bytes, (unsigned long long)counted->beats,
                 (unsigned long long)found->beats, (unsigned long long)counted->bursts,
                 (unsigned long long)found->bursts);
}

static void test_traffic_of_random_plans(void **state)
{
    const uint64_t seed = (uint64_t)time(NULL);
    struct rng rng = rng_for_case(seed, 0);

    (void)state;
    for (int i = 0; i < PLANS; i++) {
        const struct mli_plan plan = draw_plan(&rng);
        const struct cost_channel channel = {.plan = &plan};
        const struct cost_memories memories = {NULL, NULL};
        struct traffic counted = {0};
        struct move_cost found;

        units.bus_bytes = UINT32_C(1) << rng_below(&rng, 7);
        units.burst_bytes = units.bus_bytes << rng_below(&rng, 7);
        cost_of_move(&found, &(struct target_profile){.dma = units}, &memories, &channel, 1);
        count_box(&counted, &plan.box, true);
        assert_equal_traffic(&counted, &found.read, seed);
        counted = (struct traffic){0};
        count_box(&counted, &plan.box, false);
        assert_equal_traffic(&counted, &found.written, seed);
    }
}

static struct target_profile board(void)
{
    return (struct target_profile){.clock_hz = 500 * 1000 * 1000,
                                   .dma = {.bus_bytes = 8, .burst_bytes = 32},
                                   .costs = {.start = 100 * PROFILE_CYCLE,
                                             .descriptor = 10 * PROFILE_CYCLE,
                                             .row = 2 * PROFILE_CYCLE,
                                             .burst = 3 * PROFILE_CYCLE,
                                             .beat = PROFILE_CYCLE / 2,
                                             .finish = 50 * PROFILE_CYCLE,
                                             .conflict = PROFILE_CYCLE,
                                             .core_call = 5 * PROFILE_CYCLE,
                                             .core_beat = PROFILE_CYCLE}};
}

/* 4 rows of 64 B: packed on one side, 256 B apart on the other side. */
static struct mli_plan four_rows(void)
{
    return (struct mli_plan){.bytes = 256,
                             .box = {.src = (const uint8_t *)(uintptr_t)0x1000,
                                     .dst = (uint8_t *)(uintptr_t)0x2000,
                                     .run = 64,
                                     .loops = 1,
                                     .loop = {{4, 64, 256}}}};
}

static void test_formula(void **state)
{
    const struct target_profile profile = board();
    const struct profile_memory src = {.banks = 1, .latency = 20 * PROFILE_CYCLE},
                                dst = {.banks = 32, .bank_bytes = 8};
    const struct cost_memories memories = {&src, &dst};
    const struct mli_plan plan = four_rows();
    const struct cost_channel channel = {.plan = &plan, .descriptors = 2};
    struct move_cost cost;

    (void)state;
    cost_of_move(&cost, &profile, &memories, &channel, 1);
    assert_int_equal(cost.read.beats, 32);
    assert_int_equal(cost.read.bursts, 8);
    assert_int_equal(cost.part[COST_DESCRIPTORS], 20 * PROFILE_CYCLE);
    assert_int_equal(cost.part[COST_ROWS], 8 * PROFILE_CYCLE);
    /* 256 B apart, so all rows are in one bank */
    assert_int_equal(cost.part[COST_CONFLICTS], 3 * PROFILE_CYCLE);
    assert_int_equal(cost.part[COST_READ], (2 * 20 + 8 * 3 + 16) * PROFILE_CYCLE);
    assert_int_equal(cost.part[COST_WRITTEN], (8 * 3 + 16) * PROFILE_CYCLE);
    assert_int_equal(cost.total, (100 + 20 + 8 + 3 + 80 + 50) * PROFILE_CYCLE);
    assert_int_equal(cost.dominant, COST_START);
    assert_int_equal(cost.memcpy_total, (5 + 32) * PROFILE_CYCLE);
    assert_int_equal(cost_ns(&profile, cost.total), 261 * 2);
}

/* A kernel gathers single elements into vectors, or moves runs of whole vectors. */
static void test_kernel(void **state)
{
    struct target_profile profile = board();
    const struct cost_memories memories = {NULL, NULL};
    struct mli_plan plan = four_rows();
    struct move_cost cost;

    (void)state;
    profile.vector_bits = 256;
    cost_of_kernel(&cost, &profile, &memories, &plan, 2); /* a profile without costs of kernels */
    assert_int_equal(cost.total, (5 + 32) * PROFILE_CYCLE);
    profile.costs.kernel_vector = 2 * PROFILE_CYCLE;
    profile.costs.kernel_element = PROFILE_CYCLE / 4;
    cost_of_kernel(&cost, &profile, &memories, &plan, 2);
    assert_int_equal(cost.total, (5 + 4 * 2 * 2) * PROFILE_CYCLE);
    assert_int_equal(cost.bus, 0);
    plan.box = (struct mli_copy_box){.run = 2, .loops = 2, .loop = {{8, 32, 2}, {16, 2, 16}}};
    cost_of_kernel(&cost, &profile, &memories, &plan, 2);
    assert_int_equal(cost.total, (5 + 8 * 2 + 128 / 4) * PROFILE_CYCLE);
    assert_int_equal(cost.total, cost.part[COST_CORE]);
    assert_int_equal(cost.dominant, COST_CORE);
}

/* Descriptors of fills read nothing, so the latency of the source does not count. */
static void test_fills_have_no_latency(void **state)
{
    const struct target_profile profile = board();
    const struct profile_memory src = {.banks = 1, .latency = 20 * PROFILE_CYCLE};
    const struct cost_memories memories = {&src, NULL};
    const struct mli_plan plan = four_rows();
    struct cost_channel channel = {.plan = &plan, .descriptors = 3, .fills = 2};
    struct move_cost cost;

    (void)state;
    cost_of_move(&cost, &profile, &memories, &channel, 1);
    assert_int_equal(cost.part[COST_READ], (1 * 20 + 8 * 3 + 16) * PROFILE_CYCLE);
    assert_int_equal(cost.part[COST_DESCRIPTORS], 3 * 10 * PROFILE_CYCLE);
}

/* Two channels with equal parts: their overheads overlap, their data does not. */
static void test_channels_share_the_bus(void **state)
{
    struct target_profile profile = board();
    const struct cost_memories memories = {NULL, NULL};
    const struct mli_plan plan = four_rows();
    const struct cost_channel channels[] = {{.plan = &plan, .descriptors = 1},
                                            {.plan = &plan, .descriptors = 1}};
    struct move_cost one, two;

    (void)state;
    cost_of_move(&one, &profile, &memories, channels, 1);
    cost_of_move(&two, &profile, &memories, channels, 2);
    assert_int_equal(one.total, (100 + 10 + 8 + 40 + 50) * PROFILE_CYCLE);
    assert_int_equal(two.total, (100 + 80 + 50) * PROFILE_CYCLE); /* limited by the bus */
    assert_true(two.bus_bound && !one.bus_bound);
    assert_int_equal(one.bus, 40 * PROFILE_CYCLE);
    assert_int_equal(two.bus, 80 * PROFILE_CYCLE);
    profile.costs.descriptor = 1000 * PROFILE_CYCLE;
    cost_of_move(&two, &profile, &memories, channels, 2);
    assert_int_equal(two.total, (100 + 1000 + 8 + 40 + 50) * PROFILE_CYCLE);
    assert_int_equal(two.dominant, COST_DESCRIPTORS);
    assert_false(two.bus_bound);
    assert_int_equal(two.descriptors, 2);
}

/* The core moves all of one plan, and 3 pieces of 5 B of another plan. */
static void test_core_moves(void **state)
{
    const struct target_profile profile = board();
    const struct cost_memories memories = {NULL, NULL};
    const struct mli_plan plan = four_rows();
    const struct cost_channel all = {.plan = &plan, .core_pieces = 1, .core_bytes = 256},
                              some = {.plan = &plan,
                                      .descriptors = 1,
                                      .core_pieces = 3,
                                      .core_bytes = 5};
    struct move_cost cost;

    (void)state;
    cost_of_move(&cost, &profile, &memories, &all, 1);
    assert_int_equal(cost.part[COST_CORE], (5 + 32) * PROFILE_CYCLE);
    assert_int_equal(cost.part[COST_READ], 0);
    assert_int_equal(cost.total, 37 * PROFILE_CYCLE); /* the controller is not started */
    cost_of_move(&cost, &profile, &memories, &some, 1);
    assert_int_equal(cost.part[COST_CORE], (3 * 5 + 6) * PROFILE_CYCLE);
    assert_int_equal(cost.total, (100 + 10 + 8 + 40 + 21 + 50) * PROFILE_CYCLE);
}

static void test_numbers_stop_at_the_largest(void **state)
{
    struct target_profile profile = board();
    const struct cost_memories memories = {NULL, NULL};
    const struct mli_plan plan = four_rows();
    const struct cost_channel channel = {.plan = &plan, .descriptors = UINT64_MAX / 2};
    struct move_cost cost;

    (void)state;
    cost_of_move(&cost, &profile, &memories, &channel, 1);
    assert_true(cost.total == UINT64_MAX);
    assert_true(cost_ns(&profile, UINT64_MAX) > 0);
    profile.clock_hz = 1;
    assert_true(cost_ns(&profile, UINT64_MAX) == UINT64_MAX);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_traffic_of_random_plans),
        cmocka_unit_test(test_formula),
        cmocka_unit_test(test_fills_have_no_latency),
        cmocka_unit_test(test_kernel),
        cmocka_unit_test(test_kernel),
        cmocka_unit_test(test_channels_share_the_bus),
        cmocka_unit_test(test_core_moves),
        cmocka_unit_test(test_numbers_stop_at_the_largest),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
