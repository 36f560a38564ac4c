/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * reporter_html: a page for people. Rows and failures stay in memory until the end of the run,
 * because the totals come first and the cases are sorted by name.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/utsname.h>
#include <time.h>
#include <unistd.h>

#include "cli/file/output.h"
#include "cli/report/html.h"
#include "cli/report/report.h"
#include "cli/report/result.h"
#include "cli/term/print.h"
#include "mli_helpers_api.h"
#include "mli_mov_api.h"
#include "proto/grow.h"
#include "proto/wire/build_id.h"

/* A case: a row of the table, and the text of its failure. */
struct entry {
    char *name;
    const char *status; /* a word of html_verdict() */
    uint64_t ns;
    uint32_t attempts;
    size_t failure; /* number of the failure in the page, from 1; 0: the page has no failure of the
                       case */
    char *text;     /* the failure; or null */
};

struct html {
    struct report_style run;
    time_t begin;
    char *path; /* output file DIR/index.html */
    struct output output;
    struct batch_outline outline;
    struct durations durations;
    struct entry *entries;
    size_t count, capacity;
    size_t failures, with_evidence, without_text; /* without_text: failures only in the table */
    size_t failure_bytes, evidence_bytes;
    struct textw notes;
    bool failed; /* out of memory */
};

enum { BAR = 26, GAP = 4, HEIGHT = 110, BASE = 18 };

/* A decade, such as 1 to 10 ms, has several bars. Bar i begins at tenths[i] / 10 of its start. */
static const unsigned tenths[DURATIONS_PER_DECADE] = {10, 18, 32, 56};

enum { BRIEF_MAX = 260, MESSAGE_MAX = 4000, SHORT_MAX = 240, FACT_MAX = 1000 };

enum {
    EVIDENCE_BYTES_MAX = 3 << 20, /* limit for the evidence of all failures */
    EVIDENCE_CASES_MAX = 200,     /* maximum number of failures with evidence */
    /* Limit for the texts of all failures; further failures have only a row. */
    FAILURES_BYTES_MAX = 4 << 20,
    NAME_MAX_SHOWN = 240
};

enum { OPEN_ROWS_MAX = 200, TIME_MAX = PRINT_TEXT_MAX };

/* The durations of cases as a drawing: the number of cases for each range of times. */

/* Returns the first duration of a bin in ns; bin 0 begins at 0. */
static uint64_t begin_of(size_t bin)
{
    uint64_t ns = 1000;

    if (bin == 0)
        return 0;
    for (size_t decade = 1; decade <= (bin - 1) / DURATIONS_PER_DECADE; decade++)
        ns *= 10;
    return ns * tenths[(bin - 1) % DURATIONS_PER_DECADE] / 10;
}

void durations_add(struct durations *durations, uint64_t ns)
{
    size_t bin = 0;

    while (bin + 1 < DURATIONS_BINS && ns >= begin_of(bin + 1))
        bin++;
    durations->count[bin]++;
    durations->all++;
}

/* Finds the first and last bin with cases, and the largest number of cases in a bin. */
static size_t find_range(const struct durations *durations, size_t *first, size_t *last)
{
    size_t most = 0;

    *first = DURATIONS_BINS;
    for (size_t bin = 0; bin < DURATIONS_BINS; bin++) {
        const size_t count = durations->count[bin];

        if (count == 0)
            continue;
        *first = *first < bin ? *first : bin;
        *last = bin;
        most = count > most ? count : most;
    }
    return most;
}

static void write_bar(struct textw *w, const struct durations *durations, size_t bin, size_t x,
                      size_t most)
{
    const size_t count = durations->count[bin];
    const size_t height = count ? 2 + count * (HEIGHT - 2) / most : 0;
    char from[PRINT_TEXT_MAX];

    textw_printf(
        w,
        "<rect x=\"%zu\" y=\"%zu\" width=\"%d\" height=\"%zu\"><title>%zu case%s from %s on"
        "</title></rect>",
        x, BASE + HEIGHT - height, BAR, height, count, print_s(count),
        print_time(from, begin_of(bin)));
    if (count)
        textw_printf(w, "<text x=\"%zu\" y=\"%zu\" text-anchor=\"middle\">%zu</text>", x + BAR / 2,
                     BASE + HEIGHT - height - 4, count);
}

/* Writes the time at the left edge of a bin. */
static void write_tick(struct textw *w, size_t bin, size_t x)
{
    char from[PRINT_TEXT_MAX];

    textw_printf(w, "<text x=\"%zu\" y=\"%d\" text-anchor=\"middle\">%s</text>", x,
                 BASE + HEIGHT + 16, print_time(from, begin_of(bin)));
}

void durations_write(struct textw *w, const struct durations *durations)
{
    size_t first, last = 0, x = 30;

    if (durations->all == 0)
        return;
    const size_t most = find_range(durations, &first, &last);
    const size_t width = 60 + (last - first + 1) * (BAR + GAP);
    textw_printf(
        w,
        "<section class=\"times\" aria-labelledby=\"times\"><h2 id=\"times\">Durations</h2>\n"
        "<svg viewBox=\"0 0 %zu %d\" width=\"%zu\" role=\"img\" aria-label=\"Number of cases for "
        "each range of durations\">",
        width, BASE + HEIGHT + 24, width);
    for (size_t bin = first; bin <= last; bin++, x += BAR + GAP) {
        write_bar(w, durations, bin, x, most);
        if (bin > 0 && (bin - 1) % DURATIONS_PER_DECADE == 0)
            write_tick(w, bin, x);
    }
    if (last < DURATIONS_BINS - 1 && last % DURATIONS_PER_DECADE == 0)
        write_tick(w, last + 1, x);
    textw_printf(w, "</svg></section>\n");
}

/* A case that did not pass, or passed late, as a part of the page that opens and closes. */

/* Writes the mark and word of a status, which do not depend on colours. */
static void html_verdict(struct textw *w, const char *status)
{
    static const char *const all[][3] = {{"passed", "\xe2\x9c\x93", "passed"},
                                         {"ran", "\xe2\x97\x8b", "ran, compares nothing"},
                                         {"flaky", "~", "flaky"},
                                         {"failed", "\xe2\x9c\x97", "failed"},
                                         {"error", "!", "error"},
                                         {"updated", "+", "updated"},
                                         {"not-run", "-", "not run"}};
    size_t i = 0;

    while (strcmp(status, all[i][0]) != 0)
        i++;
    textw_printf(w, "<span class=\"verdict\"><span aria-hidden=\"true\">%s</span> %s</span>",
                 all[i][1], all[i][2]);
}

/* Writes an item of a list, at most `most` bytes of its value; nothing if there is no value. */
static void write_fact(struct textw *w, const char *name, const char *value, size_t most)
{
    if (!value || !*value)
        return;
    textw_printf(w, "<li><span class=\"key\">%s</span> ", name);
    html_short(w, value, most);
    textw_printf(w, "</li>\n");
}

static void write_failure_facts(struct textw *w, const struct case_result *result)
{
    char text[PRINT_TEXT_MAX];

    textw_printf(w, "<ul class=\"facts\"><li><span class=\"key\">job file</span> ");
    html_short(w, result->file, SHORT_MAX);
    if (result->line)
        textw_printf(w, ":%" PRIu32 ":%" PRIu32, result->line, result->column);
    textw_printf(w, "</li>\n");
    write_fact(w, "member", result->pointer, SHORT_MAX);
    write_fact(w, "reason", case_reason_word(result->reason), SHORT_MAX);
    textw_printf(w, "<li><span class=\"key\">attempts</span> %" PRIu32 "</li>", result->attempts);
    write_fact(w, "duration", print_time(text, result->ns), SHORT_MAX);
    write_fact(w, "moved", print_bytes(text, result->bytes), SHORT_MAX);
    write_fact(w, "kept case", result->kept, SHORT_MAX);
    write_fact(w, "ran again", result->rerun_reason, SHORT_MAX);
    textw_printf(w, "</ul>\n");
}

static void write_command(struct textw *w, const char *command)
{
    textw_printf(w, "<h4>Reproduce</h4>\n<pre class=\"command\" tabindex=\"0\"><code>");
    html_text(w, command);
    textw_printf(w, "</code></pre>\n");
}

/* Writes the beginning of the message, without the path of the result. */
static void write_brief(struct textw *w, const struct case_result *result)
{
    const char *message = result->message ? result->message : case_reason_word(result->reason);
    const char *end = strstr(message, RESULT_GIVEN);
    char *brief = end ? strndup(message, (size_t)(end - message)) : strdup(message);

    if (!brief) {
        w->failed = true;
        return;
    }
    html_short(w, brief, BRIEF_MAX);
    free(brief);
}

static void write_summary(struct textw *w, const struct case_result *result)
{
    textw_printf(w, "<summary>");
    html_verdict(w, case_status_word(result->status));
    textw_printf(w, " <span class=\"name\">");
    html_short(w, result->name, SHORT_MAX);
    textw_printf(w, "</span> <span class=\"brief\">");
    write_brief(w, result);
    textw_printf(w, "</span></summary>\n");
}

static void html_failure(struct textw *w, const struct case_result *result, size_t number,
                         bool evidence)
{
    textw_printf(w, "<details class=\"failure %s\" id=\"f%zu\">", case_status_word(result->status),
                 number);
    write_summary(w, result);
    textw_printf(w, "<div class=\"body\">\n");
    if (result->message && strlen(result->message) > BRIEF_MAX) {
        textw_printf(w, "<p class=\"message\">");
        html_short(w, result->message, evidence ? MESSAGE_MAX : SHORT_MAX);
        textw_printf(w, "</p>\n");
    }
    write_failure_facts(w, result);
    if (result->rerun_command)
        write_command(w, result->rerun_command);
    if (evidence && result->kept)
        html_evidence(w, result->kept, number);
    textw_printf(w, "</div></details>\n");
}

/* The frame of the page: head, totals, environment, and the table of all cases. */

static void write_head(struct textw *w)
{
    textw_printf(w,
                 "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
                 "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; "
                 "style-src '%s'; script-src '%s'; base-uri 'none'; form-action 'none'\">\n"
                 "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n"
                 "<meta name=\"color-scheme\" content=\"light dark\">\n"
                 "<meta name=\"referrer\" content=\"no-referrer\">\n"
                 "<title>mlictl batch</title>\n<style>",
                 html_page_style_hash, html_page_script_hash);
    textw_printf(w, "%s</style>\n</head>\n<body>\n", html_page_style);
    textw_printf(w, "<a class=\"skip\" href=\"#failures\">To the failures</a>\n");
}

/* Writes the heading. Flaky cases count only if nothing else explains the exit code. */
static void write_heading(struct textw *w, const struct batch_summary *summary)
{
    const size_t ended = batch_summary_ended(summary);
    const bool good = summary->exit == EXIT_CODE_DONE;

    textw_printf(w, "<header class=\"%s\">\n<h1>mlictl batch: ", good ? "good" : "bad");
    if (good)
        textw_printf(w, "all cases are good");
    else if (summary->exit == EXIT_CODE_STOPPED)
        textw_printf(w, "interrupted");
    else if (case_counts_write(w, summary->count, CASE_FAILED, "") ||
             case_counts_write(w, summary->count, CASE_FLAKY, ""))
        textw_printf(w, " of %zu case%s", ended, print_s(ended));
    else
        textw_printf(w, "%zu case%s did not run", summary->not_run, print_s(summary->not_run));
    textw_printf(w, "</h1>\n");
}

static const char *time_text(char out[TIME_MAX], time_t at)
{
    struct tm utc;

    out[0] = '\0';
    if (gmtime_r(&at, &utc))
        strftime(out, TIME_MAX, "%Y-%m-%d %H:%M:%S UTC", &utc);
    return out;
}

/* Writes the line below the heading: "12 cases in 1.2 s, 2026-11-23 09:00:00 UTC, host". */
static void write_facts(struct textw *w, const struct html *html,
                        const struct batch_summary *summary)
{
    const struct batch_outline *outline = &html->outline;
    const size_t ended = batch_summary_ended(summary);
    char duration[PRINT_TEXT_MAX], when[TIME_MAX], shard[SHARD_TEXT_MAX];

    textw_printf(w, "<p class=\"run\">%zu case%s in %s, %s", ended, print_s(ended),
                 print_time(duration, summary->ns), time_text(when, html->begin));
    if (outline->shard.count)
        textw_printf(w, ", shard %s", shard_text(shard, &outline->shard));
    if (outline->resumed)
        textw_printf(w, ", %zu reused", outline->resumed);
    if (summary->predicted > 0)
        textw_printf(w, "; on the board %s by the model, transfers measured here: %s",
                     print_time(duration, summary->predicted_ns),
                     print_time(when, summary->transfers_ns));
    textw_printf(w, "</p>\n");
}

static void write_total(struct textw *w, const char *status, size_t count)
{
    textw_printf(w, "<li class=\"%s%s\"><strong>%zu</strong> ", status, count ? "" : " none",
                 count);
    html_verdict(w, status);
    textw_printf(w, "</li>\n");
}

static void write_totals(struct textw *w, const struct batch_summary *summary)
{
    textw_printf(w, "<ul class=\"totals\" aria-label=\"Numbers of cases\">\n");
    for (int status = 0; status < CASE_STATUS_COUNT; status++) {
        if (summary->count[status] > 0 || status == CASE_PASSED || status == CASE_FAILED)
            write_total(w, case_status_word((enum case_status)status), summary->count[status]);
    }
    if (summary->not_run > 0)
        write_total(w, "not-run", summary->not_run);
    textw_printf(w, "</ul>\n");
}

/* Writes everything before the failures. */
static void write_begin(struct textw *w, const struct html *html,
                        const struct batch_summary *summary)
{
    write_head(w);
    write_heading(w, summary);
    write_facts(w, html, summary);
    write_totals(w, summary);
    textw_printf(w, "</header>\n<nav class=\"controls\" id=\"controls\" hidden></nav>\n<main>\n");
}

static void write_row(struct textw *w, const struct entry *row)
{
    char duration[PRINT_TEXT_MAX];

    textw_printf(w, "<tr class=\"%s\"><td>", row->status);
    if (row->failure)
        textw_printf(w, "<a href=\"#f%zu\">", row->failure);
    html_text(w, row->name);
    textw_printf(w, "%s<td>", row->failure ? "</a>" : "");
    html_verdict(w, row->status);
    textw_printf(w, "<td data-ns=\"%" PRIu64 "\">%s<td>%" PRIu32 "\n", row->ns,
                 row->attempts ? print_time(duration, row->ns) : "", row->attempts);
}

/* Writes the table of all cases, which is closed at first if it is long. */
static void write_table(struct textw *w, const struct html *html)
{
    textw_printf(w,
                 "<section aria-labelledby=\"all\"><h2 id=\"all\">All cases</h2>\n"
                 "<details class=\"all\"%s><summary>Show or hide %zu</summary>\n<div "
                 "class=\"wide\"><table class=\"cases\">"
                 "<caption>Cases by name</caption><thead><tr><th scope=\"col\">case</th>"
                 "<th scope=\"col\">verdict</th><th scope=\"col\">duration</th>"
                 "<th scope=\"col\">attempts</th></tr></thead><tbody>\n",
                 html->count <= OPEN_ROWS_MAX ? " open" : "", html->count);
    for (size_t i = 0; i < html->count; i++)
        write_row(w, &html->entries[i]);
    textw_printf(w, "</tbody></table></div></details></section>\n");
}

static void write_machine(struct textw *w)
{
    struct utsname machine;
    char text[sizeof(machine.sysname) + sizeof(machine.release) + sizeof(machine.machine) + 4];
    char processors[24];

    if (uname(&machine))
        return;
    snprintf(text, sizeof(text), "%s %s %s", machine.sysname, machine.release, machine.machine);
    snprintf(processors, sizeof(processors), "%ld", sysconf(_SC_NPROCESSORS_ONLN));
    write_fact(w, "host", machine.nodename, FACT_MAX);
    write_fact(w, "system", text, FACT_MAX);
    write_fact(w, "processors", processors, FACT_MAX);
}

static void write_environment(struct textw *w, const struct html *html)
{
    const struct report_style *run = &html->run;
    char when[TIME_MAX], version[80];
    char *here = realpath(".", NULL);

    snprintf(version, sizeof(version), "%s, build %s", mli_version(), build_id());
    textw_printf(
        w, "<section aria-labelledby=\"environment\"><h2 id=\"environment\">Environment</h2>\n"
           "<ul class=\"facts\">\n");
    write_fact(w, "mlictl", version, FACT_MAX);
    write_fact(w, run->merged ? "merged" : "began", time_text(when, html->begin), FACT_MAX);
    write_fact(w, "engine, with its options", run->engine, FACT_MAX);
    write_fact(w, "profile", run->profile, FACT_MAX);
    write_fact(w, "socket", run->socket, FACT_MAX);
    write_fact(w, "service", run->host, FACT_MAX);
    write_machine(w);
    write_fact(w, "directory", here, FACT_MAX);
    write_fact(w, "MLI_CPU_MASK", getenv("MLI_CPU_MASK"), FACT_MAX);
    write_fact(w, "MLI_STREAM_MIN", getenv("MLI_STREAM_MIN"), FACT_MAX);
    textw_printf(w, "</ul></section>\n");
    free(here);
}

/* Writes the environment and the end of the page. */
static void write_end(struct textw *w, const struct html *html)
{
    write_environment(w, html);
    textw_printf(
        w, "</main>\n<footer><p>Written by <code>mlictl batch --html</code>. Times are of the last "
           "attempt.</p></footer>\n<script>");
    textw_printf(w, "%s</script>\n</body>\n</html>\n", html_page_script);
}

/* The report. */

/* Adds an empty entry. Returns null if memory is out. */
static struct entry *add(struct html *html, const char *name, const char *status)
{
    if (list_grow(&html->entries, html->count, &html->capacity, sizeof(*html->entries))) {
        html->failed = true;
        return NULL;
    }
    struct entry *entry = &html->entries[html->count];
    *entry = (struct entry){.status = status, .name = strdup(name)};
    html->failed |= !entry->name;
    html->count += entry->name != NULL;
    return entry->name ? entry : NULL;
}

/* Keeps the text of a failure. Takes ownership of the memory of `w`. */
static void keep(struct html *html, struct entry *entry, struct textw *w)
{
    if (w->failed) {
        html->failed = true;
        textw_finish(w);
        return;
    }
    entry->text = w->data;
    html->failure_bytes += w->length;
}

/* Creates the directory, unless it exists, and begins the page in it. */
static int begin_page(struct html *html, const char *directory, struct fault *fault)
{
    char shown[PRINT_PATH_MAX];

    if (mkdir(directory, 0777) && errno != EEXIST)
        return fault_set(fault, FAULT_INVALID_PARAMS, NULL, "%s: cannot be created: %s",
                         print_path(shown, directory), strerror(errno));
    if (asprintf(&html->path, "%s/index.html", directory) < 0) {
        html->path = NULL;
        return fault_no_memory(fault);
    }
    if (output_init(&html->output, html->path, NULL, fault) ||
        output_check_markup(&html->output, "a report", fault))
        return -1;
    return 0;
}

static void finish(void *state)
{
    struct html *html = state;

    for (size_t i = 0; i < html->count; i++) {
        free(html->entries[i].name);
        free(html->entries[i].text);
    }
    free(html->entries);
    output_finish(&html->output);
    textw_finish(&html->notes);
    free(html->path);
}

static int init(void *state, const struct report_style *style)
{
    static const struct output none = {.fd = -1, .directory = -1};
    struct html *html = state;
    struct fault fault;

    html->run = *style;
    html->output = none;
    if (begin_page(html, style->html, &fault))
        return print_refusal("--html %s", fault.text);
    return 0;
}

static void begin(void *state, const struct batch_outline *outline)
{
    struct html *html = state;

    html->outline = *outline;
    html->begin = time(NULL);
    if (!html->run.merged && !html->run.engine && !html->run.socket && !html->run.host)
        html->run.engine = mli_mov_engine_name();
}

static void note(void *state, const char *text)
{
    struct html *html = state;

    textw_printf(&html->notes, "<li>");
    html_text(&html->notes, text);
    textw_printf(&html->notes, "</li>\n");
}

static void add_failure(struct html *html, struct entry *entry, const struct case_result *result)
{
    const bool evidence = result->kept && html->with_evidence < EVIDENCE_CASES_MAX &&
                          html->evidence_bytes < EVIDENCE_BYTES_MAX;
    struct textw w;

    if (html->failure_bytes > FAILURES_BYTES_MAX) {
        html->without_text++;
        return;
    }
    textw_init(&w);
    entry->failure = ++html->failures;
    html_failure(&w, result, entry->failure, evidence);
    if (evidence) {
        html->with_evidence++;
        html->evidence_bytes += w.length;
    }
    keep(html, entry, &w);
}

static void result(void *state, const struct case_result *result)
{
    struct html *html = state;
    struct entry *entry = add(html, result->name, case_status_word(result->status));

    if (!entry)
        return;
    durations_add(&html->durations, result->ns);
    entry->ns = result->ns;
    entry->attempts = result->attempts;
    if (!case_status_is_good(result->status, false))
        add_failure(html, entry, result);
}

static void not_run(void *state, const char *name, const char *file)
{
    (void)file;
    (void)add(state, name, "not-run");
}

/* A missing shard is a failure without a case. */
static void gap(void *state, const char *name, const char *text)
{
    struct html *html = state;
    struct entry *entry = add(html, name, "not-run");
    struct textw w;

    if (!entry)
        return;
    textw_init(&w);
    entry->failure = ++html->failures;
    textw_printf(&w, "<details class=\"failure error\" id=\"f%zu\"><summary>", entry->failure);
    html_verdict(&w, "not-run");
    textw_printf(&w, " <span class=\"name\">");
    html_text(&w, name);
    textw_printf(&w, "</span></summary><div class=\"body\"><p class=\"message\">");
    html_text(&w, text);
    textw_printf(&w, "</p></div></details>\n");
    keep(html, entry, &w);
}

static int compare_entries(const void *a, const void *b)
{
    return strcmp(((const struct entry *)a)->name, ((const struct entry *)b)->name);
}

static void write_notes(struct html *html, struct textw *w)
{
    if (html->notes.length > 0)
        textw_printf(w, "<section aria-label=\"Notes\"><ul class=\"notes\">\n%s</ul></section>\n",
                     html->notes.data);
    if (html->notes.failed)
        w->failed = true;
}

static void write_limits(const struct html *html, struct textw *w)
{
    if (html->with_evidence < html->failures && html->evidence_bytes >= EVIDENCE_BYTES_MAX)
        textw_printf(w,
                     "<p class=\"missing\">Only %zu failures have pictures and elements; "
                     "mlictl explain and mlictl diff show those of the other kept cases.</p>\n",
                     html->with_evidence);
    if (html->without_text > 0)
        textw_printf(w, "<p class=\"missing\">%zu further failures are in the table only.</p>\n",
                     html->without_text);
}

static int write_text(struct html *html, struct textw *w, uint64_t *offset, struct fault *fault)
{
    int status = 0;

    if (w->failed || html->failed)
        status = fault_no_memory(fault);
    else if (w->length > 0)
        status = output_write(&html->output, w->data, w->length, *offset, fault);
    *offset += w->length;
    textw_reset(w);
    return status;
}

static int write_failures(struct html *html, struct textw *w, uint64_t *offset, struct fault *fault)
{
    textw_printf(w,
                 "<section id=\"failures\" aria-labelledby=\"failed\"><h2 id=\"failed\">Failures "
                 "and flaky cases</h2>\n");
    if (html->failures == 0)
        textw_printf(w, "<p>There are none.</p>\n");
    write_limits(html, w);
    for (size_t i = 0; i < html->count; i++) {
        if (!html->entries[i].text)
            continue;
        textw_printf(w, "%s", html->entries[i].text);
        if (write_text(html, w, offset, fault))
            return -1;
    }
    textw_printf(w, "</section>\n");
    return 0;
}

static int write_page(struct html *html, const struct batch_summary *summary, struct textw *w,
                      struct fault *fault)
{
    uint64_t offset = 0;

    qsort(html->entries, html->count, sizeof(*html->entries), compare_entries);
    write_begin(w, html, summary);
    write_notes(html, w);
    int status = write_failures(html, w, &offset, fault);
    durations_write(w, &html->durations);
    write_table(w, html);
    write_end(w, html);
    if (status == 0)
        status = write_text(html, w, &offset, fault);
    return status ? -1 : output_commit_synced(&html->output, false, fault);
}

static int end(void *state, const struct batch_summary *summary)
{
    struct html *html = state;
    struct textw w;
    struct fault fault;

    textw_init(&w);
    const int status = write_page(html, summary, &w, &fault);
    if (status)
        print_error("--html %s", fault.text);
    textw_finish(&w);
    return status;
}

const struct reporter reporter_html = {.size = sizeof(struct html),
                                       .init = init,
                                       .gap = gap,
                                       .begin = begin,
                                       .note = note,
                                       .result = result,
                                       .not_run = not_run,
                                       .end = end,
                                       .finish = finish};
