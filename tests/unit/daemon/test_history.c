/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Tests the records of ended jobs: the limits of each user and of all, and which record is
 * replaced.
 */
#include "daemon/job/history.h"

#include <stdlib.h>
#include <string.h>
#include <uv.h>

#include "daemon/base/seam.h"
#include "daemon/job/user.h"
#include "tests/support/unit.h"
#include "tests/unit/daemon/costs.h"

enum { LIMIT = 100, ALICE = 1000, BOB = 1001 };

static struct registry registry;
static struct history history;
static struct users users;
static struct user *alice, *bob;
static uint64_t last; /* number of the latest record */

static int setup(void **state)
{
    (void)state;
    registry_init(&registry);
    history_init(&history, &registry, LIMIT);
    users_init(&users);
    alice = user_hold(&users, ALICE);
    bob = user_hold(&users, BOB);
    last = 0;
    return 0;
}

static int teardown(void **state)
{
    (void)state;
    history_finish(&history);
    assert_int_equal(history.count, 0);
    assert_int_equal(history.quant_bytes, 0);
    assert_true(link_empty(&registry.entries));
    registry_finish(&registry);
    user_drop(alice);
    user_drop(bob);
    users_finish(&users);
    return 0;
}

static struct record *make(struct user *user)
{
    const struct entry entry = {
        .number = ++last, .client = user->uid, .name = "tile", .user = user};
    struct record *record;
    struct fault fault;

    fault_set(&fault, FAULT_LIMIT, NULL, "number %u", (unsigned)last);
    record = record_create(&entry, &fault);
    assert_non_null(record);
    record->state = JOB_STATE_FAILED;
    return record;
}

static uint64_t add(struct record *record)
{
    const uint64_t number = record->entry.number;

    registry_add(&registry, &record->entry);
    history_add(&history, record);
    return number;
}

static uint64_t add_undelivered(struct user *user)
{
    struct record *record = make(user);

    record->detached = record->undelivered = true;
    return add(record);
}

static void add_many(struct user *user, unsigned count)
{
    for (unsigned i = 0; i < count; i++)
        add(make(user));
}

static bool known(uint64_t number)
{
    return registry_find(&registry, number) != NULL;
}

static struct record *record_of(uint64_t number)
{
    struct entry *entry = registry_find(&registry, number);

    assert_non_null(entry);
    return (struct record *)(void *)entry;
}

static void test_oldest_record_is_replaced(void **state)
{
    struct job_info info;

    (void)state;
    add_many(alice, 250);
    assert_int_equal(alice->shelf.count, LIMIT);
    for (uint64_t i = 1; i <= 250; i++)
        assert_int_equal(known(i), i > 150);
    assert_true(record_of(250)->entry.ended);
    record_info(record_of(250), &info);
    assert_int_equal(info.job, 250);
    assert_int_equal(info.uid, ALICE);
    assert_string_equal(info.name, "tile");
    assert_string_equal(info.error->text, "number 250");
    assert_int_equal(info.state, JOB_STATE_FAILED);
    assert_ptr_equal(registry_find_name(&registry, ALICE, "tile"), &record_of(250)->entry);
}

/* Another user's records do not replace a user's own, whether that user is connected or not. */
static void test_users_do_not_share(void **state)
{
    const uint64_t kept = add_undelivered(alice), also = add(make(alice));

    (void)state;
    user_drop(alice);
    add_many(bob, 10 * LIMIT);
    for (uid_t uid = 5000; uid < 5000 + 3 * USERS_KEPT; uid++) {
        struct user *user = user_hold(&users, uid);

        add(make(user));
        user_drop(user);
    }
    assert_true(known(kept) && known(also));
    alice = user_hold(&users, ALICE);
    assert_ptr_equal(record_of(kept)->entry.user, alice);
    assert_int_equal(alice->shelf.count, 2);
}

static void test_delivered_records_are_replaced_first(void **state)
{
    const uint64_t detached = add_undelivered(alice);
    uint64_t waited;

    (void)state;
    add_many(alice, 10 * LIMIT);
    assert_true(known(detached));
    waited = add_undelivered(alice);
    history_delivered(record_of(waited));
    history_delivered(record_of(waited)); /* the second call has no effect */
    add_many(alice, LIMIT - 2);
    assert_true(known(waited));
    add_many(alice, 1);
    assert_false(known(waited));
    assert_true(known(detached));
    assert_int_equal(alice->shelf.undelivered, 1);
}

/* A user without job.wait loses the oldest jobs; delivered records keep a quarter of the limit. */
static void test_limit_of_undelivered_records(void **state)
{
    uint64_t number;

    (void)state;
    for (int i = 0; i < 3 * LIMIT; i++)
        add_undelivered(alice);
    assert_int_equal(alice->shelf.count, LIMIT);
    assert_int_equal(alice->shelf.undelivered, LIMIT);
    assert_false(known(2 * LIMIT));
    assert_true(known(2 * LIMIT + 1));
    number = add(make(alice));
    add_many(alice, LIMIT / 4);
    assert_true(known(number));
    add_many(alice, LIMIT);
    assert_false(known(number));
    assert_int_equal(alice->shelf.undelivered, LIMIT - LIMIT / 4 - 1);
    assert_true(known(3 * LIMIT));
}

static unsigned trim(void)
{
    unsigned steps = 0;

    while (history_trim(&history))
        steps++;
    return steps;
}

static void test_limits(void **state)
{
    (void)state;
    add_many(alice, 90);
    add_many(bob, 5);
    history_set_limit(&history, 10);
    assert_int_equal(history.count, 95);
    assert_int_equal(trim(), 80 + 2);
    assert_int_equal(history.count, 15);
    assert_true(known(81) && known(91) && !known(80));
    history_set_limit(&history, 1000);
    add_many(alice, 400);
    assert_int_equal(alice->shelf.count, 410);
    assert_int_equal(trim(), 2);
    history_set_limit(&history, 0);
    trim();
    assert_int_equal(history.count, 0);
    assert_false(known(add(make(alice))));
    assert_int_equal(history.count, 0);
}

/* After the limit was lowered, a new record replaces up to four old records. */
static void test_records_added_while_trimming(void **state)
{
    const uint64_t kept = add(make(bob));
    uint32_t before = LIMIT;

    (void)state;
    add_many(alice, LIMIT);
    history_set_limit(&history, 10);
    do {
        add(make(alice));
        assert_in_range(before - alice->shelf.count, 1, 4);
        before = alice->shelf.count;
        assert_true(history_trim(&history));
        assert_in_range(before - alice->shelf.count, 0, 1);
        before = alice->shelf.count;
    } while (before > 10);
    history_set_limit(&history, 5);
    user_drop(alice);
    user_drop(bob);
    trim();
    assert_true(known(kept));
    assert_int_equal(history.count, 6);
    history_set_limit(&history, 0); /* users are freed during the trimming */
    trim();
    assert_int_equal(history.shelf_count, 0);
    alice = user_hold(&users, ALICE);
    bob = user_hold(&users, BOB);
}

/* At the limit of all users together, the users with most records lose some. */
static void test_limit_of_all_users(void **state)
{
    const uint64_t kept = add_undelivered(alice);

    (void)state;
    for (uid_t uid = 5000; uid < 5000 + 2 * HISTORY_SHARES; uid++) {
        struct user *user = user_hold(&users, uid);

        for (int i = 0; i < LIMIT; i++)
            add_undelivered(user);
        user_drop(user);
    }
    assert_int_equal(history.count, HISTORY_SHARES * LIMIT);
    assert_true(known(kept));
    for (uid_t uid = 5000; uid < 5000 + 2 * HISTORY_SHARES; uid++) {
        const struct user *user = user_find(&users, uid);

        assert_non_null(user);
        assert_in_range(user->shelf.count, LIMIT / 4, LIMIT);
    }
}

static void fill_with_others(int users_count)
{
    for (uid_t uid = 5000; uid < 5000 + (uid_t)users_count; uid++) {
        struct user *user = user_hold(&users, uid);

        add_many(user, LIMIT);
        user_drop(user);
    }
}

/* All users have equally many records: the last active user loses one, not the idle user. */
static void test_idle_user_among_equal_users(void **state)
{
    (void)state;
    for (int i = 0; i < LIMIT; i++)
        add_undelivered(alice);
    fill_with_others(HISTORY_SHARES - 1);
    assert_int_equal(history.count, HISTORY_SHARES * LIMIT);
    add_many(bob, HISTORY_SHARES - 1);
    assert_int_equal(alice->shelf.count, LIMIT);
}

/* Beyond the total limit, idle and active users end with the same number of records. */
static void test_user_with_most_records_loses_one(void **state)
{
    const uint32_t share = HISTORY_SHARES * LIMIT / (2 * HISTORY_SHARES + 1);

    (void)state;
    for (int i = 0; i < LIMIT; i++)
        add_undelivered(alice);
    fill_with_others(2 * HISTORY_SHARES);
    assert_int_equal(history.count, HISTORY_SHARES * LIMIT);
    assert_in_range(alice->shelf.count, share, share + 1);
    for (uid_t uid = 5000; uid < 5000 + 2 * HISTORY_SHARES; uid++)
        assert_in_range(user_find(&users, uid)->shelf.count, share, share + 1);
}

/* Makes the result of a job with `entries` entries of parameters. */
static struct record *make_large(struct user *user, uint32_t entries)
{
    struct record *record = make(user);

    free(record->fault);
    record->fault = NULL;
    record->state = JOB_STATE_DONE;
    assert_int_equal(quant_alloc(&record->result.dst.quant, entries), 0);
    return record;
}

static void test_limit_of_large_results(void **state)
{
    const uint64_t small = add(make(alice)), others = add(make_large(bob, 100 * 1000));

    (void)state;
    for (int i = 0; i < 60; i++)
        add(make_large(alice, 100 * 1000)); /* the records have 500 KB each */
    assert_in_range(alice->shelf.count, 10, 17);
    assert_true(alice->shelf.quant_bytes <= HISTORY_QUANT_MAX);
    assert_true(known(small) && known(others)); /* these records have no parameters */
    add_many(alice, LIMIT);
    assert_int_equal(alice->shelf.count, LIMIT);
    assert_int_equal(alice->shelf.quant_bytes, 0);
    assert_int_equal(history.quant_bytes, bob->shelf.quant_bytes);
}

/* A large record does not replace many small records, because that would take long. */
static void test_limit_of_small_parameters(void **state)
{
    uint32_t before;

    (void)state;
    history_set_limit(&history, 65536);
    for (int i = 0; i < 5000; i++)
        add(make_large(alice, 1));
    assert_int_equal(alice->shelf.count, HISTORY_QUANT_MAX / HISTORY_QUANT_MIN);
    before = alice->shelf.count;
    add(make_large(alice, 54972));
    assert_in_range(before - alice->shelf.count, 1, 70);
}

static void test_parameters_of_all_users(void **state)
{
    const uint64_t kept = add(make_large(alice, 10 * 1000));

    (void)state;
    for (uid_t uid = 5000; uid < 5000 + 2 * HISTORY_SHARES; uid++) {
        struct user *user = user_hold(&users, uid);

        for (int i = 0; i < 20; i++)
            add(make_large(user, 100 * 1000));
        user_drop(user);
    }
    assert_true(history.quant_bytes <= (uint64_t)HISTORY_SHARES * HISTORY_QUANT_MAX);
    assert_true(known(kept));
}

static void *no_memory(size_t count, size_t size)
{
    (void)count;
    (void)size;
    return NULL;
}

static void test_no_memory(void **state)
{
    const struct entry entry = {.number = 1, .user = alice};

    (void)state;
    seam.calloc = no_memory;
    assert_null(record_create(&entry, NULL));
    seam.calloc = calloc;
}

enum { CALLS = 2000 };

static void turn_over(void *context)
{
    (void)context;
    add_many(alice, CALLS);
}

/* All jobs have one name: each job that ends replaces the oldest record. */
static double cost_at(uint32_t limit)
{
    history_set_limit(&history, limit);
    add_many(alice, limit + 1);
    assert_int_equal(alice->shelf.count, limit);
    return cost_of(turn_over, NULL);
}

static void test_cost_of_long_history(void **state)
{
    const double few = cost_at(64), many = cost_at(65536);

    (void)state;
    print_message("a record costs %.1f times as much with 65536 records as with 64\n", many / few);
    assert_true(many < few * COST_RATIO_MAX);
}

static void set_limits(void *context)
{
    (void)context;
    for (uint32_t i = 0; i < CALLS; i++)
        history_set_limit(&history, i);
}

static void test_cost_of_lower_limit(void **state)
{
    double few, many;
    uint64_t begin;

    (void)state;
    history_set_limit(&history, 65536);
    add_many(alice, CALLS);
    few = cost_of(set_limits, NULL);
    history_set_limit(&history, 65536);
    add_many(alice, 65536);
    assert_int_equal(alice->shelf.count, 65536);
    many = cost_of(set_limits, NULL);
    assert_int_equal(alice->shelf.count, 65536);
    begin = uv_hrtime();
    trim();
    print_message("a lower limit: %.0f ns; forgetting the records takes %.1f ms, in slices\n",
                  many / CALLS, (double)(uv_hrtime() - begin) / 1e6);
    assert_true(many < few * COST_RATIO_MAX);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_oldest_record_is_replaced, setup, teardown),
        cmocka_unit_test_setup_teardown(test_users_do_not_share, setup, teardown),
        cmocka_unit_test_setup_teardown(test_delivered_records_are_replaced_first, setup, teardown),
        cmocka_unit_test_setup_teardown(test_limit_of_undelivered_records, setup, teardown),
        cmocka_unit_test_setup_teardown(test_limits, setup, teardown),
        cmocka_unit_test_setup_teardown(test_records_added_while_trimming, setup, teardown),
        cmocka_unit_test_setup_teardown(test_cost_of_lower_limit, setup, teardown),
        cmocka_unit_test_setup_teardown(test_limit_of_all_users, setup, teardown),
        cmocka_unit_test_setup_teardown(test_idle_user_among_equal_users, setup, teardown),
        cmocka_unit_test_setup_teardown(test_user_with_most_records_loses_one, setup, teardown),
        cmocka_unit_test_setup_teardown(test_limit_of_large_results, setup, teardown),
        cmocka_unit_test_setup_teardown(test_limit_of_small_parameters, setup, teardown),
        cmocka_unit_test_setup_teardown(test_parameters_of_all_users, setup, teardown),
        cmocka_unit_test_setup_teardown(test_no_memory, setup, teardown),
        cmocka_unit_test_setup_teardown(test_cost_of_long_history, setup, teardown),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
