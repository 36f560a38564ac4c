/* SPDX-License-Identifier: BSD-3-Clause */
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include "log.h"
#include "unit.h"

/* What log_end() writes. */
static void assert_logged(struct log_line *line, const char *want)
{
    char got[2048];
    int pipes[2], keep = dup(STDERR_FILENO);
    ssize_t length;

    assert_int_equal(pipe(pipes), 0);
    dup2(pipes[1], STDERR_FILENO);
    log_end(line);
    dup2(keep, STDERR_FILENO);
    close(keep);
    close(pipes[1]);
    length = read(pipes[0], got, sizeof got - 1);
    close(pipes[0]);
    assert_true(length > 0);
    got[length] = '\0';
    assert_string_equal(got, want);
}

static void test_line(void **state)
{
    struct log_line line;

    (void)state;
    log_set_level(LOG_INFO);
    assert_true(log_begin(&line, LOG_WARNING, "job failed"));
    log_uint(&line, "client", 18446744073709551615u);
    log_text(&line, "job", "tile0");
    log_errno(&line, "error", ENOENT);
    assert_logged(&line, "<4>job failed client=18446744073709551615 job=\"tile0\" "
                         "error=\"No such file or directory\"\n");
}

static void test_levels(void **state)
{
    struct log_line line;

    (void)state;
    log_set_level(LOG_ERR);
    assert_false(log_begin(&line, LOG_WARNING, "x"));
    assert_true(log_begin(&line, LOG_ERR, "x"));
    log_set_level(LOG_DEBUG);
    assert_true(log_begin(&line, LOG_DEBUG, "x"));
}

/* Nobody writes a line, or a key, of his own. */
static void test_escapes(void **state)
{
    struct log_line line;

    (void)state;
    log_set_level(LOG_INFO);
    assert_true(log_begin(&line, LOG_INFO, "x"));
    log_text(&line, "job", "a\n<0>b\" c=\"d\\\x1b[m\x7f\xc2\x9b\xc3\xa9");
    assert_logged(&line, "<6>x job=\"a\\x0a<0>b\\\" c=\\\"d\\\\\\x1b[m\\x7f\\x9b\xc3\xa9\"\n");
}

static void test_long_values_are_cut(void **state)
{
    struct log_line line;
    char text[3000], want[1025];

    (void)state;
    memset(text, 'x', sizeof text);
    text[sizeof text - 1] = '\0';
    assert_true(log_begin(&line, LOG_INFO, "x"));
    log_text(&line, "k", text);
    log_uint(&line, "more", 1);
    memset(want, 'x', sizeof want);
    memcpy(want, "<6>x k=\"", 8);
    want[1023] = '\n';
    want[1024] = '\0';
    assert_logged(&line, want);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_line),
        cmocka_unit_test(test_levels),
        cmocka_unit_test(test_escapes),
        cmocka_unit_test(test_long_values_are_cut),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
