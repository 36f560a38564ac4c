/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Tests the exact numbers of records that are kept at the limits, the lists of records, and their
 * descriptions.
 */
#include <stdlib.h>

#include "tests/unit/daemon/records.h"

enum {
    ENTRY = 5, /* bytes of the per-axis parameters for one index */
    SMALL_MAX = HISTORY_QUANT_MAX / HISTORY_QUANT_MIN, /* most records with few parameters */
    TOO_LARGE = HISTORY_QUANT_MAX / ENTRY + 1,         /* entries of a record that is too large */
    OTHERS = 5000                                      /* uid of the first other user */
};

static void add_for_others(unsigned users_count, unsigned records, uint32_t entries)
{
    for (uid_t uid = OTHERS; uid < OTHERS + users_count; uid++) {
        struct user *user = user_hold(&users, uid);

        for (unsigned i = 0; i < records; i++)
            records_add(entries > 0 ? records_make_large(user, entries) : records_make(user));
        user_drop(user);
    }
}

static void test_description_of_a_record(void **state)
{
    struct record *record = records_make(alice);
    struct job_info info;

    (void)state;
    record->entry.client = 3;
    record->priority = -1;
    record->channels = 4;
    record->first_channel = 2;
    record->bytes = 100;
    record->bytes_done = 50;
    record->detached = true;
    record->ns_queued = 7;
    record->ns_moving = 8;
    record_info(record, &info);
    assert_int_equal(info.job, 1);
    assert_int_equal(info.state, JOB_STATE_FAILED);
    assert_int_equal(info.client, 3);
    assert_int_equal(info.uid, ALICE);
    assert_int_equal(info.priority, -1);
    assert_int_equal(info.channels, 4);
    assert_int_equal(info.first_channel, 2);
    assert_int_equal(info.bytes, 100);
    assert_int_equal(info.bytes_done, 50);
    assert_true(info.detached);
    assert_int_equal(info.ns_queued, 7);
    assert_int_equal(info.ns_moving, 8);
    assert_ptr_equal(info.error, record->fault);
    record_free(record);
}

static void test_record_without_name_and_fault(void **state)
{
    struct record *record = record_create(&(struct entry){.number = 9, .user = bob}, NULL);
    struct job_info info;

    (void)state;
    assert_non_null(record);
    assert_int_equal(record->result.dst.quant.axis, -1);
    record_info(record, &info);
    assert_string_equal(info.name, "");
    assert_null(info.error);
    record_free(record);
}

/* After the limit was lowered, each new record replaces four old ones. */
static void test_a_new_record_replaces_four(void **state)
{
    (void)state;
    records_add_many(alice, LIMIT);
    history_set_limit(&history, 10);
    records_add_many(alice, 1);
    assert_int_equal(alice->shelf.count, LIMIT - 4 + 1);
}

static void test_a_new_record_replaces_four_of_all_users(void **state)
{
    (void)state;
    records_add_others(HISTORY_SHARES);
    history_set_limit(&history, LIMIT / 2);
    records_add_many(bob, 1);
    assert_int_equal(history.count, HISTORY_SHARES * LIMIT + 1 - 4);
}

static void test_limit_of_one_record(void **state)
{
    uint64_t first, second;

    (void)state;
    history_set_limit(&history, 1);
    first = records_add(records_make(alice));
    assert_true(records_known(first));
    second = records_add(records_make(alice));
    assert_false(records_known(first));
    assert_true(records_known(second));
    assert_int_equal(alice->shelf.count, 1);
}

/* Each record holds a reference to its user, until the record is forgotten or refused. */
static void test_records_hold_their_user(void **state)
{
    const uint32_t holders = alice->holders;

    (void)state;
    records_add_many(alice, LIMIT + 1);
    assert_int_equal(alice->holders, holders + LIMIT);
    records_add(records_make_large(alice, TOO_LARGE));
    assert_int_equal(alice->holders, holders + alice->shelf.count);
    history_set_limit(&history, 0);
    records_trim();
    records_add_many(alice, 1);
    assert_int_equal(alice->holders, holders);
}

/* All records are delivered, and no user has many: the limit on all records still holds. */
static void test_many_users_with_few_delivered_records(void **state)
{
    const unsigned each = LIMIT / 4, most = HISTORY_SHARES * LIMIT;

    (void)state;
    add_for_others(most / each + 1, each, 0);
    assert_int_equal(history.count, most);
}

/*
 * Tests users with few records: a user who has one record more than the others loses a record.
 */
static void test_one_record_more_is_most(void **state)
{
    (void)state;
    history_set_limit(&history, 200);
    records_add_many(alice, 101);
    add_for_others(30, 100, 0);
    records_add_many(bob, 99);
    assert_int_equal(history.count, HISTORY_SHARES * 200);
    records_add_many(bob, 1);
    assert_int_equal(alice->shelf.count, 100);
    assert_int_equal(bob->shelf.count, 100);
}

static void test_a_too_large_record_replaces_nothing(void **state)
{
    (void)state;
    history_set_limit(&history, 65536);
    records_add(records_make_large(alice, 1000 * 1000));
    assert_false(records_known(records_add(records_make_large(alice, TOO_LARGE))));
    assert_int_equal(alice->shelf.count, 1);
    for (int i = 1; i < 10; i++)
        records_add(records_make_large(bob, 1));
    assert_false(records_known(records_add(records_make_large(bob, TOO_LARGE))));
    assert_int_equal(bob->shelf.count, 9);
}

/*
 * The parameters of a user may be exactly as large as the limit. A record that is too large changes
 * nothing.
 */
static void test_parameters_at_the_limit_of_a_user(void **state)
{
    (void)state;
    history_set_limit(&history, 65536);
    for (int i = 0; i < SMALL_MAX; i++)
        records_add(records_make_large(alice, 1));
    assert_int_equal(alice->shelf.quant_bytes, HISTORY_QUANT_MAX);
    records_add(records_make_large(alice, TOO_LARGE));
    records_add_many(alice, 1);
    assert_int_equal(alice->shelf.count, SMALL_MAX + 1);
    records_add(records_make_large(alice, 1));
    assert_int_equal(alice->shelf.count, SMALL_MAX + 1);
}

/*
 * Beyond the limit of all users, the user with the most parameters loses a record, not the user
 * with the most records.
 */
static void test_parameters_at_the_limit_of_all_users(void **state)
{
    const uint64_t most = (uint64_t)HISTORY_QUANT_MAX * HISTORY_SHARES;
    uint64_t count;

    (void)state;
    history_set_limit(&history, 65536);
    add_for_others(HISTORY_SHARES - 1, SMALL_MAX, 1);
    for (int i = 1; i < SMALL_MAX; i++)
        records_add(records_make_large(bob, 1));
    records_add_many(bob, SMALL_MAX);
    records_add(records_make_large(alice, 1));
    assert_int_equal(history.quant_bytes, most);
    count = history.count;
    records_add(records_make_large(alice, 1));
    assert_int_equal(history.quant_bytes, most);
    assert_int_equal(history.count, count);
    assert_int_equal(alice->shelf.count, 2);
    assert_int_equal(bob->shelf.count, 2 * SMALL_MAX - 1);
}

static void test_large_undelivered_records_are_replaced(void **state)
{
    (void)state;
    for (int i = 0; i < 20; i++) {
        struct record *record = records_make_large(alice, 100 * 1000);

        record->detached = record->undelivered = true;
        records_add(record);
    }
    assert_int_equal(alice->shelf.count, HISTORY_QUANT_MAX / (100 * 1000 * ENTRY));
    assert_int_equal(alice->shelf.undelivered, alice->shelf.count);
}

/* Checks the numbers of the records in a list; the expected numbers end with 0. */
static void expect_list(struct link *list, const uint64_t *numbers)
{
    struct link *at = list->next;

    for (; *numbers > 0; numbers++, at = at->next) {
        assert_ptr_not_equal(at, list);
        assert_int_equal(LINK_OWNER(at, struct record, in_all)->entry.number, *numbers);
        assert_ptr_equal(at->next->prev, at);
    }
    assert_ptr_equal(at, list);
}

static void test_a_delivered_record_changes_its_list(void **state)
{
    const uint64_t first = records_add_undelivered(alice), middle = records_add_undelivered(alice),
                   end = records_add_undelivered(alice);

    (void)state;
    history_delivered(records_find(middle));
    expect_list(&alice->shelf.all.undelivered, (uint64_t[]){first, end, 0});
    expect_list(&alice->shelf.all.delivered, (uint64_t[]){middle, 0});
    history_delivered(records_find(end));
    history_delivered(records_find(first));
    expect_list(&alice->shelf.all.undelivered, (uint64_t[]){0});
    expect_list(&alice->shelf.all.delivered, (uint64_t[]){middle, end, first, 0});
}

static void test_a_delivered_large_record_changes_its_list(void **state)
{
    struct record *records[2];

    (void)state;
    for (int i = 0; i < 2; i++) {
        records[i] = records_make_large(alice, 10);
        records[i]->undelivered = true;
        records_add(records[i]);
    }
    history_delivered(records[0]);
    assert_ptr_equal(alice->shelf.heavy.delivered.next, &records[0]->in_heavy);
    assert_ptr_equal(alice->shelf.heavy.delivered.prev, &records[0]->in_heavy);
    assert_ptr_equal(alice->shelf.heavy.undelivered.next, &records[1]->in_heavy);
    assert_ptr_equal(alice->shelf.heavy.undelivered.prev, &records[1]->in_heavy);
}

/* A user without records is in no list, and comes back with the next record. */
static void test_users_leave_and_enter_the_history(void **state)
{
    (void)state;
    for (int round = 0; round < 3; round++) {
        history_set_limit(&history, LIMIT);
        records_add_many(alice, 1);
        records_add_many(bob, 1);
        assert_ptr_equal(history.shelves.next, &alice->shelf.in_history);
        assert_ptr_equal(history.shelves.prev, &bob->shelf.in_history);
        assert_ptr_equal(alice->shelf.in_history.next, &bob->shelf.in_history);
        history_set_limit(&history, 0);
        records_trim();
        assert_true(link_empty(&history.shelves));
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        RECORDS(test_description_of_a_record),
        RECORDS(test_record_without_name_and_fault),
        RECORDS(test_a_new_record_replaces_four),
        RECORDS(test_a_new_record_replaces_four_of_all_users),
        RECORDS(test_limit_of_one_record),
        RECORDS(test_records_hold_their_user),
        RECORDS(test_many_users_with_few_delivered_records),
        RECORDS(test_one_record_more_is_most),
        RECORDS(test_a_too_large_record_replaces_nothing),
        RECORDS(test_parameters_at_the_limit_of_a_user),
        RECORDS(test_parameters_at_the_limit_of_all_users),
        RECORDS(test_large_undelivered_records_are_replaced),
        RECORDS(test_a_delivered_record_changes_its_list),
        RECORDS(test_a_delivered_large_record_changes_its_list),
        RECORDS(test_users_leave_and_enter_the_history),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
