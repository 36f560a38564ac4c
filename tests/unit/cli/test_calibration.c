/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Calibrates an engine of known costs: the engine moves nothing, but lets the time of a clock pass.
 * The fit must find the costs, although some transfers take longer.
 */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "cli/calibrate/calibration.h"
#include "mli_engine.h"
#include "target/profile/profile_load.h"
#include "tests/support/rng.h"
#include "tests/support/scale.h"
#include "tests/support/unit.h"

static struct target_profile known; /* has the costs of the engine, and one memory */
static struct calibration calibration;
static struct rng rng;
static uint64_t seed, now;
static uint32_t flags;

static uint64_t now_ns(void)
{
    return now;
}

static uint32_t probe(void)
{
    return 1;
}

static void caps(uint32_t channel, struct mli_channel_caps *out)
{
    (void)channel;
    out->flags = flags;
    out->loops = MLI_MAX_RANK;
}

/* Lets the known time pass, with up to 2 % of noise. One of 40 transfers takes five times as long.
 */
static void submit(uint32_t channel, struct mli_work *work)
{
    double ns = formula_cycles(&known, &known.memories[0], work->plan);

    (void)channel;
    ns *= 1 + (double)rng_below(&rng, 200) / 10000;
    now += (uint64_t)(rng_below(&rng, 40) == 0 ? 5 * ns : ns);
    work->done(work, &(struct mli_work_end){.status = MLI_STATUS_OK, .bytes = work->plan->bytes});
}

static const struct mli_engine engine = {
    .size = sizeof engine, .name = "known", .probe = probe, .caps = caps, .submit = submit};

static int add_engine(void **state)
{
    (void)state;
    seed = 20261122; /* the clock is simulated, so a fixed seed makes all runs equal */
    rng = rng_for_case(seed, 0);
    return mli_mov_add_engine(&engine) == MLI_STATUS_OK ? 0 : -1;
}

static void set_known_costs(void)
{
    struct fault fault;

    assert_int_equal(profile_load(&known, "host", &fault), 0);
    known.memories[0].size = UINT64_C(1) << 51;
    known.memories[0].latency = 0;
    known.dma.address_bits = 64;
    known.dma.burst_bytes = 1024;
    known.costs = (struct profile_costs){.start = 5000 * PROFILE_CYCLE,
                                         .descriptor = 700 * PROFILE_CYCLE,
                                         .row = 20 * PROFILE_CYCLE,
                                         .burst = 8 * PROFILE_CYCLE,
                                         .beat = 3 * PROFILE_CYCLE};
}

static void calibrate(void)
{
    const struct calibration_rules rules = {.engine = "known",
                                            .seed = seed,
                                            .time_ns = (scale_percent() == 100 ? 80 : 20) *
                                                       UINT64_C(1000000000),
                                            .check = 200,
                                            .date = "2000-01-01",
                                            .now_ns = now_ns};
    struct fault fault;

    if (calibration_run(&calibration, &rules, &fault) < 0)
        fail_msg("seed %llu: %s", (unsigned long long)seed, fault.text);
    assert_true(calibration.moves >= 250);
    assert_int_equal(calibration.checked_count, 200);
}

/* If figures always grow together, their costs are less certain. The fit returns standard errors.
 */
static void expect_cost(enum formula_figure figure, profile_cost expected, profile_cost found)
{
    const double error = calibration.error[figure] * (double)PROFILE_CYCLE;
    const double allowed = fmax(0.12 * (double)expected, 4 * error);

    if (fabs((double)found - (double)expected) > allowed || error > 0.2 * (double)expected)
        fail_msg("seed %llu: %s: %llu expected, %llu found, standard error %.0f",
                 (unsigned long long)seed, profile_cost_members[figure].key,
                 (unsigned long long)expected, (unsigned long long)found, error);
}

static void test_costs_of_a_controller(void **state)
{
    struct profile_costs *found = &calibration.profile.costs;

    (void)state;
    flags = 0;
    set_known_costs();
    calibration.profile = known;
    memset(found, 0, sizeof *found);
    calibrate();
    assert_false(calibration.processor);
    expect_cost(FORMULA_START, known.costs.start, found->start);
    expect_cost(FORMULA_DESCRIPTOR, known.costs.descriptor, found->descriptor);
    expect_cost(FORMULA_ROW, known.costs.row, found->row);
    expect_cost(FORMULA_BURST, known.costs.burst, found->burst);
    expect_cost(FORMULA_BEAT, known.costs.beat, found->beat);
    assert_true(calibration.all.median < 0.02);
    assert_true(calibration.all.p95 < 0.05);
    assert_non_null(strstr(profile_source_of(&calibration.profile, "/costs/beat")->text,
                           "measured on known, 2000-01-01"));
    calibration_finish(&calibration);
}

/* An engine with the flag MLI_CHANNEL_CPU gets measured costs. */
static void test_costs_of_a_processor(void **state)
{
    const struct profile_source *source;

    (void)state;
    flags = MLI_CHANNEL_CPU;
    set_known_costs();
    calibration.profile = known;
    calibrate();
    assert_true(calibration.processor);
    assert_true(calibration.profile.measured.present);
    if (calibration.all.median > 0.1)
        fail_msg("seed %llu: median error %.3f", (unsigned long long)seed, calibration.all.median);
    source = profile_source_of(&calibration.profile, "/costs/measured/classes/row/start");
    assert_non_null(strstr(source->text, "other moves: median error"));
    calibration_finish(&calibration);
}

static bool stop_at_once(void)
{
    return true;
}

static void test_stop(void **state)
{
    const struct calibration_rules rules = {.engine = "known",
                                            .time_ns = UINT64_C(1) << 60,
                                            .check = 10,
                                            .date = "",
                                            .stop = stop_at_once,
                                            .now_ns = now_ns};
    struct fault fault;

    (void)state;
    set_known_costs();
    calibration.profile = known;
    assert_int_equal(calibration_run(&calibration, &rules, &fault), 0);
    assert_true(calibration.stopped);
    calibration_finish(&calibration);
}

static void test_memories_that_are_too_small(void **state)
{
    const struct calibration_rules rules = {.engine = "known", .now_ns = now_ns};
    struct fault fault;

    (void)state;
    set_known_costs();
    calibration.profile = known;
    calibration.profile.memories[0].size = 4096;
    assert_int_equal(calibration_run(&calibration, &rules, &fault), -1);
    assert_non_null(strstr(fault.text, "at least 16384 B are required"));
    calibration.profile.memories[0].reached_by = PROFILE_CORE;
    assert_int_equal(calibration_run(&calibration, &rules, &fault), -1);
    assert_non_null(strstr(fault.text, "has no memory with \"dma\""));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_costs_of_a_controller),
        cmocka_unit_test(test_costs_of_a_processor),
        cmocka_unit_test(test_stop),
        cmocka_unit_test(test_memories_that_are_too_small),
    };

    return cmocka_run_group_tests(tests, add_engine, NULL);
}
