/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Fails each allocation of each operation once. The operation must report that memory ran out, and
 * must not leak, which the sanitizer or valgrind checks. The linker calls the functions below
 * instead of those of the C library.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "cli/batch/batch_options.h"
#include "cli/report/report.h"
#include "cli/report/state_file.h"
#include "tests/unit/cli/capture.h"
#include "tests/unit/cli/results.h"

void *__real_malloc(size_t size);
void *__real_calloc(size_t count, size_t size);
void *__real_realloc(void *old, size_t size);
void *__real_reallocarray(void *old, size_t count, size_t size);
char *__real_strdup(const char *text);
char *__real_strndup(const char *text, size_t length);
void *__wrap_malloc(size_t size);
void *__wrap_calloc(size_t count, size_t size);
void *__wrap_realloc(void *old, size_t size);
void *__wrap_reallocarray(void *old, size_t count, size_t size);
char *__wrap_strdup(const char *text);
char *__wrap_strndup(const char *text, size_t length);

/* Number of allocations that succeed before one fails; below 0: all succeed. */
static int countdown = -1;

static bool fails(void)
{
    if (countdown < 0 || countdown-- > 0)
        return false;
    errno = ENOMEM;
    return true;
}

void *__wrap_malloc(size_t size)
{
    return fails() ? NULL : __real_malloc(size);
}

void *__wrap_calloc(size_t count, size_t size)
{
    return fails() ? NULL : __real_calloc(count, size);
}

void *__wrap_realloc(void *old, size_t size)
{
    return fails() ? NULL : __real_realloc(old, size);
}

void *__wrap_reallocarray(void *old, size_t count, size_t size)
{
    return fails() ? NULL : __real_reallocarray(old, count, size);
}

char *__wrap_strdup(const char *text)
{
    return fails() ? NULL : __real_strdup(text);
}

char *__wrap_strndup(const char *text, size_t length)
{
    return fails() ? NULL : __real_strndup(text, length);
}

/* Fails the first allocation of an operation, then the second, and so on until it succeeds. */
static void sweep(bool (*operation)(const void *how), const void *how)
{
    for (int failing = 0;; failing++) {
        bool well, failed;

        assert_true(failing < 10000);
        countdown = failing;
        well = operation(how);
        failed = countdown < 0;
        countdown = -1;
        if (!failed) {
            assert_true(well);
            return;
        }
        if (well)
            fail_msg("allocation %d failed, and nobody says so", failing);
    }
}

#define CASE(name, more)                                                                           \
    "{\"event\":\"case\",\"name\":\"" name "\",\"file\":\"f\",\"status\":\"failed\",\"attempts\":" \
    "1,\"ns\":1,\"bytes\":1,\"message\":\"m\",\"pointer\":\"\",\"kept\":\"k\",\"difference\":{"    \
    "\"at\":[1]}" more "}\n"

#define BASIS                                                                                      \
    ",\"basis\":{\"program\":\"0000000000000001\",\"service\":\"0000000000000002\","               \
    "\"options\":\"0000000000000003\",\"files\":[{\"role\":\"src\",\"file\":\"f\",\"content\":"    \
    "\"missing\"},{\"role\":\"dst\",\"file\":\"g\",\"content\":\"changed\"}]}"

static bool read_state(const void *text)
{
    struct state state;
    struct fault fault;
    int fd = memfd_create("state", MFD_CLOEXEC), status;

    assert_int_equal(write(fd, text, strlen(text)), strlen(text));
    assert_int_equal(lseek(fd, 0, SEEK_SET), 0);
    status = state_read(&state, fd, &fault);
    assert_true(status == 0 || fault.code == FAULT_INTERNAL);
    state_finish(&state);
    close(fd);
    return status == 0;
}

static void test_state(void **state)
{
    (void)state;
    sweep(read_state, "{\"event\":\"begin\",\"cases\":2,\"total\":2,\"shard\":null,\"resumed\":0,"
                      "\"set\":\"0000000000000003\"}\n" CASE("a", "")
                          CASE("\xef\xbf\xbd", ",\"name_bytes\":\"61ff\"") CASE("a", BASIS));
}

static void report_cases(struct batch_report *report)
{
    const struct batch_outline outline = {.total = 2, .selected = 2};
    const struct batch_summary summary = {.count = {1}, .not_run = 1};
    struct case_result result = {.name = (char[]){"a/b\xff"},
                                 .file = (char[]){"f"},
                                 .status = CASE_FAILED,
                                 .reason = CASE_WHY_MISMATCH,
                                 .message = (char[]){"a long message that makes buffers grow, and "
                                                     "a longer one, which makes them grow again"},
                                 .kept = (char[]){"k k"},
                                 .rerun_command = (char[]){"mlictl run 'k k'"}};

    batch_report_begin(report, &outline);
    for (int i = 0; i < 10; i++) {
        batch_report_ended(report, &result);
        batch_report_result(report, &result);
    }
    batch_report_not_run(report, "c/d", "f");
    batch_report_end(report, &summary);
}

/* Returns whether a report was made without an error. */
static bool make_report(const void *how)
{
    char *word = (char *)(uintptr_t)how;
    struct batch_report *report;
    struct options options;
    bool well;

    capture_begin();
    assert_int_equal(options_parse(&options, batch_options, *word ? 1 : 0, &word), 0);
    well = batch_report_create(&options, &report) == EXIT_CODE_DONE;
    if (well)
        report_cases(report);
    batch_report_destroy(report);
    if (!well || *capture_errors()) {
        assert_true(strstr(capture_errors(), "out of memory") ||
                    strstr(capture_errors(), strerror(ENOMEM)));
        well = false;
    }
    capture_end();
    return well;
}

static void test_page(void **state)
{
    char directory[] = "/tmp/mlictl-html-XXXXXX", option[64], page[64];

    (void)state;
    assert_non_null(mkdtemp(directory));
    snprintf(option, sizeof option, "--html=%s", directory);
    snprintf(page, sizeof page, "%s/index.html", directory);
    sweep(make_report, option);
    assert_int_equal(unlink(page), 0);
    assert_int_equal(rmdir(directory), 0);
}

static void test_reports(void **state)
{
    (void)state;
    sweep(make_report, "--json");
    sweep(make_report, "--tap");
    sweep(make_report, "--junit=-");
    sweep(make_report, "");
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_state),
        cmocka_unit_test(test_reports),
        cmocka_unit_test(test_page),
    };

    return cmocka_run_group_tests_name("batch memory", tests, NULL, NULL);
}
