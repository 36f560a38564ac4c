/* SPDX-License-Identifier: BSD-3-Clause */
/* A history with two users, for the tests of records of ended jobs. */
#ifndef TEST_RECORDS_H
#define TEST_RECORDS_H

#include "daemon/job/history.h"
#include "daemon/job/user.h"
#include "tests/support/unit.h"

enum { LIMIT = 100, ALICE = 1000, BOB = 1001 };

extern struct registry registry;
extern struct history history;
extern struct users users;
extern struct user *alice, *bob;

/** Makes an empty history with the limit LIMIT. */
int records_setup(void **state);
/** Forgets all records, and checks that nothing is left. */
int records_teardown(void **state);

/** Makes the record of a job that has failed. */
struct record *records_make(struct user *user);
/** Makes the record of a job that is done, with per-axis parameters of `entries` entries. */
struct record *records_make_large(struct user *user, uint32_t entries);
/** Adds a record. Returns its number. */
uint64_t records_add(struct record *record);
uint64_t records_add_undelivered(struct user *user);
void records_add_many(struct user *user, unsigned count);
/** Adds `users_count` users who have LIMIT records each, and nothing else. */
void records_add_others(int users_count);

bool records_known(uint64_t number);
struct record *records_find(uint64_t number);
/** Forgets records until the limits are kept. Returns the number of calls that this takes. */
unsigned records_trim(void);

#define RECORDS(test) cmocka_unit_test_setup_teardown(test, records_setup, records_teardown)

#endif /* TEST_RECORDS_H */
