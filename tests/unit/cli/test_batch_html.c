/* SPDX-License-Identifier: BSD-3-Clause */
/* Tests the page of --html: escaped texts, sorted cases, limits. A browser reads it in
 * tests/integration/test_html.py. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli/batch/batch_options.h"
#include "cli/report/html.h"
#include "cli/report/report.h"
#include "tests/unit/cli/capture.h"
#include "tests/unit/cli/results.h"

static char directory[] = "/tmp/mlictl-html-XXXXXX";

static int make_directory(void **state)
{
    (void)state;
    return mkdtemp(directory) && chdir(directory) == 0 ? 0 : -1;
}

static int remove_directory(void **state)
{
    (void)state;
    return unlink("page/index.html") || rmdir("page") || chdir("/") || rmdir(directory) ? -1 : 0;
}

static int begin_capture(void **state)
{
    (void)state;
    capture_begin();
    return 0;
}

static int end_capture(void **state)
{
    (void)state;
    capture_end();
    return 0;
}

static struct batch_report *create(void)
{
    char option[] = "--html", place[] = "page", *argv[] = {option, place};
    struct batch_report *report;
    struct options options;

    assert_int_equal(options_parse(&options, batch_options, 2, argv), 0);
    assert_int_equal(batch_report_create(&options, &report), EXIT_CODE_DONE);
    return report;
}

/* Ends the report and returns the page; the caller frees it. */
static char *finish(struct batch_report *report, const struct batch_summary *summary)
{
    assert_int_equal(batch_report_end(report, summary), summary->exit);
    batch_report_destroy(report);
    FILE *file = fopen("page/index.html", "r");
    assert_non_null(file);
    char *page = calloc(1, 8 << 20);
    assert_non_null(page);
    assert_in_range(fread(page, 1, (8 << 20) - 1, file), 1, 6 << 20);
    fclose(file);
    return page;
}

static void report_case(struct batch_report *report, struct case_result result)
{
    batch_report_ended(report, &result);
    batch_report_result(report, &result);
    case_result_finish(&result);
}

static size_t count_of(const char *text, const char *part)
{
    size_t count = 0;

    for (; (text = strstr(text, part)); text += strlen(part))
        count++;
    return count;
}

#define HOSTILE "z</script><script>alert(1)</script>\"'&\x1b[31m\xff\xe2\x80\xae"
#define HARMLESS                                                                                   \
    "z&lt;/script&gt;&lt;script&gt;alert(1)&lt;/script&gt;&quot;&#39;&amp;\xef\xbf\xbd[31m"        \
    "\xef\xbf\xbd\xef\xbf\xbd"

static void test_every_text_is_escaped(void **state)
{
    const struct batch_outline outline = {.total = 4, .selected = 4};
    const struct batch_summary summary = {
        .count = {[CASE_PASSED] = 1, [CASE_ERROR] = 1}, .not_run = 1, .exit = EXIT_CODE_FAILED};
    struct batch_report *report = create();
    struct case_result bad = results_make_failed(HOSTILE, CASE_ERROR, CASE_WHY_REFUSED, HOSTILE);

    (void)state;
    bad.kept = results_copy(HOSTILE);
    bad.rerun_command = results_copy(HOSTILE);
    batch_report_gap(report, HOSTILE "-gap", HOSTILE);
    batch_report_begin(report, &outline);
    batch_report_note(report, HOSTILE);
    report_case(report, bad);
    report_case(report, results_make("a/plain", CASE_PASSED));
    batch_report_not_run(report, HOSTILE "-never", HOSTILE);
    char *page = finish(report, &summary);
    assert_int_equal(count_of(page, "<script>"), 1); /* its own */
    assert_int_equal(count_of(page, "</script>"), 1);
    assert_true(count_of(page, HARMLESS) >= 8);
    assert_null(strchr(page, '\x1b'));
    assert_null(strchr(page, '\xff'));
    assert_true(strstr(page, ">a/plain") < strstr(page, "<tr class=\"error\">"));
    assert_int_equal(count_of(page, "<tr class="), 4);
    assert_int_equal(count_of(page, "default-src 'none'; style-src 'sha256-"), 1);
    assert_int_equal(count_of(page, " src=") + count_of(page, "http-equiv=\"refresh\""), 0);
    free(page);
}

/* Both the evidence of many failures and the number of failures exceed the limits of a page. */
static void test_limits(void **state)
{
    enum { CASES = 10000, BAD = 5000 };
    const struct batch_outline outline = {.total = CASES, .selected = CASES};
    const struct batch_summary summary = {
        .count = {[CASE_PASSED] = CASES - BAD, [CASE_FAILED] = BAD}, .exit = EXIT_CODE_FAILED};
    struct batch_report *report = create();

    (void)state;
    batch_report_begin(report, &outline);
    for (size_t i = 0; i < CASES; i++) {
        char name[40];

        snprintf(name, sizeof name, "conv/layer_%zu/tile_%05zu", i % 10, i);
        struct case_result result =
            i < BAD ? results_make_failed(name, CASE_FAILED, CASE_WHY_MISMATCH, "2 elements differ")
                    : results_make(name, CASE_PASSED);
        if (i < BAD)
            result.kept = results_copy("batch-failed/job.json");
        report_case(report, result);
    }
    char *page = finish(report, &summary);
    assert_int_equal(count_of(page, "<tr class="), CASES);
    assert_in_range(count_of(page, "<p>evidence"), 40, 60); /* 64 KiB per failure: about 3 MiB */
    assert_in_range(strlen(page), 4 << 20, 6 << 20);
    assert_non_null(strstr(page, "further failures are in the table only"));
    assert_non_null(strstr(page, " failures have pictures and elements;"));
    free(page);
}

static void test_durations(void **state)
{
    struct durations durations = {.all = 0};
    struct textw w;

    (void)state;
    textw_init(&w);
    durations_write(&w, &durations);
    assert_int_equal(w.length, 0);
    durations_add(&durations, 0);
    durations_add(&durations, 1000);
    durations_add(&durations, 1799);
    durations_add(&durations, UINT64_MAX);
    assert_int_equal(durations.count[0], 1);
    assert_int_equal(durations.count[1], 2);
    assert_int_equal(durations.count[DURATIONS_BINS - 1], 1);
    durations_write(&w, &durations);
    assert_non_null(strstr(w.data, "<title>2 cases from 1.00 us on</title>"));
    textw_finish(&w);
}

static void test_short_texts_end_between_characters(void **state)
{
    struct textw w;

    (void)state;
    textw_init(&w);
    html_short(&w, "ab\xe2\x82\xac", 4);
    assert_string_equal(w.data, "ab...");
    html_lines(&w, "\n\t\r<");
    assert_string_equal(w.data, "ab...\n\t\xef\xbf\xbd&lt;");
    textw_finish(&w);
}

static void test_a_file_of_another_kind_stays(void **state)
{
    char option[] = "--html", place[] = "page", *argv[] = {option, place};
    struct batch_report *report;
    struct options options;
    FILE *file = fopen("page/index.html", "w");

    (void)state;
    assert_non_null(file);
    fputs("{}", file);
    fclose(file);
    assert_int_equal(options_parse(&options, batch_options, 2, argv), 0);
    assert_int_equal(batch_report_create(&options, &report), EXIT_CODE_INVALID);
    batch_report_destroy(report);
    assert_non_null(strstr(capture_errors(), "--html page/index.html"));
}

int main(void)
{
#define CAPTURED(test) cmocka_unit_test_setup_teardown(test, begin_capture, end_capture)
    const struct CMUnitTest tests[] = {
        CAPTURED(test_every_text_is_escaped),
        CAPTURED(test_limits),
        cmocka_unit_test(test_durations),
        cmocka_unit_test(test_short_texts_end_between_characters),
        CAPTURED(test_a_file_of_another_kind_stays),
    };

    return cmocka_run_group_tests_name("batch html", tests, make_directory, remove_directory);
}
