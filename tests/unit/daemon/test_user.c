/* SPDX-License-Identifier: BSD-3-Clause */
/* Tests users: found by number, and freed when too many are idle. */
#include "daemon/job/user.h"

#include <stdlib.h>

#include "daemon/base/seam.h"
#include "tests/support/unit.h"

static struct users users;

static int setup(void **state)
{
    (void)state;
    users_init(&users);
    return 0;
}

static int teardown(void **state)
{
    (void)state;
    users_finish(&users);
    assert_null(user_find(&users, 1000));
    return 0;
}

static void test_one_entry_per_user(void **state)
{
    struct user *user = user_hold(&users, 1000);

    (void)state;
    assert_non_null(user);
    assert_ptr_equal(user_hold(&users, 1000), user);
    assert_ptr_equal(user_find(&users, 1000), user);
    assert_null(user_find(&users, 1001));
    user->jobs_done = 7;
    user_drop(user);
    user_drop(user);
    assert_int_equal(users.idle_count, 1);
    assert_ptr_equal(user_hold(&users, 1000), user); /* the user still has its counters */
    assert_int_equal(user->jobs_done, 7);
    assert_int_equal(users.idle_count, 0);
    user_drop(user);
}

static void test_latest_idle_users_are_kept(void **state)
{
    enum { COUNT = 3 * USERS_KEPT };
    struct user *held[COUNT], *kept = user_hold(&users, 5);

    (void)state;
    for (uid_t i = 0; i < COUNT; i++)
        held[i] = user_hold(&users, 1000 + i);
    for (uid_t i = 0; i < COUNT; i++)
        user_drop(held[i]);
    assert_int_equal(users.idle_count, USERS_KEPT);
    for (uid_t i = 0; i < COUNT; i++)
        assert_int_equal(user_find(&users, 1000 + i) != NULL, i >= COUNT - USERS_KEPT);
    assert_ptr_equal(user_find(&users, 5), kept);
    user_drop(kept);
}

static void *no_memory(size_t count, size_t size)
{
    (void)count;
    (void)size;
    return NULL;
}

static void test_no_memory(void **state)
{
    (void)state;
    seam.calloc = no_memory;
    assert_null(user_hold(&users, 1000));
    seam.calloc = calloc;
    assert_null(user_find(&users, 1000));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_one_entry_per_user, setup, teardown),
        cmocka_unit_test_setup_teardown(test_latest_idle_users_are_kept, setup, teardown),
        cmocka_unit_test_setup_teardown(test_no_memory, setup, teardown),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
