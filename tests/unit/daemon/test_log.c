/* SPDX-License-Identifier: BSD-3-Clause */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "daemon/base/log.h"
#include "proto/json/json.h"
#include "proto/wire/rpc.h"
#include "tests/support/unit.h"

/* Returns the line that log_end() writes. */
static void capture(struct log_line *line, char *got, size_t size)
{
    int pipes[2], keep = dup(STDERR_FILENO);
    ssize_t length;

    assert_int_equal(pipe(pipes), 0);
    dup2(pipes[1], STDERR_FILENO);
    log_end(line);
    dup2(keep, STDERR_FILENO);
    close(keep);
    close(pipes[1]);
    length = read(pipes[0], got, size - 1);
    close(pipes[0]);
    assert_true(length > 0);
    got[length] = '\0';
}

static void assert_logged(struct log_line *line, const char *want)
{
    char got[2048];

    capture(line, got, sizeof got);
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

/* No value can make text look like another line or another key. */
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
    strcpy(want + 1021, "\"\n");
    assert_logged(&line, want);
}

/*
 * Every line is a JSON object, for any values. The parser of the protocol reads the line
 * back.
 */
static void log_json(const char *value, struct json *root, struct fault *fault)
{
    static char got[2048];
    struct log_line line;

    log_set_format(LOG_FORMAT_JSON);
    assert_true(log_begin(&line, LOG_INFO, "client connected"));
    log_uint(&line, "client", 3);
    log_text(&line, "why", value);
    log_uint(&line, "more", 1);
    capture(&line, got, sizeof got);
    log_set_format(LOG_FORMAT_TEXT);
    assert_true(strlen(got) <= sizeof line.text);
    assert_ptr_equal(strchr(got, '\n'), got + strlen(got) - 1);
    if (json_parse(got, strlen(got) - 1, &rpc_request_limits, root, fault) < 0)
        fail_msg("%s: %s", fault->text, got);
}

static void assert_member(const struct json *root, const char *key, const char *want)
{
    struct json value = json_member(root, key);
    const char *text;

    assert_int_equal(json_text(&value, 2000, &text), 0);
    assert_string_equal(text, want);
}

static void test_json(void **state)
{
    struct json root, value;
    struct fault fault;
    int64_t number;

    (void)state;
    log_json("a\n\"b\\\x1b[m\x7f\xc2\x9b\xc3\xa9\xff\xe2\x82", &root, &fault);
    assert_member(&root, "event", "client connected");
    assert_member(&root, "why",
                  "a\n\"b\\\x1b[m\x7f\xc2\x9b\xc3\xa9\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd");
    value = json_member(&root, "client");
    assert_int_equal(json_int(&value, 0, 9, &number), 0);
    assert_int_equal(number, 3);
    value = json_member(&root, "priority");
    assert_int_equal(json_int(&value, 0, 9, &number), 0);
    assert_int_equal(number, 6);
    json_free(&root);
}

/* Logs values of many lengths, so that each kind of character meets the end of the line. */
static void test_json_of_any_length(void **state)
{
    static const char *const characters[] = {"x", "\"", "\n", "\xc3\xa9", "\xf0\x9f\x98\x80"};

    (void)state;
    for (size_t c = 0; c < COUNT_OF(characters); c++) {
        for (size_t before = 890; before < 1020; before++) {
            char text[1100];
            struct json root, more;
            struct fault fault;

            memset(text, 'y', before);
            text[before] = '\0';
            for (int i = 0; i < 10; i++)
                strcat(text, characters[c]);
            log_json(text, &root, &fault);
            assert_member(&root, "event", "client connected");
            more = json_member(&root, "more");
            assert_true(before < 930 || !json_present(&more));
            json_free(&root);
        }
    }
}

static void log_number(uint64_t number)
{
    struct log_line line;

    assert_true(log_begin(&line, LOG_ERR, "x"));
    log_uint(&line, "number", number);
    log_end(&line);
}

/* A stuck reader does not block the writer; lost lines are counted. */
static void test_a_full_pipe(void **state)
{
    static char got[128 * 1024];
    int pipes[2], keep = dup(STDERR_FILENO);
    unsigned lost;
    char *told;

    (void)state;
    log_set_level(LOG_INFO);
    assert_int_equal(pipe2(pipes, O_NONBLOCK), 0);
    fcntl(pipes[1], F_SETFL, 0);
    dup2(pipes[1], STDERR_FILENO);
    for (uint64_t i = 0; i < 10000; i++)
        log_number(i);
    while (read(pipes[0], got, sizeof got) > 0)
        ;
    log_number(12345);
    memset(got, 0, sizeof got);
    assert_true(read(pipes[0], got, sizeof got - 1) > 0);
    log_number(12346);
    assert_true(read(pipes[0], got + strlen(got), 100) > 0);
    dup2(keep, STDERR_FILENO);
    close(keep);
    close(pipes[0]);
    close(pipes[1]);
    told = strstr(got, "<4>log lines lost lines=");
    assert_ptr_equal(told, got);
    assert_int_equal(sscanf(told, "<4>log lines lost lines=%u", &lost), 1);
    assert_in_range(lost, 1000, 9999);
    assert_non_null(strstr(got, "\n<3>x number=12345\n<3>x number=12346\n"));
}

static void log_warning(char *got, size_t size)
{
    struct log_line line;

    log_set_level(LOG_INFO);
    assert_true(log_begin(&line, LOG_WARNING, "x"));
    capture(&line, got, size);
}

/* Each line begins with the time, except text lines that go to the journal. */
static void test_time(void **state)
{
    char got[2048];
    int year = 0, ms = -1, end = 0;

    (void)state;
    log_set_journal(false);
    log_warning(got, sizeof got);
    sscanf(got, "%4d-%*2d-%*2dT%*2d:%*2d:%*2d.%3dZ warning x\n%n", &year, &ms, &end);
    assert_in_range(year, 2020, 9999);
    assert_in_range(ms, 0, 999);
    assert_int_equal(end, strlen(got));

    log_set_journal(true);
    log_set_format(LOG_FORMAT_JSON);
    log_warning(got, sizeof got);
    log_set_format(LOG_FORMAT_TEXT);
    end = 0;
    sscanf(got,
           "{\"time\":\"%4d-%*2d-%*2dT%*2d:%*2d:%*2d.%3dZ\",\"priority\":4,\"event\":\"x\"}\n%n",
           &year, &ms, &end);
    assert_int_equal(end, strlen(got));
}

static void test_journal(void **state)
{
    struct stat st;
    char stream[64];

    (void)state;
    unsetenv("JOURNAL_STREAM");
    assert_false(log_is_journal());
    assert_int_equal(fstat(STDERR_FILENO, &st), 0);
    snprintf(stream, sizeof stream, "%ju:%ju", (uintmax_t)st.st_dev, (uintmax_t)st.st_ino);
    setenv("JOURNAL_STREAM", stream, 1);
    assert_true(log_is_journal());
    strcat(stream, "1"); /* the wrong inode means that stderr was redirected */
    setenv("JOURNAL_STREAM", stream, 1);
    assert_false(log_is_journal());
    setenv("JOURNAL_STREAM", "8:x", 1);
    assert_false(log_is_journal());
    unsetenv("JOURNAL_STREAM");
}

static void test_rate(void **state)
{
    struct log_rate rate = {0};
    uint64_t suppressed = 7;

    (void)state;
    for (int i = 0; i < LOG_RATE_LINES; i++) {
        assert_true(log_rate_take(&rate, 1000 + (uint64_t)i, &suppressed));
        assert_int_equal(suppressed, 0);
    }
    for (int i = 0; i < 1000; i++)
        assert_false(log_rate_take(&rate, 1000 + LOG_RATE_MS - 1, &suppressed));
    assert_true(log_rate_take(&rate, 1000 + LOG_RATE_MS, &suppressed));
    assert_int_equal(suppressed, 1000);
    assert_true(log_rate_take(&rate, 1000 + LOG_RATE_MS, &suppressed));
    assert_int_equal(suppressed, 0);
}

/* Lines that are dropped because of their level do not count toward the limit of the rate. */
static void test_rated_lines(void **state)
{
    struct log_rate rate = {0};
    struct log_line line;
    int written = 0;

    (void)state;
    log_set_level(LOG_ERR);
    for (int i = 0; i < 100; i++)
        assert_false(log_begin_rated(&line, LOG_NOTICE, "x", &rate));
    log_set_level(LOG_INFO);
    for (int i = 0; i < 100; i++)
        written += log_begin_rated(&line, LOG_NOTICE, "x", &rate);
    assert_int_equal(written, LOG_RATE_LINES);
    assert_true(log_begin_rated(&line, LOG_NOTICE, "x", NULL));
    rate.begin -= LOG_RATE_MS;
    assert_true(log_begin_rated(&line, LOG_NOTICE, "x", &rate));
    assert_logged(&line, "<5>x suppressed=80\n");
}

static int setup(void **state)
{
    (void)state;
    log_set_journal(true); /* without times, lines can be compared */
    return 0;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_line),        cmocka_unit_test(test_levels),
        cmocka_unit_test(test_escapes),     cmocka_unit_test(test_long_values_are_cut),
        cmocka_unit_test(test_json),        cmocka_unit_test(test_json_of_any_length),
        cmocka_unit_test(test_a_full_pipe), cmocka_unit_test(test_time),
        cmocka_unit_test(test_journal),     cmocka_unit_test(test_rate),
        cmocka_unit_test(test_rated_lines),
    };

    return cmocka_run_group_tests(tests, setup, NULL);
}
