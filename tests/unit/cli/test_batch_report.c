/* SPDX-License-Identifier: BSD-3-Clause */
/* Tests every form of report, byte by byte. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli/batch/batch_options.h"
#include "cli/report/report.h"
#include "tests/unit/cli/capture.h"
#include "tests/unit/cli/results.h"

static char directory[] = "/tmp/mlictl-report-XXXXXX";

static int set_up(void **state)
{
    (void)state;
    capture_begin();
    return 0;
}

static int tear_down(void **state)
{
    (void)state;
    capture_end();
    return 0;
}

/* Creates a report from a command line, whose words are separated by spaces. */
static enum exit_code create(const char *line, struct batch_report **report)
{
    static char words[256];
    char *argv[16], *rest = words, *word;
    struct options options;
    int argc = 0;

    snprintf(words, sizeof words, "%s", line);
    while ((word = strsep(&rest, " "))) {
        if (*word)
            argv[argc++] = word;
    }
    assert_int_equal(options_parse(&options, batch_options, argc, argv), 0);
    return batch_report_create(&options, report);
}

static void report_case(struct batch_report *report, struct case_result result)
{
    batch_report_ended(report, &result);
    batch_report_result(report, &result);
    case_result_finish(&result);
}

#define AGAIN "mlictl run batch-failed/conv/tile_3/job.json"

static struct case_result make_mismatch(void)
{
    struct case_result result = results_make_failed(
        "conv/tile_3", CASE_FAILED, CASE_WHY_MISMATCH,
        "2 of 24 elements differ, the first at [1, 0, 2]: 14 in out.npy, 99 in golden.npy");

    result.kept = results_copy("batch-failed/conv/tile_3/job.json");
    result.rerun_command = results_copy(AGAIN);
    result.difference = results_copy("{\"kind\":\"values\"}");
    return result;
}

static struct case_result make_hostile(void)
{
    struct case_result result = results_make_failed(
        "a#b\\c\n\"<&>'\x1b[31m\xff\xc2\x9b\xef\xbf\xbf", CASE_ERROR, CASE_WHY_UNREADABLE,
        "]]> & \t \x01\x7f \xe2\x82\xac\xf0\x9f\x98\x80 \xed\xa0\x80");

    result.kept = results_copy("it's here/a b");
    result.rerun_command = results_copy("mlictl run 'it'\\''s here/a b'");
    return result;
}

/* Reports six cases, one of each status, then one of two that did not run, then the end. */
static enum exit_code report_everything(struct batch_report *report, bool hostile)
{
    const struct batch_outline outline = {.total = 20, .selected = 8, .shard = {2, 4}, .set = 3};
    struct batch_summary summary = {.count = {1, 1, 1, 1, 1, 1},
                                    .not_run = 2,
                                    .ns = UINT64_C(1310000000),
                                    .exit = EXIT_CODE_STOPPED};
    struct case_result flaky =
        results_make_failed("flaky", CASE_FLAKY, CASE_WHY_TIMEOUT, "took longer than 5 ms");

    struct case_result error =
        hostile ? make_hostile()
                : results_make_failed("e", CASE_ERROR, CASE_WHY_UNREADABLE, "no file");

    flaky.attempts = 3;
    error.line = hostile ? 0 : 3;
    error.column = hostile ? 0 : 5;
    batch_report_begin(report, &outline);
    report_case(report, results_make("plain", CASE_PASSED));
    report_case(report, flaky);
    report_case(report, make_mismatch());
    report_case(report, error);
    report_case(report,
                results_make_failed("u", CASE_UPDATED, CASE_WHY_MISMATCH, "wrote g.npy.new"));
    report_case(report, results_make("bare", CASE_RAN));
    batch_report_tick(report, 5, 1, 1);
    batch_report_not_run(report, "never/begun", "cases/never/begun.json");
    return batch_report_end(report, &summary);
}

static void check_told(const char *line, bool hostile, const char *expected)
{
    struct batch_report *report;

    assert_int_equal(create(line, &report), EXIT_CODE_DONE);
    assert_int_equal(report_everything(report, hostile), EXIT_CODE_STOPPED);
    batch_report_destroy(report);
    assert_string_equal(capture_errors(), "");
    assert_string_equal(capture_output(), expected);
}

#define MISMATCH                                                                                   \
    "cases/a.json: expect: 2 of 24 elements differ, the first at [1, 0, 2]: 14 in out.npy, 99 "    \
    "in golden.npy"
#define VERDICTS                                                                                   \
    "FLAKY  flaky in cases/a.json: expect: took longer than 5 ms; passed at attempt 3\n"           \
    "FAILED conv/tile_3 in " MISMATCH "\n"                                                         \
    "       rerun: " AGAIN "\n"                                                                    \
    "ERROR  e in cases/a.json:3:5: expect: no file\n"                                              \
    "UPDATED u in cases/a.json: expect: wrote g.npy.new\n"
#define SUMMARY                                                                                    \
    "6 cases: 1 passed, 1 flaky, 1 failed, 1 error, 1 updated, 1 ran, compares nothing; 2 not "    \
    "run; 1.31 s, 4.58 cases/s\n"

#define LINES VERDICTS SUMMARY

static void test_lines(void **state)
{
    (void)state;
    check_told("", false, LINES);
}

static void test_lines_verbose(void **state)
{
    (void)state;
    check_told("-v", false,
               "passed plain in cases/a.json, 1.23 ms\n" VERDICTS
               "ran bare in cases/a.json, 1.23 ms, compares nothing\n" SUMMARY);
}

static void test_lines_quiet(void **state)
{
    (void)state;
    check_told("-q", false, LINES);
}

/* Control characters and invalid UTF-8 are escaped. */
static void test_lines_hostile(void **state)
{
    struct batch_report *report;

    (void)state;
    assert_int_equal(create("", &report), EXIT_CODE_DONE);
    report_case(report, make_hostile());
    batch_report_destroy(report);
    assert_string_equal(capture_output(),
                        "ERROR  a#b\\c?\"<&>'?[31m\xef\xbf\xbd?\xef\xbf\xbf in cases/a.json: "
                        "expect: ]]> & ? ?? \xe2\x82\xac\xf0\x9f\x98\x80 "
                        "\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd\n"
                        "       rerun: mlictl run 'it'\\''s here/a b'\n");
}

/* The path of a job file names its case. */
static void test_lines_name_the_case_once(void **state)
{
    static const struct {
        const char *name, *file, *subject;
    } all[] = {{"conv/a", "cases/conv/a.json", "cases/conv/a.json"},
               {"a", "a.json", "a.json"},
               {"a", "cases/ba.json", "a in cases/ba.json"},
               {"cases", "cases", "cases"},
               {"a", ".json", "a in .json"},
               {"long/a", "a.json", "long/a in a.json"}};
    char line[64];

    (void)state;
    for (size_t i = 0; i < sizeof(all) / sizeof(all[0]); i++) {
        struct batch_report *report;
        struct case_result result = results_make(all[i].name, CASE_ERROR);
        const size_t before = strlen(capture_output());

        free(result.file);
        result.file = results_copy(all[i].file);
        assert_int_equal(create("", &report), EXIT_CODE_DONE);
        report_case(report, result);
        batch_report_destroy(report);
        snprintf(line, sizeof line, "ERROR  %s\n", all[i].subject);
        assert_string_equal(capture_output() + before, line);
    }
}

/* Reports `count` failures, each third one flaky, from the last to the first by name; `more` is the
 * status of a last case. Returns the text from the blank line on, or the whole text. */
static const char *repeat(const struct report_style *style, int count, const char *more)
{
    const struct batch_summary summary = {.count = {[CASE_FAILED] = 1}, .exit = EXIT_CODE_FAILED};
    const size_t before = strlen(capture_output());
    void *lines = calloc(1, reporter_lines.size);
    char name[16];

    assert_non_null(lines);
    assert_int_equal(reporter_lines.init(lines, style), 0);
    for (int i = count; i > 0; i--) {
        snprintf(name, sizeof name, "c%02d", i);
        struct case_result result = results_make(name, i % 3 ? CASE_FAILED : CASE_FLAKY);
        reporter_lines.ended(lines, &result);
        case_result_finish(&result);
    }
    if (more)
        reporter_lines.note(lines, more);
    assert_int_equal(reporter_lines.end(lines, &summary), 0);
    reporter_lines.finish(lines);
    free(lines);
    const char *blank = strstr(capture_output() + before, "\n\n");
    return blank ? blank + 1 : capture_output() + before;
}

#define REPEATED(i) "FAILED c" #i " in cases/a.json\n"
#define SUMMED      "1 case: 1 failed\n"

static void test_failures_again(void **state)
{
    struct report_style style = {.again = true, .flaky_is_good = true};

    (void)state;
    assert_string_equal(repeat(&style, 5, NULL), "\nfailures, sorted by name:\n" REPEATED(01)
                                                     REPEATED(02) REPEATED(04) REPEATED(05) SUMMED);
    /* A single failure is not repeated directly below itself. */
    assert_string_equal(repeat(&style, 1, NULL), REPEATED(01) SUMMED);
    assert_string_equal(repeat(&style, 1, "note"),
                        "\nfailures, sorted by name:\n" REPEATED(01) SUMMED);
    style.flaky_is_good = false;
    assert_non_null(strstr(repeat(&style, 4, NULL), "FLAKY  c03 in cases/a.json; passed at"));
    style.again = false;
    assert_string_equal(repeat(&style, 2, "note"), REPEATED(02) REPEATED(01) "note\n" SUMMED);
}

static void test_failures_again_limit(void **state)
{
    static const struct report_style styles[] = {
        {.again = true},
        {.again = true, .junit = "-"},
        {.again = true, .resume = "s.jsonl"},
        {.again = true, .resume = "s.jsonl", .junit = "r.xml"},
        {.again = true, .html = "page", .junit = "r.xml"}};
    static const char *const rest[] = {
        "see the lines above, or write a report with --html DIR or --junit FILE\n",
        "see the lines above, or write a report with --html DIR or --junit FILE\n",
        "run mlictl batch merge s.jsonl\n", "see r.xml\n", "see page/index.html\n"};
    char expected[200];

    (void)state;
    for (size_t i = 0; i < sizeof(styles) / sizeof(styles[0]); i++) {
        const char *text = repeat(&styles[i], 25, NULL);

        assert_non_null(strstr(text, "\nthe first 20 of 25 failures, sorted by name:\n"
                                     "FAILED c01 in"));
        snprintf(expected, sizeof expected, REPEATED(20) "5 more: %s" SUMMED, rest[i]);
        assert_string_equal(strstr(text, REPEATED(20)), expected);
        assert_null(strstr(text, REPEATED(22)));
    }
    assert_string_equal(strstr(repeat(&styles[0], 20, NULL), REPEATED(20) "1 case"),
                        REPEATED(20) SUMMED);
}

/* Reports the summary of `passed` cases, some of them reused from a state file. */
static void check_summary(const char *line, size_t passed, size_t resumed, const char *expected)
{
    const struct batch_outline outline = {.total = passed, .selected = passed, .resumed = resumed};
    const struct batch_summary summary = {.count = {passed}, .ns = UINT64_C(2000000000)};
    struct batch_report *report;

    assert_int_equal(create(line, &report), EXIT_CODE_DONE);
    batch_report_begin(report, &outline);
    assert_int_equal(batch_report_end(report, &summary), EXIT_CODE_DONE);
    batch_report_destroy(report);
    assert_string_equal(capture_output(), expected);
}

static void test_summary_errors(void **state)
{
    const struct batch_summary summary = {.count = {[CASE_FAILED] = 9, [CASE_ERROR] = 2}};
    struct batch_report *report;

    (void)state;
    assert_int_equal(create("", &report), EXIT_CODE_DONE);
    batch_report_end(report, &summary);
    batch_report_destroy(report);
    assert_string_equal(capture_output(), "11 cases: 9 failed, 2 errors\n");
}

static void test_summary_resumed(void **state)
{
    (void)state;
    check_summary("", 2500, 1200, "2500 cases: 2500 passed; 1200 reused; 2.00 s, 650 cases/s\n");
}

static void test_summary_one(void **state)
{
    (void)state;
    check_summary("", 1, 1, "1 case: 1 passed; 1 reused; 2.00 s\n");
}

static void test_summary_none(void **state)
{
    (void)state;
    check_summary("", 0, 0, "0 cases; 2.00 s\n");
}

static void test_summary_quiet(void **state)
{
    (void)state;
    check_summary("-q", 2, 0, "");
}

static void test_tap(void **state)
{
    (void)state;
    check_told(
        "--tap", true,
        "TAP version 13\n"
        "1..8\n"
        "ok 1 - plain\n"
        "ok 2 - flaky\n"
        "  ---\n"
        "  message: \"cases/a.json: expect: took longer than 5 ms\"\n"
        "  severity: comment\n"
        "  status: \"flaky\"\n"
        "  reason: \"timeout\"\n"
        "  file: \"cases/a.json\"\n"
        "  pointer: \"/expect\"\n"
        "  attempts: 3\n"
        "  duration_ms: 1.234567\n"
        "  ...\n"
        "not ok 3 - conv/tile_3\n"
        "  ---\n"
        "  message: \"" MISMATCH "\"\n"
        "  severity: fail\n"
        "  status: \"failed\"\n"
        "  reason: \"mismatch\"\n"
        "  file: \"cases/a.json\"\n"
        "  pointer: \"/expect\"\n"
        "  attempts: 1\n"
        "  duration_ms: 1.234567\n"
        "  again: \"" AGAIN "\"\n"
        "  ...\n"
        "not ok 4 - a\\#b\\\\c?\"<&>'?[31m\xef\xbf\xbd?\xef\xbf\xbf\n"
        "  ---\n"
        "  message: \"cases/a.json: expect: ]]> & \\t \\x01\\x7f \xe2\x82\xac\xf0\x9f\x98\x80 "
        "\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd\"\n"
        "  severity: fail\n"
        "  status: \"error\"\n"
        "  reason: \"unreadable\"\n"
        "  file: \"cases/a.json\"\n"
        "  pointer: \"/expect\"\n"
        "  attempts: 1\n"
        "  duration_ms: 1.234567\n"
        "  again: \"mlictl run 'it'\\\\''s here/a b'\"\n"
        "  ...\n"
        "not ok 5 - u\n"
        "  ---\n"
        "  message: \"cases/a.json: expect: wrote g.npy.new\"\n"
        "  severity: fail\n"
        "  status: \"updated\"\n"
        "  reason: \"mismatch\"\n"
        "  file: \"cases/a.json\"\n"
        "  pointer: \"/expect\"\n"
        "  attempts: 1\n"
        "  duration_ms: 1.234567\n"
        "  ...\n"
        "ok 6 - bare # no expectation\n"
        "Bail out! 2 of 8 cases have not run: interrupted\n");
}

static void test_tap_none(void **state)
{
    (void)state;
    check_summary("--tap", 0, 0, "TAP version 13\n1..0 # SKIP no case is in this shard\n");
}

static void test_tap_flaky(void **state)
{
    struct batch_report *report;

    (void)state;
    assert_int_equal(create("--tap --flaky fail", &report), EXIT_CODE_DONE);
    report_case(report, results_make("f", CASE_FLAKY));
    batch_report_destroy(report);
    assert_memory_equal(capture_output(), "not ok 1 - f\n", 13);
    assert_non_null(strstr(capture_output(), "severity: fail"));
}

static void test_events(void **state)
{
    (void)state;
    check_told(
        "--json --quiet", false,
        "{\"event\":\"begin\",\"cases\":8,\"total\":20,\"shard\":\"2/4\",\"resumed\":0,\"set\":"
        "\"0000000000000003\"}\n"
        "{\"event\":\"case\",\"name\":\"plain\",\"file\":\"cases/a.json\",\"status\":\"passed\","
        "\"attempts\":1,\"ns\":1234567,\"bytes\":24}\n"
        "{\"event\":\"case\",\"name\":\"flaky\",\"file\":\"cases/a.json\",\"status\":\"flaky\","
        "\"attempts\":3,\"ns\":1234567,\"bytes\":24,\"reason\":\"timeout\",\"message\":\"took "
        "longer than 5 ms\",\"pointer\":\"/expect\"}\n"
        "{\"event\":\"case\",\"name\":\"conv/tile_3\",\"file\":\"cases/a.json\",\"status\":"
        "\"failed\",\"attempts\":1,\"ns\":1234567,\"bytes\":24,\"reason\":\"mismatch\",\"message\":"
        "\"2 of 24 elements differ, the first at [1, 0, 2]: 14 in out.npy, 99 in golden.npy\","
        "\"pointer\":\"/expect\",\"difference\":{\"kind\":\"values\"},\"kept\":\"batch-failed/conv/"
        "tile_3/job.json\",\"again\":\"" AGAIN "\"}\n"
        "{\"event\":\"case\",\"name\":\"e\",\"file\":\"cases/a.json\",\"status\":\"error\","
        "\"attempts\":1,\"ns\":1234567,\"bytes\":24,\"reason\":\"unreadable\",\"message\":\"no "
        "file\",\"line\":3,\"column\":5,\"pointer\":\"/expect\"}\n"
        "{\"event\":\"case\",\"name\":\"u\",\"file\":\"cases/a.json\",\"status\":\"updated\","
        "\"attempts\":1,\"ns\":1234567,\"bytes\":24,\"reason\":\"mismatch\",\"message\":\"wrote "
        "g.npy.new\",\"pointer\":\"/expect\"}\n"
        "{\"event\":\"case\",\"name\":\"bare\",\"file\":\"cases/a.json\",\"status\":\"ran\","
        "\"attempts\":1,\"ns\":1234567,\"bytes\":24}\n"
        "{\"event\":\"not_run\",\"name\":\"never/begun\",\"file\":\"cases/never/begun.json\"}\n"
        "{\"event\":\"end\",\"passed\":1,\"ran\":1,\"flaky\":1,\"failed\":1,\"error\":1,"
        "\"updated\":1,"
        "\"not_run\":2,\"ns\":1310000000,\"exit\":4}\n");
}

/* Removes the time of day and the host name, which differ in each run. */
static char *without_place(const char *xml)
{
    char *copy = results_copy(xml), *from = strstr(copy, " timestamp=\""), *to;

    assert_non_null(from);
    to = strchr(from, '>');
    memmove(from, to, strlen(to) + 1);
    return copy;
}

#define SUITE_HEAD                                                                                 \
    "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n"                                                 \
    "<testsuites name=\"mlictl batch\" tests=\"7\" failures=\"2\" errors=\"1\" time=\"1.310000\">" \
    "\n  <testsuite name=\"mlictl batch\" tests=\"7\" failures=\"2\" errors=\"1\" "                \
    "time=\"1.310000\" skipped=\"1\">\n"                                                           \
    "    <properties>\n"                                                                           \
    "      <property name=\"shard\" value=\"2/4\"/>\n"                                             \
    "      <property name=\"ran\" value=\"1\"/>\n"                                                 \
    "      <property name=\"flaky\" value=\"1\"/>\n"                                               \
    "      <property name=\"not_run\" value=\"2\"/>\n"                                             \
    "      <property name=\"resumed\" value=\"0\"/>\n"                                             \
    "    </properties>\n"
/* The cases are sorted by name: "(root)" is the class of a name without a directory. */
static const char junit[] = SUITE_HEAD
    "    <testcase classname=\"(root)\" name=\"a#b\\c&#10;&quot;&lt;&amp;&gt;'\xef\xbf\xbd["
    "31m\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd\" file=\"cases/a.json\" time=\"0.001234\">\n"
    "      <error type=\"unreadable\" message=\"]]&gt; &amp; &#9; \xef\xbf\xbd\xef\xbf\xbd "
    "\xe2\x82\xac\xf0\x9f\x98\x80 \xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd\">cases/a.json: expect: "
    "]]&gt; &amp; &#9; \xef\xbf\xbd\xef\xbf\xbd \xe2\x82\xac\xf0\x9f\x98\x80 \xef\xbf\xbd\xef\xbf"
    "\xbd\xef\xbf\xbd</error>\n"
    "      <system-out>1 attempt; rerun: mlictl run 'it'\\''s here/a b'</system-out>\n"
    "    </testcase>\n"
    "    <testcase classname=\"(root)\" name=\"bare\" file=\"cases/a.json\" time=\"0.001234\">\n"
    "      <properties>\n"
    "      <property name=\"expectation\" value=\"none\"/>\n"
    "      </properties>\n"
    "    </testcase>\n"
    "    <testcase classname=\"conv\" name=\"tile_3\" file=\"cases/a.json\" time=\"0.001234\">\n"
    "      <failure type=\"mismatch\" message=\"2 of 24 elements differ, the first at [1, 0, 2]: "
    "14 in out.npy, 99 in golden.npy\">" MISMATCH "</failure>\n"
    "      <system-out>1 attempt; rerun: " AGAIN "</system-out>\n"
    "    </testcase>\n"
    "    <testcase classname=\"(root)\" name=\"flaky\" file=\"cases/a.json\" time=\"0.001234\">\n"
    "      <flakyError type=\"timeout\" message=\"took longer than 5 ms\">cases/a.json: expect: "
    "took longer than 5 ms</flakyError>\n"
    "      <system-out>3 attempts</system-out>\n"
    "    </testcase>\n"
    "    <testcase classname=\"never\" name=\"begun\" file=\"cases/never/begun.json\" "
    "time=\"0.000000\">\n"
    "      <skipped message=\"not run\"/>\n"
    "    </testcase>\n"
    "    <testcase classname=\"(root)\" name=\"plain\" file=\"cases/a.json\" time=\"0.001234\"/>\n"
    "    <testcase classname=\"(root)\" name=\"u\" file=\"cases/a.json\" time=\"0.001234\">\n"
    "      <failure type=\"updated\" message=\"wrote g.npy.new\">cases/a.json: expect: wrote "
    "g.npy.new</failure>\n"
    "      <system-out>1 attempt</system-out>\n"
    "    </testcase>\n"
    "  </testsuite>\n"
    "</testsuites>\n";

static void test_junit_output(void **state)
{
    struct batch_report *report;
    char *xml;

    (void)state;
    assert_int_equal(create("--junit -", &report), EXIT_CODE_DONE);
    assert_int_equal(report_everything(report, true), EXIT_CODE_STOPPED);
    batch_report_destroy(report);
    xml = without_place(capture_output());
    assert_string_equal(xml, junit);
    free(xml);
}

static size_t read_file(const char *path, char *out, size_t size)
{
    FILE *file = fopen(path, "r");
    size_t length;

    assert_non_null(file);
    length = fread(out, 1, size - 1, file);
    out[length] = '\0';
    fclose(file);
    return length;
}

/* A report in a file comes in addition to lines, and replaces the file only when it is complete. */
static void test_junit_file(void **state)
{
    static char got[8192];
    struct batch_report *report;
    char path[64], line[96], *xml;

    (void)state;
    snprintf(path, sizeof path, "%s/report.xml", directory);
    snprintf(line, sizeof line, "--junit %s", path);
    assert_int_equal(create(line, &report), EXIT_CODE_DONE);
    assert_int_equal(access(path, F_OK), -1);
    batch_report_destroy(report);
    assert_int_equal(access(path, F_OK), -1);
    assert_int_equal(create(line, &report), EXIT_CODE_DONE);
    assert_int_equal(report_everything(report, true), EXIT_CODE_STOPPED);
    batch_report_destroy(report);
    read_file(path, got, sizeof got);
    xml = without_place(got);
    assert_string_equal(xml, junit);
    free(xml);
    assert_non_null(strstr(capture_output(), "6 cases: 1 passed"));
    unlink(path);
}

/* With --flaky fail a flaky case is a failure. */
static void test_junit_flaky(void **state)
{
    struct batch_report *report;

    (void)state;
    assert_int_equal(create("--junit - --flaky fail", &report), EXIT_CODE_DONE);
    report_everything(report, true);
    batch_report_destroy(report);
    assert_non_null(strstr(capture_output(), "tests=\"7\" failures=\"3\" errors=\"1\""));
    assert_non_null(strstr(capture_output(), "<failure type=\"flaky\" message=\"took longer"));
    assert_null(strstr(capture_output(), "<flakyError"));
}

static void check_refused(const char *line, const char *complaint)
{
    struct batch_report *report;
    size_t before = strlen(capture_errors());

    assert_int_equal(create(line, &report), EXIT_CODE_INVALID);
    batch_report_destroy(report);
    assert_string_equal(capture_errors() + before, complaint);
    assert_string_equal(capture_output(), "");
}

static void test_refused(void **state)
{
    (void)state;
    check_refused("--json --tap",
                  "mlictl: --json cannot be combined with --tap: both write to standard output\n");
    check_refused(
        "--tap --junit -",
        "mlictl: --tap cannot be combined with --junit -: both write to standard output\n");
    check_refused(
        "--json --junit=-",
        "mlictl: --json cannot be combined with --junit -: both write to standard output\n");
    check_refused("-v -q", "mlictl: --verbose cannot be combined with --quiet\n");
    check_refused("--flaky maybe", "mlictl: --flaky maybe: pass or fail is needed\n");
    check_refused("--junit /nowhere/report.xml",
                  "mlictl: --junit /nowhere/report.xml: the directory /nowhere must exist: No such "
                  "file or directory\n");
    check_refused("--junit /dev/null",
                  "mlictl: --junit /dev/null: cannot be replaced: not a regular file\n");
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void)
{
    static const struct CMUnitTest tests[] = {
        TEST(test_lines),
        TEST(test_lines_verbose),
        TEST(test_lines_quiet),
        TEST(test_lines_hostile),
        TEST(test_lines_name_the_case_once),
        TEST(test_failures_again),
        TEST(test_failures_again_limit),
        TEST(test_summary_errors),
        TEST(test_summary_resumed),
        TEST(test_summary_one),
        TEST(test_summary_none),
        TEST(test_summary_quiet),
        TEST(test_tap),
        TEST(test_tap_none),
        TEST(test_tap_flaky),
        TEST(test_events),
        TEST(test_junit_output),
        TEST(test_junit_file),
        TEST(test_junit_flaky),
        TEST(test_refused),
    };
    int failed;

    setenv("NO_COLOR", "1", 1); /* the developer's terminal may have the variable set */
    if (!mkdtemp(directory))
        return 1;
    failed = cmocka_run_group_tests_name("batch report", tests, NULL, NULL);
    rmdir(directory);
    return failed;
}
