/* SPDX-License-Identifier: BSD-3-Clause */
/* Tests the text of the live line, and that it never needs more than one line of the terminal. */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "cli/report/report.h"
#include "cli/term/print.h"
#include "cli/term/terminal.h"
#include "tests/unit/cli/capture.h"
#include "tests/unit/cli/results.h"

#define SECONDS(s) (UINT64_C(1000000000) * (s))

static int terminal = -1;

static void set_width(unsigned short columns)
{
    const struct winsize size = {.ws_row = 24, .ws_col = columns};

    assert_int_equal(ioctl(terminal, TIOCSWINSZ, &size), 0);
}

static int set_up(void **state)
{
    int master = posix_openpt(O_RDWR | O_NOCTTY);

    assert_true(master >= 0 && grantpt(master) == 0 && unlockpt(master) == 0);
    terminal = open(ptsname(master), O_RDWR | O_NOCTTY);
    assert_true(terminal >= 0);
    *state = (void *)(intptr_t)master;
    set_width(100);
    capture_begin();
    return 0;
}

static int tear_down(void **state)
{
    capture_end();
    close(terminal);
    close((int)(intptr_t)*state);
    return 0;
}

static size_t seen;

/* Returns the text that was written to the terminal since the last call. */
static const char *news(void)
{
    const char *text = capture_errors() + seen;

    seen += strlen(text);
    return text;
}

static void *begin(size_t selected, size_t resumed)
{
    const struct report_style style = {.live_fd = terminal};
    const struct batch_outline outline = {
        .total = selected, .selected = selected, .resumed = resumed};

    void *progress = calloc(1, reporter_progress.size);

    seen = 0;
    assert_non_null(progress);
    assert_int_equal(reporter_progress.init(progress, &style), 0);
    reporter_progress.begin(progress, &outline);
    return progress;
}

static void end_cases(void *progress, enum case_status status, int count)
{
    const struct case_result result = {.status = status};

    for (int i = 0; i < count; i++)
        reporter_progress.ended(progress, &result);
}

static void check_tick(void *progress, uint64_t ns, const char *expected)
{
    news();
    reporter_progress.tick(progress, ns, 1, 1);
    assert_string_equal(news(), expected);
}

static void end(void *progress)
{
    reporter_progress.finish(progress);
    free(progress);
}

static void test_line(void **state)
{
    void *progress = begin(1000, 0);

    (void)state;
    end_cases(progress, CASE_PASSED, 3);
    assert_string_equal(news(), ""); /* very short runs show no live line */
    check_tick(progress, SECONDS(1) / 10, "\r3/1000   0 %\033[K");
    end_cases(progress, CASE_PASSED, 97);
    /* Shows no remaining time before a case has ended. */
    check_tick(progress, SECONDS(1) - 1, "\r100/1000  10 %\033[K");
    check_tick(progress, SECONDS(1), "\r100/1000  10 %, 100 cases/s, 0:09 left\033[K");
    end_cases(progress, CASE_FAILED, 2);
    end_cases(progress, CASE_FLAKY, 1);
    end_cases(progress, CASE_ERROR, 1);
    check_tick(progress, SECONDS(2),
               "\r104/1000  10 %, 1 flaky, 2 failed, 1 error, 52 cases/s, 0:17 left\033[K");
    end_cases(progress, CASE_PASSED, 896);
    check_tick(progress, SECONDS(4),
               "\r1000/1000 100 %, 1 flaky, 2 failed, 1 error, 250 cases/s\033[K");
    end(progress);
    assert_string_equal(news(), "\r\033[K");
}

/* Reused results come at once and must not change the rate. */
static void test_resumed(void **state)
{
    void *progress = begin(1000, 900);

    (void)state;
    end_cases(progress, CASE_PASSED, 900);
    check_tick(progress, SECONDS(2), "\r900/1000  90 %\033[K");
    end_cases(progress, CASE_PASSED, 4);
    check_tick(progress, SECONDS(4), "\r904/1000  90 %, 1.00 cases/s, 1:36 left\033[K");
    end(progress);
}

/* Shows the rate of the last seconds, or of the whole run if no case ended in them. */
static void test_window(void **state)
{
    void *progress = begin(100000, 0);
    char line[128];
    unsigned second;

    (void)state;
    for (second = 1; second <= 60; second++) {
        end_cases(progress, CASE_PASSED, second <= 30 ? 1000 : 10);
        reporter_progress.tick(progress, SECONDS(second), 1, 1);
    }
    /* The oldest of the 16 samples is 15 s old. */
    snprintf(line, sizeof line, "\r30300/100000  30 %%, 10 cases/s, 1:56:10 left\033[K");
    check_tick(progress, SECONDS(60), line);
    for (; second <= 90; second++)
        reporter_progress.tick(progress, SECONDS(second), 1, 1);
    check_tick(progress, SECONDS(90), "\r30300/100000  30 %, 337 cases/s, 3:27 left\033[K");
    end(progress);
}

static void test_far_away(void **state)
{
    void *progress = begin(4000000000u, 0);

    (void)state;
    end_cases(progress, CASE_PASSED, 1);
    check_tick(progress, SECONDS(10000),
               "\r1/4000000000   0 %, 0.00 cases/s, more than 99 h left\033[K");
    end(progress);
}

static void test_width(void **state)
{
    void *progress = begin(1000, 0);

    (void)state;
    end_cases(progress, CASE_PASSED, 10);
    check_tick(progress, SECONDS(1), "\r10/1000   1 %, 10 cases/s, 1:39 left\033[K");
    set_width(20);
    check_tick(progress, SECONDS(1), "\r10/1000   1 %, 10 c\033[K");
    set_width(1);
    check_tick(progress, SECONDS(1), "\r\033[K");
    set_width(0); /* unknown */
    check_tick(progress, SECONDS(1), "\r10/1000   1 %, 10 cases/s, 1:39 left\033[K");
    end(progress);
}

/* With --repeat, shows the number of the newest attempt. */
static void test_repeat(void **state)
{
    void *progress = begin(1000, 0);

    (void)state;
    reporter_progress.tick(progress, 1, 0, 10);
    assert_string_equal(news(), "\r0/1000   0 %\033[K");
    reporter_progress.tick(progress, 2, 3, 10);
    assert_string_equal(news(), "\r0/1000   0 %, repeat 3 of 10\033[K");
    end(progress);
}

/* Any other output clears the live line first. */
static void test_other_lines(void **state)
{
    void *progress = begin(1000, 0);

    (void)state;
    check_tick(progress, 1, "\r0/1000   0 %\033[K");
    print_error("a word");
    assert_string_equal(news(), "\r\033[Kmlictl: a word\n");
    print_error("another");
    assert_string_equal(news(), "mlictl: another\n");
    end_cases(progress, CASE_PASSED, 1);
    assert_string_equal(news(), "\r1/1000   0 %\033[K");
    end(progress);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void)
{
    static const struct CMUnitTest tests[] = {
        TEST(test_line),  TEST(test_resumed),     TEST(test_window), TEST(test_far_away),
        TEST(test_width), TEST(test_other_lines), TEST(test_repeat),
    };

    return cmocka_run_group_tests_name("batch progress", tests, NULL, NULL);
}
