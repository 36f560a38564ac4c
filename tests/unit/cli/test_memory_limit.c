/* SPDX-License-Identifier: BSD-3-Clause */
/* Tests memory_limit_of() with cgroups of both versions, as files in a temporary directory. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cli/link/memory_limit.h"
#include "tests/support/proto_unit.h"

enum { PHYSICAL = 1 << 30 };

static char root[] = "/tmp/memory_limit-XXXXXX";

static void make(const char *directory, const char *file, const char *text)
{
    char command[512];

    snprintf(command, sizeof command, "mkdir -p '%s%s' && printf '%s\\n' >'%s%s/%s'", root,
             directory, text, root, directory, file);
    assert_int_equal(system(command), 0); /* NOLINT(cert-env33-c): no words from outside */
}

static int setup(void **state)
{
    (void)state;
    return mkdtemp(root) ? 0 : -1;
}

static int teardown(void **state)
{
    char command[64];

    (void)state;
    snprintf(command, sizeof command, "rm -r '%s'", root);
    return system(command); /* NOLINT(cert-env33-c): no words from outside */
}

static uint64_t limit(const char *groups)
{
    return memory_limit_of(PHYSICAL, groups, root);
}

static void test_no_groups(void **state)
{
    (void)state;
    assert_int_equal(limit(""), PHYSICAL);
    assert_int_equal(limit("nonsense\n:\n0:\n\n4:memory:\n"), PHYSICAL);
    assert_int_equal(limit("0::/nowhere\n4:memory:/nowhere\n"), PHYSICAL);
}

static void test_version_2(void **state)
{
    (void)state;
    make("/slice/job", "memory.max", "max");
    make("/slice", "memory.max", "5000000");
    assert_int_equal(limit("0::/slice/job\n"), 5000000);
    assert_int_equal(limit("0::/slice/job"), 5000000);
    assert_int_equal(limit("0::/other\n"), PHYSICAL);
    make("/slice/job", "memory.max", "4000000");
    assert_int_equal(limit("0::/slice/job\n"), 4000000);
    assert_int_equal(limit("0::/slice\n"), 5000000);
    make("", "memory.max", "3000000");
    assert_int_equal(limit("0::/\n"), 3000000);
    assert_int_equal(limit("0::/slice/job\n"), 3000000);
}

/* The root of a version 1 hierarchy has a limit of about 2^63; a container sees its own group as
 * root. */
static void test_version_1(void **state)
{
    (void)state;
    make("/memory", "memory.limit_in_bytes", "9223372036854771712");
    assert_int_equal(limit("4:memory:/a\n"), PHYSICAL);
    make("/memory/a", "memory.limit_in_bytes", "2000000");
    assert_int_equal(limit("9:name=systemd:/\n4:memory:/a\n"), 2000000);
    assert_int_equal(limit("4:hugetlb,memory:/a/b\n"), 2000000);
    assert_int_equal(limit("4:memory_other:/a\n"), PHYSICAL);
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_no_groups),
        cmocka_unit_test(test_version_2),
        cmocka_unit_test(test_version_1),
    };

    return cmocka_run_group_tests_name("memory limit", tests, setup, teardown);
}
