/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Tests the records of ended jobs: the limits of each user and of all users together, and which
 * record is forgotten first.
 */
#include "daemon/job/history.h"

#include <stdlib.h>
#include <string.h>
#include <uv.h>

#include "daemon/base/seam.h"
#include "tests/unit/daemon/costs.h"
#include "tests/unit/daemon/records.h"

static void test_oldest_record_is_replaced(void **state)
{
    struct job_info info;

    (void)state;
    records_add_many(alice, 250);
    assert_int_equal(alice->shelf.count, LIMIT);
    for (uint64_t i = 1; i <= 250; i++)
        assert_int_equal(records_known(i), i > 150);
    assert_true(records_find(250)->entry.ended);
    record_info(records_find(250), &info);
    assert_int_equal(info.job, 250);
    assert_int_equal(info.uid, ALICE);
    assert_string_equal(info.name, "tile");
    assert_string_equal(info.error->text, "number 250");
    assert_int_equal(info.state, JOB_STATE_FAILED);
    assert_ptr_equal(registry_find_name(&registry, ALICE, "tile"), &records_find(250)->entry);
}

/*
 * New records of a user replace no record of a second user, even if the second user is not
 * connected.
 */
static void test_users_do_not_share(void **state)
{
    const uint64_t kept = records_add_undelivered(alice), also = records_add(records_make(alice));

    (void)state;
    user_drop(alice);
    records_add_many(bob, 10 * LIMIT);
    for (uid_t uid = 5000; uid < 5000 + 3 * USERS_KEPT; uid++) {
        struct user *user = user_hold(&users, uid);

        records_add(records_make(user));
        user_drop(user);
    }
    assert_true(records_known(kept) && records_known(also));
    alice = user_hold(&users, ALICE);
    assert_ptr_equal(records_find(kept)->entry.user, alice);
    assert_int_equal(alice->shelf.count, 2);
}

static void test_delivered_records_are_replaced_first(void **state)
{
    const uint64_t detached = records_add_undelivered(alice);
    uint64_t waited;

    (void)state;
    records_add_many(alice, 10 * LIMIT);
    assert_true(records_known(detached));
    waited = records_add_undelivered(alice);
    history_delivered(records_find(waited));
    history_delivered(records_find(waited)); /* the second call has no effect */
    records_add_many(alice, LIMIT - 2);
    assert_true(records_known(waited));
    records_add_many(alice, 1);
    assert_false(records_known(waited));
    assert_true(records_known(detached));
    assert_int_equal(alice->shelf.undelivered, 1);
}

/*
 * A user who never calls job.wait loses the records of the oldest jobs; delivered records keep a
 * quarter of the limit.
 */
static void test_limit_of_undelivered_records(void **state)
{
    uint64_t number;

    (void)state;
    for (int i = 0; i < 3 * LIMIT; i++)
        records_add_undelivered(alice);
    assert_int_equal(alice->shelf.count, LIMIT);
    assert_int_equal(alice->shelf.undelivered, LIMIT);
    assert_false(records_known(2 * LIMIT));
    assert_true(records_known(2 * LIMIT + 1));
    number = records_add(records_make(alice));
    records_add_many(alice, LIMIT / 4);
    assert_true(records_known(number));
    records_add_many(alice, LIMIT);
    assert_false(records_known(number));
    assert_int_equal(alice->shelf.undelivered, LIMIT - LIMIT / 4 - 1);
    assert_true(records_known(3 * LIMIT));
}

static void test_limits(void **state)
{
    (void)state;
    records_add_many(alice, 90);
    records_add_many(bob, 5);
    history_set_limit(&history, 10);
    assert_int_equal(history.count, 95);
    assert_int_equal(records_trim(), 80 + 2);
    assert_int_equal(history.count, 15);
    assert_true(records_known(81) && records_known(91) && !records_known(80));
    history_set_limit(&history, 1000);
    records_add_many(alice, 400);
    assert_int_equal(alice->shelf.count, 410);
    assert_int_equal(records_trim(), 2);
    history_set_limit(&history, 0);
    records_trim();
    assert_int_equal(history.count, 0);
    assert_false(records_known(records_add(records_make(alice))));
    assert_int_equal(history.count, 0);
}

/* After the limit was lowered, each new record replaces up to four old records. */
static void test_records_added_while_trimming(void **state)
{
    const uint64_t kept = records_add(records_make(bob));
    uint32_t before = LIMIT;

    (void)state;
    records_add_many(alice, LIMIT);
    history_set_limit(&history, 10);
    do {
        records_add(records_make(alice));
        assert_in_range(before - alice->shelf.count, 1, 4);
        before = alice->shelf.count;
        assert_true(history_trim(&history));
        assert_in_range(before - alice->shelf.count, 0, 1);
        before = alice->shelf.count;
    } while (before > 10);
    history_set_limit(&history, 5);
    user_drop(alice);
    user_drop(bob);
    records_trim();
    assert_true(records_known(kept));
    assert_int_equal(history.count, 6);
    history_set_limit(&history, 0); /* users without records are freed during the trimming */
    records_trim();
    assert_int_equal(history.shelf_count, 0);
    alice = user_hold(&users, ALICE);
    bob = user_hold(&users, BOB);
}

/* At the limit of all users together, the users with most records lose some. */
static void test_limit_of_all_users(void **state)
{
    const uint64_t kept = records_add_undelivered(alice);

    (void)state;
    for (uid_t uid = 5000; uid < 5000 + 2 * HISTORY_SHARES; uid++) {
        struct user *user = user_hold(&users, uid);

        for (int i = 0; i < LIMIT; i++)
            records_add_undelivered(user);
        user_drop(user);
    }
    assert_int_equal(history.count, HISTORY_SHARES * LIMIT);
    assert_true(records_known(kept));
    for (uid_t uid = 5000; uid < 5000 + 2 * HISTORY_SHARES; uid++) {
        const struct user *user = user_find(&users, uid);

        assert_non_null(user);
        assert_in_range(user->shelf.count, LIMIT / 4, LIMIT);
    }
}

/* All users have equally many records: the last active user loses one, not the idle user. */
static void test_idle_user_among_equal_users(void **state)
{
    (void)state;
    for (int i = 0; i < LIMIT; i++)
        records_add_undelivered(alice);
    records_add_others(HISTORY_SHARES - 1);
    assert_int_equal(history.count, HISTORY_SHARES * LIMIT);
    records_add_many(bob, HISTORY_SHARES - 1);
    assert_int_equal(alice->shelf.count, LIMIT);
}

/* Beyond the total limit, idle and active users end with the same number of records. */
static void test_user_with_most_records_loses_one(void **state)
{
    const uint32_t share = HISTORY_SHARES * LIMIT / (2 * HISTORY_SHARES + 1);

    (void)state;
    for (int i = 0; i < LIMIT; i++)
        records_add_undelivered(alice);
    records_add_others(2 * HISTORY_SHARES);
    assert_int_equal(history.count, HISTORY_SHARES * LIMIT);
    assert_in_range(alice->shelf.count, share, share + 1);
    for (uid_t uid = 5000; uid < 5000 + 2 * HISTORY_SHARES; uid++)
        assert_in_range(user_find(&users, uid)->shelf.count, share, share + 1);
}

static void test_limit_of_large_results(void **state)
{
    const uint64_t small = records_add(records_make(alice)),
                   others = records_add(records_make_large(bob, 100 * 1000));

    (void)state;
    for (int i = 0; i < 60; i++)
        records_add(records_make_large(alice, 100 * 1000)); /* each of these records has 500 KB */
    assert_in_range(alice->shelf.count, 10, 17);
    assert_true(alice->shelf.quant_bytes <= HISTORY_QUANT_MAX);
    assert_true(records_known(small) &&
                records_known(others)); /* the two small records have no parameters */
    records_add_many(alice, LIMIT);
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
        records_add(records_make_large(alice, 1));
    assert_int_equal(alice->shelf.count, HISTORY_QUANT_MAX / HISTORY_QUANT_MIN);
    before = alice->shelf.count;
    records_add(records_make_large(alice, 54972));
    assert_in_range(before - alice->shelf.count, 1, 70);
}

static void test_parameters_of_all_users(void **state)
{
    const uint64_t kept = records_add(records_make_large(alice, 10 * 1000));

    (void)state;
    for (uid_t uid = 5000; uid < 5000 + 2 * HISTORY_SHARES; uid++) {
        struct user *user = user_hold(&users, uid);

        for (int i = 0; i < 20; i++)
            records_add(records_make_large(user, 100 * 1000));
        user_drop(user);
    }
    assert_true(history.quant_bytes <= (uint64_t)HISTORY_SHARES * HISTORY_QUANT_MAX);
    assert_true(records_known(kept));
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
    records_add_many(alice, CALLS);
}

/* All jobs have one name: each job that ends replaces the oldest record. */
static double cost_at(uint32_t limit)
{
    history_set_limit(&history, limit);
    records_add_many(alice, limit + 1);
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
    records_add_many(alice, CALLS);
    few = cost_of(set_limits, NULL);
    history_set_limit(&history, 65536);
    records_add_many(alice, 65536);
    assert_int_equal(alice->shelf.count, 65536);
    many = cost_of(set_limits, NULL);
    assert_int_equal(alice->shelf.count, 65536);
    begin = uv_hrtime();
    records_trim();
    print_message("a lower limit: %.0f ns; forgetting the records takes %.1f ms, in slices\n",
                  many / CALLS, (double)(uv_hrtime() - begin) / 1e6);
    assert_true(many < few * COST_RATIO_MAX);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        RECORDS(test_oldest_record_is_replaced),
        RECORDS(test_users_do_not_share),
        RECORDS(test_delivered_records_are_replaced_first),
        RECORDS(test_limit_of_undelivered_records),
        RECORDS(test_limits),
        RECORDS(test_records_added_while_trimming),
        RECORDS(test_cost_of_lower_limit),
        RECORDS(test_limit_of_all_users),
        RECORDS(test_idle_user_among_equal_users),
        RECORDS(test_user_with_most_records_loses_one),
        RECORDS(test_limit_of_large_results),
        RECORDS(test_limit_of_small_parameters),
        RECORDS(test_parameters_of_all_users),
        RECORDS(test_no_memory),
        RECORDS(test_cost_of_long_history),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
