/* SPDX-License-Identifier: BSD-3-Clause */
#include "tests/unit/daemon/records.h"

#include <stdlib.h>

struct registry registry;
struct history history;
struct users users;
struct user *alice, *bob;
static uint64_t last; /* number of the latest record */

int records_setup(void **state)
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

int records_teardown(void **state)
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

struct record *records_make(struct user *user)
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

uint64_t records_add(struct record *record)
{
    const uint64_t number = record->entry.number;

    registry_add(&registry, &record->entry);
    history_add(&history, record);
    return number;
}

uint64_t records_add_undelivered(struct user *user)
{
    struct record *record = records_make(user);

    record->detached = record->undelivered = true;
    return records_add(record);
}

void records_add_many(struct user *user, unsigned count)
{
    for (unsigned i = 0; i < count; i++)
        records_add(records_make(user));
}

bool records_known(uint64_t number)
{
    return registry_find(&registry, number) != NULL;
}

struct record *records_find(uint64_t number)
{
    struct entry *entry = registry_find(&registry, number);

    assert_non_null(entry);
    return (struct record *)(void *)entry;
}

unsigned records_trim(void)
{
    unsigned steps = 0;

    while (history_trim(&history))
        steps++;
    return steps;
}

void records_add_others(int users_count)
{
    for (uid_t uid = 5000; uid < 5000 + (uid_t)users_count; uid++) {
        struct user *user = user_hold(&users, uid);

        records_add_many(user, LIMIT);
        user_drop(user);
    }
}

struct record *records_make_large(struct user *user, uint32_t entries)
{
    struct record *record = records_make(user);

    free(record->fault);
    record->fault = NULL;
    record->state = JOB_STATE_DONE;
    assert_int_equal(quant_alloc(&record->result.dst.quant, entries), 0);
    return record;
}
