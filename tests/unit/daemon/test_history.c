/* SPDX-License-Identifier: BSD-3-Clause */
/* What is remembered of jobs, and how much of it. */
#include "history.h"

#include <stdlib.h>
#include <string.h>

#include "seam.h"
#include "unit.h"

static struct registry registry;
static struct history history;

static int setup(void **state)
{
    (void)state;
    registry_init(&registry);
    history_init(&history, &registry, 100);
    return 0;
}

static int teardown(void **state)
{
    (void)state;
    history_finish(&history);
    assert_null(registry_find(&registry, 1));
    return 0;
}

static struct record *make(uint64_t number)
{
    struct record *record = calloc(1, sizeof *record);

    assert_non_null(record);
    record->entry.number = number;
    record->entry.client = 3;
    record->entry.name = strdup("tile");
    record->state = JOB_STATE_FAILED;
    record->fault = calloc(1, sizeof *record->fault);
    assert_non_null(record->fault);
    fault_set(record->fault, FAULT_LIMIT, NULL, "number %u", (unsigned)number);
    return record;
}

static void test_the_oldest_goes(void **state)
{
    struct job_info info;

    (void)state;
    for (uint64_t i = 1; i <= 250; i++)
        history_add(&history, make(i));
    assert_int_equal(history.count, 100);
    assert_null(registry_find(&registry, 150));
    for (uint32_t i = 0; i < 100; i++) {
        const struct record *record = history_at(&history, i);

        assert_int_equal(record->entry.number, 151 + i);
        assert_ptr_equal(registry_find(&registry, 151 + i), &record->entry);
        assert_true(record->entry.ended);
    }
    record_info(history_at(&history, 99), &info);
    assert_int_equal(info.job, 250);
    assert_string_equal(info.name, "tile");
    assert_string_equal(info.error->text, "number 250");
    assert_int_equal(info.state, JOB_STATE_FAILED);
    assert_ptr_equal(registry_find_name(&registry, 3, "tile"), &history_at(&history, 99)->entry);
}

static void test_limits(void **state)
{
    (void)state;
    for (uint64_t i = 1; i <= 90; i++)
        history_add(&history, make(i));
    history_set_limit(&history, 10);
    assert_int_equal(history.count, 10);
    assert_int_equal(history_at(&history, 0)->entry.number, 81);
    history_set_limit(&history, 1000);
    for (uint64_t i = 91; i <= 500; i++) /* past the ring's size, from the middle of it */
        history_add(&history, make(i));
    assert_int_equal(history.count, 420);
    assert_int_equal(history_at(&history, 0)->entry.number, 81);
    assert_int_equal(history_at(&history, 419)->entry.number, 500);
    history_set_limit(&history, 0);
    history_add(&history, make(501));
    assert_int_equal(history.count, 0);
    assert_null(registry_find(&registry, 501));
}

/* A result of many entries of parameters. */
static struct record *make_large(uint64_t number, uint32_t entries)
{
    struct record *record = make(number);

    free(record->fault);
    record->fault = NULL;
    record->state = JOB_STATE_DONE;
    assert_int_equal(quant_alloc(&record->result.dst.quant, entries), 0);
    return record;
}

static void test_large_results_are_not_many(void **state)
{
    (void)state;
    for (uint64_t i = 1; i <= 60; i++)
        history_add(&history, make_large(i, 100 * 1000));
    assert_in_range(history.count, 10, 16); /* of 500 KB each */
    assert_true(history.quant_bytes <= 8 * 1024 * 1024);
    for (uint64_t i = 61; i <= 160; i++)
        history_add(&history, make(i));
    assert_int_equal(history.count, 100);
    assert_int_equal(history.quant_bytes, 0);
}

static void *no_memory(size_t count, size_t size)
{
    (void)count;
    (void)size;
    return NULL;
}

static void test_no_memory_for_the_ring(void **state)
{
    (void)state;
    seam.calloc = no_memory;
    history_add(&history, make(1));
    seam.calloc = calloc;
    assert_int_equal(history.count, 0);
    assert_null(registry_find(&registry, 1));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_the_oldest_goes, setup, teardown),
        cmocka_unit_test_setup_teardown(test_limits, setup, teardown),
        cmocka_unit_test_setup_teardown(test_large_results_are_not_many, setup, teardown),
        cmocka_unit_test_setup_teardown(test_no_memory_for_the_ring, setup, teardown),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
