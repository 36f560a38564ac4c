/* SPDX-License-Identifier: BSD-3-Clause */
/* Tests finding jobs by number and by name. */
#include "daemon/job/history.h"

#include <stdio.h>
#include <stdlib.h>

#include "daemon/job/user.h"
#include "tests/support/unit.h"
#include "tests/unit/daemon/costs.h"

static struct registry registry;
static struct users users;
static struct user *user;

static int setup(void **state)
{
    (void)state;
    registry_init(&registry);
    users_init(&users);
    user = user_hold(&users, 1000);
    assert_non_null(user);
    return 0;
}

static int teardown(void **state)
{
    (void)state;
    assert_true(link_empty(&registry.entries) && link_empty(&user->entries));
    registry_finish(&registry);
    user_drop(user);
    users_finish(&users);
    return 0;
}

static struct entry make(uint64_t number, uint64_t client, const char *name)
{
    return (struct entry){.number = number, .client = client, .name = name, .user = user};
}

static void test_numbers(void **state)
{
    enum { COUNT = 5000 };
    struct entry *entries = calloc(COUNT, sizeof *entries);

    (void)state;
    assert_non_null(entries);
    for (int i = 0; i < COUNT; i++) {
        entries[i] = make((uint64_t)i + 1, 1, NULL);
        registry_add(&registry, &entries[i]);
    }
    for (int i = 0; i < COUNT; i += 3)
        registry_remove(&registry, &entries[i]);
    for (int i = 0; i < COUNT; i++)
        assert_ptr_equal(registry_find(&registry, (uint64_t)i + 1), i % 3 ? &entries[i] : NULL);
    assert_null(registry_find(&registry, 0));
    assert_null(registry_find(&registry, UINT64_MAX));
    registry_remove(&registry, &entries[0]); /* the second call has no effect */
    for (int i = 0; i < COUNT; i++)
        registry_remove(&registry, &entries[i]);
    assert_true(link_empty(&registry.entries));
    free(entries);
}

static void test_names(void **state)
{
    struct entry a = make(1, 1, "a"), later = make(7, 1, "a");
    struct entry others = make(8, 2, "a"), nameless = make(9, 1, NULL);

    (void)state;
    registry_add(&registry, &a);
    registry_add(&registry, &later);
    registry_add(&registry, &others);
    registry_add(&registry, &nameless);
    assert_ptr_equal(registry_find_name(&registry, 1, "a"), &later);
    assert_ptr_equal(registry_find_name(&registry, 2, "a"), &others);
    assert_null(registry_find_name(&registry, 3, "a"));
    assert_null(registry_find_name(&registry, 1, "b"));
    assert_null(registry_find_name(&registry, 1, ""));
    registry_remove(&registry, &nameless);
    assert_null(registry_find(&registry, 9));
    registry_remove(&registry, &a);
    assert_ptr_equal(registry_find_name(&registry, 1, "a"), &later);
    registry_remove(&registry, &later);
    registry_remove(&registry, &others);
}

/* If the latest job with a name was forgotten, the name must not mean an earlier job. */
static void test_name_never_finds_earlier_job(void **state)
{
    struct entry first = make(1, 5, "load"), second = make(2, 5, "load"),
                 third = make(3, 5, "load");

    (void)state;
    registry_add(&registry, &first);
    registry_add(&registry, &second);
    registry_remove(&registry, &second);
    assert_null(registry_find_name(&registry, 5, "load"));
    assert_ptr_equal(registry_find(&registry, 1), &first);
    registry_add(&registry, &third);
    assert_ptr_equal(registry_find_name(&registry, 5, "load"), &third);
    registry_hide_name(&registry, 5, "load");
    assert_null(registry_find_name(&registry, 5, "load"));
    registry_hide_name(&registry, 5, "load");
    registry_remove(&registry, &third);
    registry_remove(&registry, &first);
}

/* A record replaces its task in the registry: number, name and order stay the same. */
static void test_replacement(void **state)
{
    struct entry first = make(1, 5, "a"), task = make(2, 5, "b"), last = make(3, 5, "c");
    struct entry record = task, nameless;

    (void)state;
    registry_add(&registry, &first);
    registry_add(&registry, &task);
    registry_add(&registry, &last);
    registry_replace(&registry, &task, &record);
    registry_remove(&registry, &task); /* the task is no longer in the registry: no effect */
    assert_ptr_equal(registry_find(&registry, 2), &record);
    assert_ptr_equal(registry_find_name(&registry, 5, "b"), &record);
    assert_ptr_equal(LINK_OWNER(first.of_all.next, struct entry, of_all), &record);
    assert_ptr_equal(LINK_OWNER(last.of_user.prev, struct entry, of_user), &record);
    nameless = make(2, 5, NULL);
    registry_replace(&registry, &record, &nameless);
    assert_null(registry_find_name(&registry, 5, "b"));
    assert_ptr_equal(registry_find(&registry, 2), &nameless);
    registry_remove(&registry, &nameless);
    registry_remove(&registry, &last);
    registry_remove(&registry, &first);
}

/*
 * A record replaces a task whose name is hidden. The name must not find the record.
 */
static void test_replacement_without_name(void **state)
{
    struct entry task = make(1, 5, "a"), record = task;

    (void)state;
    registry_add(&registry, &task);
    registry_hide_name(&registry, 5, "a");
    registry_replace(&registry, &task, &record);
    assert_null(registry_find_name(&registry, 5, "a"));
    assert_ptr_equal(registry_find(&registry, 1), &record);
    registry_remove(&registry, &record);
}

enum { FEW = 64, MANY = 65536, CALLS = 2000 };

struct crowd {
    struct entry *entries;
    unsigned count;
    uint64_t next;
};

/* Replaces the oldest entry by a new one with the same name. */
static void turn_over(void *context)
{
    struct crowd *crowd = context;

    for (unsigned i = 0; i < CALLS; i++) {
        struct entry *entry = &crowd->entries[crowd->next % crowd->count];

        registry_remove(&registry, entry);
        *entry = make(crowd->next++, 5, "tile");
        registry_add(&registry, entry);
        assert_ptr_equal(registry_find_name(&registry, 5, "tile"), entry);
        entry = &crowd->entries[(crowd->next + crowd->count / 2) % crowd->count];
        assert_ptr_equal(registry_find(&registry, entry->number), entry);
    }
}

static double cost_among(unsigned count)
{
    struct crowd crowd = {.entries = calloc(count, sizeof *crowd.entries), .count = count};
    double cost;

    assert_non_null(crowd.entries);
    for (unsigned i = 0; i < count; i++) {
        crowd.entries[i] = make(i, 5, "tile");
        registry_add(&registry, &crowd.entries[i]);
    }
    crowd.next = count;
    cost = cost_of(turn_over, &crowd);
    for (unsigned i = 0; i < count; i++)
        registry_remove(&registry, &crowd.entries[i]);
    free(crowd.entries);
    return cost;
}

static void test_cost_of_one_name_for_all_jobs(void **state)
{
    const double few = cost_among(FEW), many = cost_among(MANY);

    (void)state;
    print_message("a name of %d jobs costs %.1f times as much as one of %d\n", MANY, many / few,
                  FEW);
    assert_true(many < few * COST_RATIO_MAX);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_numbers, setup, teardown),
        cmocka_unit_test_setup_teardown(test_names, setup, teardown),
        cmocka_unit_test_setup_teardown(test_name_never_finds_earlier_job, setup, teardown),
        cmocka_unit_test_setup_teardown(test_replacement, setup, teardown),
        cmocka_unit_test_setup_teardown(test_replacement_without_name, setup, teardown),
        cmocka_unit_test_setup_teardown(test_cost_of_one_name_for_all_jobs, setup, teardown),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
