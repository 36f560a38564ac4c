/* SPDX-License-Identifier: BSD-3-Clause */
/* Tests loading the target profile of the configuration, and its channels. */
#include "daemon/job/hardware.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "daemon/base/seam.h"
#include "tests/unit/daemon/test_peer.h"

static struct config config;
static struct fault fault;

static void *no_memory(size_t count, size_t size)
{
    (void)count;
    (void)size;
    return NULL;
}

static int setup(void **state)
{
    (void)state;
    fixture_config(&config);
    fault = (struct fault){0};
    return 0;
}

static void test_no_profile(void **state)
{
    struct board *board;

    (void)state;
    assert_int_equal(target_board_check(&config, &fault), 0);
    assert_int_equal(target_board_channels(&config), 0);
    assert_int_equal(target_board_create(&config, &board), 0);
    assert_null(board);
    target_board_destroy(NULL);
}

static void test_profile(void **state)
{
    struct board *board;

    (void)state;
    strcpy(config.profile, "zynqmp-zdma");
    assert_int_equal(target_board_check(&config, &fault), 0);
    assert_true(target_board_channels(&config) > 0);
    assert_int_equal(target_board_create(&config, &board), 0);
    assert_non_null(board);
    target_board_destroy(board);
}

static void test_unknown_profile(void **state)
{
    struct board *board;

    (void)state;
    strcpy(config.profile, "no-such-board");
    assert_int_equal(target_board_check(&config, &fault), -1);
    assert_int_equal(fault.code, FAULT_INVALID_PARAMS);
    assert_string_equal(fault.pointer, "/profile");
    assert_int_equal(target_board_channels(&config), 0);
    assert_int_equal(target_board_create(&config, &board), -EINVAL);
    assert_null(board);
}

static void test_no_memory(void **state)
{
    struct board *board;

    (void)state;
    strcpy(config.profile, "zynqmp-zdma");
    seam.calloc = no_memory;
    assert_int_equal(target_board_check(&config, &fault), -1);
    assert_int_equal(target_board_channels(&config), 0);
    assert_int_equal(target_board_create(&config, &board), -ENOMEM);
    seam.calloc = calloc;
    assert_int_equal(fault.code, FAULT_INTERNAL);
    assert_null(board);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(test_no_profile, setup),
        cmocka_unit_test_setup(test_profile, setup),
        cmocka_unit_test_setup(test_unknown_profile, setup),
        cmocka_unit_test_setup(test_no_memory, setup),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
