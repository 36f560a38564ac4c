/* SPDX-License-Identifier: BSD-3-Clause */
#include "cli/report/report.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cli/term/terminal.h"

enum { FORMS = 6 };

struct batch_report {
    struct {
        const struct reporter *reporter;
        void *state;
    } active[FORMS];
    size_t count;
    bool lost; /* a report was not written */
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

static bool fills_output(const struct report_style *style)
{
    return style->json || style->tap || (style->junit && strcmp(style->junit, "-") == 0);
}

/*
 * Returns the descriptor for the live line, or -1. It is standard output if that is a terminal, or
 * standard error if standard output goes to a file. With a pipe there is no live line, because the
 * reader of the pipe may write to this terminal.
 */
static int live_place(const struct report_style *style)
{
    struct stat output;

    if (style->quiet)
        return -1;
    if (style->terminal)
        return !fills_output(style) && terminal_draws(STDOUT_FILENO) ? STDOUT_FILENO : -1;
    bool to_file = fstat(STDOUT_FILENO, &output) == 0 && S_ISREG(output.st_mode);
    return to_file && terminal_draws(STDERR_FILENO) ? STDERR_FILENO : -1;
}

/* Refuses two reports on standard output. */
static int refuse_both(const struct report_style *style)
{
    const char *first = NULL;
    const struct {
        bool given;
        const char *name;
    } all[] = {{style->json, "--json"},
               {style->tap, "--tap"},
               {style->junit && strcmp(style->junit, "-") == 0, "--junit -"}};

    for (size_t i = 0; i < sizeof(all) / sizeof(all[0]); i++) {
        if (all[i].given && first)
            return print_refusal("%s cannot be combined with %s: both write to standard output",
                                 first, all[i].name);
        if (all[i].given)
            first = all[i].name;
    }
    return 0;
}

/* Sets the facts about the run that the page shows. */
static void find_run(const struct options *options, struct report_style *style)
{
    const char *first = options->argument_count > 0 ? options->arguments[0] : "";

    style->resume = options_get(options, "resume");
    style->merged = strcmp(first, "merge") == 0 || strcmp(first, "collect") == 0;
    style->engine = options_get(options, "engine");
    style->profile = options_get(options, "profile");
    style->socket = options_get(options, "socket");
    style->host = options_get(options, "host");
}

static int find_style(const struct options *options, struct report_style *style)
{
    *style = (struct report_style){.junit = options_get(options, "junit"),
                                   .html = options_get(options, "html"),
                                   .json = options_get(options, "json") != NULL,
                                   .tap = options_get(options, "tap") != NULL,
                                   .verbose = options_get(options, "verbose") != NULL,
                                   .quiet = options_get(options, "quiet") != NULL,
                                   .terminal = isatty(STDOUT_FILENO)};
    if (batch_report_flaky(options, &style->flaky_is_good) || refuse_both(style))
        return -1;
    if (style->verbose && style->quiet)
        return print_refusal("--verbose cannot be combined with --quiet");
    style->live_fd = live_place(style);
    find_run(options, style);
    /* The failures of state files are sorted, and come all at once. */
    style->again = style->terminal && !style->quiet && !style->merged;
    return 0;
}

static int add(struct batch_report *report, const struct reporter *reporter,
               const struct report_style *style)
{
    void *state = reporter->size > 0 ? calloc(1, reporter->size) : NULL;

    if (reporter->size > 0 && !state)
        return print_refusal("out of memory");
    report->active[report->count].state = state;
    report->active[report->count++].reporter = reporter;
    return reporter->init ? reporter->init(state, style) : 0;
}

enum exit_code batch_report_create(const struct options *options, struct batch_report **out)
{
    struct report_style style;

    *out = NULL;
    if (find_style(options, &style))
        return EXIT_CODE_INVALID;
    struct batch_report *report = calloc(1, sizeof(*report));
    if (!report)
        return print_no_memory();
    *out = report;
    /* The live line is last, because it is drawn below all other lines. */
    const struct {
        const struct reporter *reporter;
        bool wanted;
    } forms[FORMS] = {
        {&reporter_events, style.json},           {&reporter_tap, style.tap},
        {&reporter_junit, style.junit},           {&reporter_html, style.html},
        {&reporter_lines, !fills_output(&style)}, {&reporter_progress, style.live_fd >= 0}};
    for (size_t i = 0; i < FORMS; i++) {
        if (!forms[i].wanted)
            continue;
        if (add(report, forms[i].reporter, &style))
            return EXIT_CODE_INVALID;
    }
    return EXIT_CODE_DONE;
}

/* Calls a callback of each active reporter that has it. */
#define EACH(report, member, ...)                                                                  \
    for (size_t i = 0; i < (report)->count; i++) {                                                 \
        if ((report)->active[i].reporter->member)                                                  \
            (report)->active[i].reporter->member((report)->active[i].state, __VA_ARGS__);          \
    }

static void put_line(struct jsonw *w)
{
    print_object(w);
    fflush(stdout);
}

void batch_report_problem(const struct options *options, const char *file, const struct fault *at,
                          const char *text)
{
    struct jsonw w;

    if (!options_get(options, "json"))
        return;
    jsonw_init_object(&w);
    jsonw_string(&w, "event", "problem");
    if (file)
        jsonw_string(&w, "file", file);
    if (at) {
        jsonw_uint(&w, "line", at->line);
        jsonw_uint(&w, "column", at->column);
    }
    jsonw_string(&w, "message", text);
    put_line(&w);
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

void batch_report_ended(struct batch_report *report, const struct case_result *result)
{
    EACH(report, ended, result)
}

void batch_report_result(struct batch_report *report, const struct case_result *result)
{
    EACH(report, result, result)
}

void batch_report_tick(struct batch_report *report, uint64_t ns, uint32_t now, uint32_t all)
{
    EACH(report, tick, ns, now, all)
}

void batch_report_not_run(struct batch_report *report, const char *name, const char *file)
{
    EACH(report, not_run, name, file)
}

enum exit_code batch_report_end(struct batch_report *report, const struct batch_summary *summary)
{
    int status = 0;

    for (size_t i = 0; i < report->count; i++) {
        if (report->active[i].reporter->end)
            status |= report->active[i].reporter->end(report->active[i].state, summary);
    }
    report->lost = status != 0;
    return status && summary->exit == EXIT_CODE_DONE ? EXIT_CODE_FAILED : summary->exit;
}

bool batch_report_is_written(const struct batch_report *report)
{
    return print_flush() == 0 && !report->lost;
}

void batch_report_destroy(struct batch_report *report)
{
    if (!report)
        return;
    for (size_t i = 0; i < report->count; i++) {
        if (report->active[i].reporter->finish)
            report->active[i].reporter->finish(report->active[i].state);
        free(report->active[i].state);
    }
    free(report);
}

/* --json: one JSON object for each event, written at once. */
static void begin(void *state, const struct batch_outline *outline)
{
    struct jsonw w;

    (void)state;
    jsonw_init_object(&w);
    batch_outline_write(&w, "begin", outline);
    put_line(&w);
}

static void result(void *state, const struct case_result *result)
{
    struct jsonw w;

    (void)state;
    jsonw_init_object(&w);
    case_result_write(&w, result, false);
    put_line(&w);
}

/* Writes an event for a case or shard that did not run. `key`: "file" or "message". */
static void put_not_run(const char *name, const char *key, const char *text)
{
    struct jsonw w;

    jsonw_init_object(&w);
    jsonw_string(&w, "event", "not_run");
    case_name_write(&w, name);
    jsonw_string(&w, key, text);
    put_line(&w);
}

static void gap(void *state, const char *name, const char *text)
{
    (void)state;
    put_not_run(name, "message", text);
}

static void not_run(void *state, const char *name, const char *file)
{
    (void)state;
    put_not_run(name, "file", file);
}

static int end(void *state, const struct batch_summary *summary)
{
    struct jsonw w;

    (void)state;
    jsonw_init_object(&w);
    batch_summary_write(&w, summary);
    put_line(&w);
    return 0;
}

const struct reporter reporter_events = {
    .gap = gap, .begin = begin, .result = result, .not_run = not_run, .end = end};
