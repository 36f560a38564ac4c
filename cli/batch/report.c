/* SPDX-License-Identifier: BSD-3-Clause */
#include "cli/batch/report.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cli/term/print.h"
#include "cli/term/terminal.h"

static bool wants_events(const struct batch_taste *taste)
{
    return taste->json;
}

static bool wants_tap(const struct batch_taste *taste)
{
    return taste->tap;
}

static bool wants_junit(const struct batch_taste *taste)
{
    return taste->junit != NULL;
}

static bool fills_output(const struct batch_taste *taste)
{
    return taste->json || taste->tap || (taste->junit && strcmp(taste->junit, "-") == 0);
}

static bool wants_lines(const struct batch_taste *taste)
{
    return !fills_output(taste);
}

static bool wants_progress(const struct batch_taste *taste)
{
    return taste->live_fd >= 0;
}

/* In the order they are called: the live line comes back below all others. */
static const struct form {
    const struct batch_sink *sink;
    bool (*wanted)(const struct batch_taste *taste);
} forms[] = {{&sink_events, wants_events},
             {&sink_tap, wants_tap},
             {&sink_junit, wants_junit},
             {&sink_lines, wants_lines},
             {&sink_progress, wants_progress}};

enum { FORMS = sizeof(forms) / sizeof(forms[0]) };

struct batch_report {
    struct {
        const struct batch_sink *sink;
        void *state;
    } outlets[FORMS];
    size_t count;
};

static const char *const flaky_words[] = {"pass", "fail", NULL};
const struct value batch_report_flaky_value = {.kind = VALUE_WORD, .words = flaky_words};

int batch_report_flaky(const struct options *options, bool *is_good)
{
    size_t word = 0;
    int status = options_choice(options, "flaky", &word);
    *is_good = word == 0;
    return status;
}

/* People see it below the lines; or, where these go to a file, on standard error. A pipe may lead
 * to somebody who writes to the same terminal. */
static int live_place(const struct batch_taste *taste)
{
    struct stat output;
    if (taste->quiet)
        return -1;
    if (taste->terminal)
        return wants_lines(taste) && terminal_draws(STDOUT_FILENO) ? STDOUT_FILENO : -1;
    bool to_file = fstat(STDOUT_FILENO, &output) == 0 && S_ISREG(output.st_mode);
    return to_file && terminal_draws(STDERR_FILENO) ? STDERR_FILENO : -1;
}

/* Two that would write into each other. */
static int refuse_both(const struct batch_taste *taste)
{
    const char *first = NULL;
    const struct {
        bool given;
        const char *name;
    } all[] = {{taste->json, "--json"},
               {taste->tap, "--tap"},
               {taste->junit && strcmp(taste->junit, "-") == 0, "--junit -"}};
    for (size_t i = 0; i < sizeof(all) / sizeof(all[0]); i++) {
        if (all[i].given && first) {
            print_error("%s and %s: both are for standard output", first, all[i].name);
            return -1;
        }
        if (all[i].given)
            first = all[i].name;
    }
    return 0;
}

static int find_taste(const struct options *options, struct batch_taste *taste)
{
    *taste = (struct batch_taste){.junit = options_get(options, "junit"),
                                  .json = options_get(options, "json") != NULL,
                                  .tap = options_get(options, "tap") != NULL,
                                  .verbose = options_get(options, "verbose") != NULL,
                                  .quiet = options_get(options, "quiet") != NULL,
                                  .terminal = isatty(STDOUT_FILENO)};
    if (batch_report_flaky(options, &taste->flaky_is_good) || refuse_both(taste))
        return -1;
    if (taste->verbose && taste->quiet) {
        print_error("--verbose and --quiet: say one of them");
        return -1;
    }
    taste->live_fd = live_place(taste);
    return 0;
}

enum exit_code batch_report_create(const struct options *options, struct batch_report **out)
{
    struct batch_taste taste;
    *out = NULL;
    if (find_taste(options, &taste))
        return EXIT_CODE_INVALID;
    struct batch_report *report = calloc(1, sizeof(*report));
    if (!report) {
        print_error("out of memory");
        return EXIT_CODE_FAILED;
    }
    *out = report;
    for (size_t i = 0; i < FORMS; i++) {
        if (!forms[i].wanted(&taste))
            continue;
        if (forms[i].sink->create(&taste, &report->outlets[report->count].state))
            return EXIT_CODE_INVALID;
        report->outlets[report->count++].sink = forms[i].sink;
    }
    return EXIT_CODE_DONE;
}

/* Calls a member of each sink that has it. */
#define EACH(report, member, ...)                                                                  \
    for (size_t i = 0; i < (report)->count; i++) {                                                 \
        if ((report)->outlets[i].sink->member)                                                     \
            (report)->outlets[i].sink->member((report)->outlets[i].state, __VA_ARGS__);            \
    }

void batch_report_gap(struct batch_report *report, const char *name, const char *text)
{
    EACH(report, gap, name, text)
}

void batch_report_begin(struct batch_report *report, const struct batch_outline *outline)
{
    EACH(report, begin, outline)
}

void batch_report_note(struct batch_report *report, const char *text)
{
    EACH(report, note, text)
}

void batch_report_result(struct batch_report *report, const struct case_result *result)
{
    EACH(report, result, result)
}

void batch_report_tick(struct batch_report *report, uint64_t ns)
{
    EACH(report, tick, ns)
}

void batch_report_repeat(struct batch_report *report, uint32_t now, uint32_t all)
{
    EACH(report, repeat, now, all)
}

void batch_report_not_run(struct batch_report *report, const char *name, const char *file)
{
    EACH(report, not_run, name, file)
}

enum exit_code batch_report_end(struct batch_report *report, const struct batch_summary *summary)
{
    int status = 0;
    for (size_t i = 0; i < report->count; i++)
        status |= report->outlets[i].sink->end(report->outlets[i].state, summary);
    return status && summary->exit == EXIT_CODE_DONE ? EXIT_CODE_FAILED : summary->exit;
}

void batch_report_destroy(struct batch_report *report)
{
    if (!report)
        return;
    for (size_t i = 0; i < report->count; i++)
        report->outlets[i].sink->destroy(report->outlets[i].state);
    free(report);
}

void sentence_what(struct textw *w, const struct case_result *result, escaped_rule rule)
{
    const char *message = result->message ? result->message : case_reason_word(result->reason);
    escaped_write(w, result->file, rule);
    if (result->pointer && *result->pointer) {
        textw_printf(w, ": ");
        escaped_write(w, result->pointer, rule);
    }
    if (*message) {
        textw_printf(w, ": ");
        escaped_write(w, message, rule);
    }
}

void sentence_rate(struct textw *w, size_t cases, uint64_t ns)
{
    double rate = ns ? (double)cases * 1e9 / (double)ns : 0;
    if (rate > 0)
        textw_printf(w, ", %.*f cases/s", rate < 9.95 ? 2 : 0, rate);
}

/* A batch for programs: an object to each line, as things happen. */
static int create(const struct batch_taste *taste, void **state)
{
    (void)taste;
    *state = NULL;
    return 0;
}

static void open_line(struct jsonw *w)
{
    jsonw_init(w);
    jsonw_object_begin(w, NULL);
}

static void put_line(struct jsonw *w)
{
    jsonw_object_end(w);
    print_json(w);
    fflush(stdout);
}

static void begin(void *state, const struct batch_outline *outline)
{
    struct jsonw w;
    (void)state;
    open_line(&w);
    batch_outline_write(&w, outline);
    put_line(&w);
}

static void result(void *state, const struct case_result *result)
{
    struct jsonw w;
    (void)state;
    open_line(&w);
    case_result_write(&w, result, false);
    put_line(&w);
}

static int end(void *state, const struct batch_summary *summary)
{
    struct jsonw w;
    (void)state;
    open_line(&w);
    batch_summary_write(&w, summary);
    put_line(&w);
    return 0;
}

static void destroy(void *state)
{
    (void)state;
}

const struct batch_sink sink_events = {
    .create = create, .begin = begin, .result = result, .end = end, .destroy = destroy};
