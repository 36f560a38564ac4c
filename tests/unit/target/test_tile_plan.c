/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Compares plans of random layers with a walk over the tiles, and plans of small layers with an
 * exhaustive search over all integer tile sizes and loop orders.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "target/tile/tile_jobs.h"
#include "tests/support/scale.h"
#include "tests/support/unit.h"
#include "tests/unit/target/tile_cases.h"

enum { SEED = 20, RANDOM_LAYERS = 3000, SMALL_LAYERS = 250 };

static const struct tile_estimate estimate = {.start = 300,
                                              .row = 4,
                                              .burst = 8,
                                              .beat = 1,
                                              .bus_bytes = 16,
                                              .burst_bytes = 256,
                                              .channels = 1};

static struct tile_memory random_memory(struct rng *rng, uint64_t most)
{
    return (struct tile_memory){.bytes = 1 + rng_below(rng, (uint32_t)most),
                                .alignment = UINT32_C(1) << rng_below(rng, 6),
                                .buffers = rng_between(rng, 1, 3),
                                .hold = rng_chance(rng, 50)};
}

static void check_buffers(const struct tile_plan *plan)
{
    uint64_t end = 0;

    for (uint32_t i = 0; i < plan->layer->operands; i++) {
        const struct tile_buffers *buffers = &plan->buffers[i];

        for (uint32_t b = 0; b < buffers->count; b++) {
            assert_int_equal(buffers->offset[b] % plan->memory.alignment, 0);
            assert_true(buffers->offset[b] >= end);
            end = buffers->offset[b] + buffers->bytes;
        }
    }
    assert_int_equal(end, plan->used);
    assert_true(end <= plan->memory.bytes);
}

static int compare_uses(const void *a, const void *b)
{
    return strcmp(((const struct tile_use *)a)->name, ((const struct tile_use *)b)->name);
}

/* Checks that all jobs have different names. Changes the order of the uses. */
static void check_names(struct tile_use *uses, size_t count)
{
    qsort(uses, count, sizeof *uses, compare_uses);
    for (size_t i = 1; i < count; i++)
        assert_string_not_equal(uses[i - 1].name, uses[i].name);
}

/* Checks that the jobs of all programs have different names and use the memory safely. */
static void check_jobs(const struct tile_plan *plan)
{
    for (int program = TILE_FIRMWARE; program <= TILE_FILES; program++) {
        struct tile_jobs jobs;
        struct tile_use *uses;
        struct fault fault = {0};

        assert_int_equal(tile_jobs_init(&jobs, plan, (enum tile_program)program, 7), 0);
        uses = tile_jobs_uses(&jobs);
        assert_non_null(uses);
        if (tile_check(uses, jobs.count, plan->memory.bytes, &fault))
            fail_msg("program %d: %s", program, fault.text);
        check_names(uses, jobs.count);
        free(uses);
        tile_jobs_finish(&jobs);
    }
}

static void test_random_plans(void **state)
{
    uint32_t planned = 0, refused = 0;

    (void)state;
    for (uint32_t n = 0; n < scaled(RANDOM_LAYERS); n++) {
        struct rng rng = rng_for_case(SEED, n);
        struct tile_memory memory;
        struct tile_layer layer;
        struct tile_plan plan;
        struct fault fault;
        uint64_t smallest, bytes[TILE_OPERANDS];

        if (!tile_case_layer(&layer, &rng, 20))
            continue;
        memory = random_memory(&rng, 3000);
        smallest = tile_plan_smallest(&layer, &memory);
        if (tile_plan_find(&plan, &layer, &memory, &estimate, &fault)) {
            char number[32];

            snprintf(number, sizeof number, "at least %" PRIu64 " B", smallest);
            assert_true(memory.bytes < smallest);
            assert_non_null(strstr(fault.text, number));
            memory.bytes = smallest;
            assert_int_equal(tile_plan_find(&plan, &layer, &memory, &estimate, &fault), 0);
            refused++;
        }
        assert_true(plan.exhaustive);
        assert_true(memory.bytes >= smallest);
        check_buffers(&plan);
        {
            const struct tile_division division = tile_case_division(&plan);

            assert_int_equal(tile_case_walk(&division, bytes), plan.total);
        }
        for (uint32_t i = 0; i < layer.operands; i++) {
            assert_int_equal(bytes[i], plan.traffic[i]);
            assert_true(plan.least[i] <= plan.traffic[i]);
        }
        check_jobs(&plan);
        planned++;
    }
    printf("seed %d: %u plans, %u of them at the smallest budget\n", SEED, planned, refused);
    assert_true(planned > scaled(RANDOM_LAYERS) / 2 && refused > scaled(RANDOM_LAYERS) / 50);
}

static void test_no_tile_sizes_are_better(void **state)
{
    double worst = 1;
    uint32_t planned = 0, better = 0;

    (void)state;
    for (uint32_t n = 0; n < scaled(SMALL_LAYERS); n++) {
        struct rng rng = rng_for_case(SEED + 1, n);
        struct tile_memory memory;
        struct tile_layer layer;
        struct tile_plan plan;
        struct fault fault;
        uint64_t best;

        if (!tile_case_layer(&layer, &rng, 7))
            continue;
        memory = random_memory(&rng, 600);
        best = tile_case_exhaustive(&layer, &memory);
        if (tile_plan_find(&plan, &layer, &memory, &estimate, &fault)) {
            assert_true(best == UINT64_MAX);
            continue;
        }
        planned++;
        better += best < plan.total;
        if ((double)plan.total / (double)best > worst)
            worst = (double)plan.total / (double)best;
        if ((double)plan.total > 1.05 * (double)best)
            fail_msg("case %u: %" PRIu64 " B planned, %" PRIu64 " B possible", n, plan.total, best);
    }
    printf("seed %d: %u small layers, traffic / exhaustive best at most %.4f, above 1 in %u\n",
           SEED + 1, planned, worst, better);
    assert_true(planned > scaled(SMALL_LAYERS) / 5);
}

/* The 3x3 convolution of docs/tiles.md. */
static void test_a_convolution(void **state)
{
    struct tile_window window = {.shape = {224, 224, 32},
                                 .kernel = {3, 3},
                                 .stride = {1, 1},
                                 .dilation = {1, 1},
                                 .channels = 32,
                                 .weights = true,
                                 .element = 1};
    const struct tile_memory memory = {.bytes = 256 * 1024, .alignment = 16, .buffers = 2};
    struct tile_layer layer;
    struct tile_plan plan;
    struct fault fault;

    (void)state;
    tile_window_pad_same(&window);
    assert_int_equal(window.pad_pre[0], 1);
    assert_int_equal(window.pad_post[1], 1);
    assert_int_equal(tile_layer_window(&layer, &window, &fault), 0);
    assert_int_equal(tile_plan_find(&plan, &layer, &memory, &estimate, &fault), 0);
    assert_int_equal(plan.least_total, 224 * 224 * 32 * 2 + 9 * 32 * 32);
    /* one buffer suffices, because the weights are loaded only once */
    assert_int_equal(plan.buffers[1].count, 1);
    assert_true((double)plan.total < 1.05 * (double)plan.least_total);
    check_buffers(&plan);
}

static void test_what_cannot_be_a_layer(void **state)
{
    struct tile_window window = {.shape = {8, 8, 4},
                                 .kernel = {3, 3},
                                 .stride = {1, 1},
                                 .dilation = {1, 1},
                                 .channels = 4,
                                 .element = 1};
    struct tile_layer layer;
    struct fault fault;
    const uint32_t huge[4] = {UINT32_MAX, UINT32_MAX, UINT32_MAX, UINT32_MAX};

    (void)state;
    window.kernel[0] = 9;
    assert_int_equal(tile_layer_window(&layer, &window, &fault), -1);
    assert_non_null(strstr(fault.text, "covers 9 rows, but the padded input has 8"));
    window.kernel[0] = 3;
    window.pad_pre[1] = 3;
    assert_int_equal(tile_layer_window(&layer, &window, &fault), -1);
    assert_non_null(strstr(fault.text, "the padding of a side must be less"));
    window.pad_pre[1] = 0;
    window.dilation[0] = 200;
    assert_int_equal(tile_layer_window(&layer, &window, &fault), -1);
    assert_int_equal(tile_layer_elementwise(&layer, 4, huge, 4, 2, &fault), -1);
    assert_non_null(strstr(fault.text, "2^53"));
    assert_int_equal(tile_layer_elementwise(&layer, 0, huge, 4, 2, &fault), -1);
    assert_int_equal(tile_layer_elementwise(&layer, 1, huge, 1, 3, &fault), -1);
}

/* Extents of 32 bits cause no overflow: the search is bounded, and the refusal has a reason. */
static void test_huge_layers(void **state)
{
    const uint32_t shape[4] = {3000000019, 60013, 7, 1};
    struct tile_memory memory = {.bytes = UINT64_C(1) << 40, .alignment = 64, .buffers = 2};
    struct tile_layer layer;
    struct tile_plan plan;
    struct fault fault;

    (void)state;
    assert_int_equal(tile_layer_elementwise(&layer, 3, shape, 1, 2, &fault), 0);
    assert_int_equal(tile_plan_find(&plan, &layer, &memory, &estimate, &fault), 0);
    assert_false(plan.exhaustive);
    assert_int_equal(plan.total, 3 * plan.least[0]);
    check_buffers(&plan);
    memory.bytes = 1024;
    assert_int_equal(tile_plan_find(&plan, &layer, &memory, &estimate, &fault), -1);
    assert_non_null(strstr(fault.text, "at least"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_a_convolution),
        cmocka_unit_test(test_random_plans),
        cmocka_unit_test(test_no_tile_sizes_are_better),
        cmocka_unit_test(test_what_cannot_be_a_layer),
        cmocka_unit_test(test_huge_layers),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
