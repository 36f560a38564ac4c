/* SPDX-License-Identifier: BSD-3-Clause */
/* Tests measured costs: writing and reading them, the numbers of a plan, and fits to moves. */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "target/cost/cost.h"
#include "target/cost/measured_cost.h"
#include "target/fit/fit.h"
#include "target/profile/target_profile.h"
#include "tests/support/rng.h"
#include "tests/support/unit.h"

enum { MOVES = 3000 };

static struct measured_costs costs, other;
static struct target_profile profile, again;

static void test_texts_of_trees(void **state)
{
    static const char *const good[] = {"1", "0.93", "run<16?0.93:rows<100?1.2:1",
                                       "dst_gap_1<-3.5?run<2?2:1.5:0.125"};
    struct textw text;

    (void)state;
    textw_init(&text);
    memset(&costs, 0, sizeof costs);
    for (uint32_t i = 0; i < sizeof good / sizeof *good; i++) {
        assert_int_equal(measured_tree_read(&costs, good[i]), 0);
        textw_reset(&text);
        measured_tree_write(&text, &costs, i);
        assert_string_equal(text.data, good[i]);
    }
    textw_finish(&text);
    assert_int_equal(costs.trees, 4);
}

static void test_wrong_texts_of_trees(void **state)
{
    static const struct {
        const char *text;
        size_t at;
    } wrong[] = {
        {"", 1},         {"run", 4},        {"run<", 5},        {"run<5", 6}, {"run<5?1", 8},
        {"run<5?1:", 9}, {"runs<5?1:1", 1}, {"1 ", 2},          {"0", 2},     {"-1", 3},
        {"1e3", 2},      {"nan", 1},        {"run<5?1:1;", 10}, {"2000", 5}};
    char deep[MEASURED_TREE_DEPTH_MAX * 8] = "";

    (void)state;
    memset(&costs, 0, sizeof costs);
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        const size_t at = measured_tree_read(&costs, wrong[i].text);

        if (at != wrong[i].at)
            fail_msg("\"%s\": %zu expected, %zu found", wrong[i].text, wrong[i].at, at);
        assert_int_equal(costs.nodes + costs.trees, 0);
    }
    for (int i = 0; i < MEASURED_TREE_DEPTH_MAX; i++)
        strcat(deep, "run<1?");
    assert_int_not_equal(measured_tree_read(&costs, deep), 0);
}

/* A profile with measured costs: `measured` is the text of the member. */
static int read_profile(struct target_profile *to, const char *measured, struct fault *fault)
{
    char text[4096];

    snprintf(
        text, sizeof text,
        "{\"name\":\"x\",\"clock_hz\":1000000000,\"memories\":[{\"name\":\"m\",\"base\":0,"
        "\"size\":1048576}],\"dma\":{},\"costs\":{\"measured\":%s},"
        "\"sources\":{\"/clock_hz\":\"s\",\"/memories\":\"s\",\"/dma\":\"s\",\"/costs\":\"s\"}}",
        measured);
    return profile_read(to, text, strlen(text), fault);
}

#define ROWS                                                                                       \
    "{\"footprints\":[1024,4096],\"classes\":{\"long-rows\":{\"start\":100,\"row\":\"2.5\","       \
    "\"read\":[\"0.5\",1]}},\"trees\":[\"run<16?0.5:2\"]}"

static void test_written_and_read_again(void **state)
{
    struct fault fault;
    struct jsonw w;

    (void)state;
    jsonw_init(&w);
    if (read_profile(&profile, ROWS, &fault) < 0)
        fail_msg("%s", fault.text);
    assert_true(profile.measured.present);
    assert_int_equal(profile.measured.class[MOVE_CLASS_LONG_ROWS].single[MEASURED_ROW], 2500000);
    profile_write(&w, NULL, &profile);
    if (profile_read(&again, jsonw_text(&w), w.length, &fault) < 0)
        fail_msg("written: %s", fault.text);
    assert_memory_equal(&profile.measured, &again.measured, sizeof profile.measured);
    jsonw_finish(&w);
}

static void test_wrong_costs(void **state)
{
    static const char *const wrong[][2] = {
        {"{}", "footprints"},
        {"{\"footprints\":[]}", "0 footprints given"},
        {"{\"footprints\":[2,1]}", "1 given after 2"},
        {"{\"footprints\":[1],\"classes\":{}}", "\"long-rows\" is missing"},
        {"{\"footprints\":[1],\"classes\":{\"rows\":{}}}", "unknown"},
        {"{\"footprints\":[1],\"classes\":{\"long-rows\":{\"read\":[1,2]}}}", "2 figures given"},
        {"{\"footprints\":[1],\"classes\":{\"long-rows\":{\"read\":[\"x\"]}}}", "\"x\" given"},
        {"{\"footprints\":[1],\"classes\":{\"long-rows\":{}},\"trees\":[\"run>1\"]}",
         "the mistake is at byte 4"},
        {"{\"footprints\":[1],\"classes\":{\"long-rows\":{}},\"tree\":[]}", "unknown"},
    };
    struct fault fault;

    (void)state;
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        assert_int_equal(read_profile(&profile, wrong[i][0], &fault), -1);
        if (!strstr(fault.text, wrong[i][1]))
            fail_msg("%s: %s", wrong[i][0], fault.text);
    }
}

static struct mli_plan plan_of(size_t run, size_t loops, const struct mli_copy_loop *loop)
{
    struct mli_plan plan = {.box = {.run = run, .loops = loops}};

    plan.box.src = (const uint8_t *)(uintptr_t)0x10000;
    plan.box.dst = (uint8_t *)(uintptr_t)0x20000;
    plan.bytes = run;
    for (size_t i = 0; i < loops; i++) {
        plan.box.loop[i] = loop[i];
        plan.bytes *= loop[i].count;
    }
    return plan;
}

/* The cost computed by hand: two rows of 64 bytes that are two cache lines apart. */
static void test_time_of_rows(void **state)
{
    const struct mli_copy_loop loop = {2, 128, 64};
    const struct mli_plan plan = plan_of(64, 1, &loop);
    struct measured_time time;
    struct fault fault;

    (void)state;
    assert_int_equal(read_profile(&profile, ROWS, &fault), 0);
    measured_time(&time, &profile.measured, &plan);
    assert_true(fabs(time.factor - 2) < 1e-6);
    assert_true(fabs(time.start - 200) < 1e-4);
    assert_true(fabs(time.rows - 2 * 2 * 2.5) < 1e-4);
    assert_true(fabs(time.read - 2 * 2 * 0.5) < 1e-4); /* the footprint is 4 cache lines */
    assert_true(fabs(time.total - 212) < 1e-3);

    struct move_cost cost;
    const struct cost_channel channel = {&plan, 1, 0, 0};
    cost_of_move(&cost, &profile, &(struct cost_memories){0}, &channel, 1);
    assert_int_equal((cost.total + PROFILE_CYCLE / 2) / PROFILE_CYCLE, 212);
    assert_int_equal(cost.dominant, COST_START);
    assert_int_equal(cost.written.bytes, 128);
    assert_true(cost.memcpy_total > 0);
}

static void test_footprints_are_interpolated(void **state)
{
    struct footprint_weights weights;
    struct fault fault;

    (void)state;
    assert_int_equal(read_profile(&profile, ROWS, &fault), 0);
    weights = measured_weights(&profile.measured, 2048);
    assert_int_equal(weights.first, 0);
    assert_true(fabs(weights.of_first - 0.5) < 1e-9 && fabs(weights.of_second - 0.5) < 1e-9);
    weights = measured_weights(&profile.measured, 1);
    assert_true(weights.first == 0 && weights.of_first == 1 && weights.of_second == 0);
    weights = measured_weights(&profile.measured, 1e9);
    assert_true(weights.first == 1 && weights.of_first == 1 && weights.of_second == 0);
}

static void test_classes_of_moves(void **state)
{
    static const struct {
        size_t run, loops;
        struct mli_copy_loop loop[3];
        enum move_class class;
        double calls, lines;
    } cases[] = {
        {1000, 0, {{0, 0, 0}}, MOVE_CLASS_ROW, 1, 16.6},
        {12, 1, {{10, 64, 100}}, MOVE_CLASS_SHORT_ROWS, 1, 10},
        {64, 1, {{10, 128, 100}}, MOVE_CLASS_MIDDLE_ROWS, 1, 10},
        {65, 2, {{3, 4096, 4096}, {10, 128, 100}}, MOVE_CLASS_LONG_ROWS, 3, 60},
        {4, 2, {{3, 4096, 400}, {100, 8, 4}}, MOVE_CLASS_GATHER_4, 3, 40},
        {1, 2, {{100, 1, 200}, {200, 100, 1}}, MOVE_CLASS_TRANSPOSE_1, 1, 313},
        {2, 3, {{7, 9000, 8000}, {100, 2, 80}, {40, 200, 2}}, MOVE_CLASS_TRANSPOSE_2, 7, 881},
    };
    struct move_numbers numbers;

    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const struct mli_plan plan = plan_of(cases[i].run, cases[i].loops, cases[i].loop);

        move_numbers(&numbers, &plan);
        if (numbers.class != cases[i].class || numbers.number[NUMBER_CALLS] != cases[i].calls ||
            fabs(numbers.number[NUMBER_READ_LINES] / cases[i].lines - 1) > 0.1)
            fail_msg("case %zu: class %s, %g calls, %g lines", i, move_class_keys[numbers.class],
                     numbers.number[NUMBER_CALLS], numbers.number[NUMBER_READ_LINES]);
    }
}

static struct mli_plan draw_plan(struct rng *rng)
{
    static const size_t runs[] = {1, 2, 4, 8, 3, 16, 40, 64, 200, 3000};
    struct mli_copy_loop loop[2];
    const size_t run = runs[rng_below(rng, 10)];
    const size_t inner = 2 + rng_below(rng, 300), gap = rng_below(rng, 3) * run;

    loop[1] = (struct mli_copy_loop){inner, run + gap + run * rng_below(rng, 4), run + gap};
    loop[0] = (struct mli_copy_loop){2 + rng_below(rng, 50), loop[1].src_step * inner,
                                     loop[1].dst_step * inner + 64};
    const size_t first = rng_below(rng, 2);

    return plan_of(run, rng_below(rng, (uint32_t)(3 - first)), loop + first);
}

/* The time that the fit must find: a formula with a jump, with noise and outliers. */
static double true_time(const struct mli_plan *plan, struct rng *rng)
{
    struct move_numbers n;
    double time;

    move_numbers(&n, plan);
    time = 90 + 7 * n.figure[MEASURED_CALL] + 0.8 * n.figure[MEASURED_ROW] +
           0.4 * n.figure[MEASURED_STORE] +
           (n.number[NUMBER_FOOTPRINT] > 1e5 ? 3 : 1) * n.level[MEASURED_READ_LINES];
    time *= plan->box.run == 3 ? 1.5 : 1;
    time *= 1 + (double)rng_below(rng, 200) / 10000;
    return rng_below(rng, 100) == 0 ? 5 * time : time;
}

static int compare(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;

    return (x > y) - (x < y);
}

static void test_fit_to_synthetic_moves(void **state)
{
    const uint64_t seed = (uint64_t)time(NULL);
    struct rng rng = rng_for_case(seed, 0);
    struct measured_move *moves = calloc(MOVES, sizeof *moves);
    double *error = calloc(MOVES, sizeof *error);

    (void)state;
    assert_non_null(moves);
    assert_non_null(error);
    for (size_t i = 0; i < MOVES; i++) {
        moves[i].plan = draw_plan(&rng);
        moves[i].cycles = true_time(&moves[i].plan, &rng);
    }
    assert_int_equal(measured_fit(&other, moves, MOVES), 0);
    for (size_t i = 0; i < MOVES; i++) { /* other moves */
        const struct mli_plan plan = draw_plan(&rng);
        struct measured_time time;

        measured_time(&time, &other, &plan);
        error[i] = fabs(time.total / true_time(&plan, &rng) - 1);
    }
    qsort(error, MOVES, sizeof *error, compare);
    if (error[MOVES / 2] > 0.03 || error[MOVES * 9 / 10] > 0.15)
        fail_msg("seed %" PRIu64 ": median error %.3f, 90 of 100 within %.3f", seed,
                 error[MOVES / 2], error[MOVES * 9 / 10]);
    free(moves);
    free(error);
}

static void test_fit_to_few_moves(void **state)
{
    struct measured_move move = {.cycles = 500};
    struct measured_time time;

    (void)state;
    assert_int_equal(measured_fit(&other, &move, 0), 0);
    assert_true(other.class[MOVE_CLASS_LONG_ROWS].present);
    move.plan = plan_of(100, 0, NULL);
    assert_int_equal(measured_fit(&other, &move, 1), 0);
    measured_time(&time, &other, &move.plan);
    assert_true(fabs(time.total - 500) < 5);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_texts_of_trees),
        cmocka_unit_test(test_wrong_texts_of_trees),
        cmocka_unit_test(test_written_and_read_again),
        cmocka_unit_test(test_wrong_costs),
        cmocka_unit_test(test_time_of_rows),
        cmocka_unit_test(test_footprints_are_interpolated),
        cmocka_unit_test(test_classes_of_moves),
        cmocka_unit_test(test_fit_to_synthetic_moves),
        cmocka_unit_test(test_fit_to_few_moves),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
