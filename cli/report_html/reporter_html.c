/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * reporter_html: a page for people. Rows and failures stay in memory until the end of the run,
 * because the totals come first and the cases are sorted by name.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "cli/file/output.h"
#include "cli/report/report.h"
#include "cli/report_html/html_durations.h"
#include "cli/report_html/html_failure.h"
#include "cli/report_html/html_page.h"
#include "cli/report_html/html_text.h"
#include "cli/term/print.h"
#include "mli_mov_api.h"

enum {
    EVIDENCE_BYTES_MAX = 3 << 20, /* evidence of all failures */
    EVIDENCE_CASES_MAX = 200,     /* failures with evidence */
    FAILURES_BYTES_MAX = 4 << 20, /* all failures; further ones have a row only */
    NAME_MAX_SHOWN = 240
};

/* A row of the table, and the text of its failure. */
struct entry {
    struct html_row row;
    char *name;    /* owned; row.name */
    char *failure; /* owned; or null */
};

struct html {
    struct html_run run;
    bool flaky_is_good;
    char *path; /* DIR/index.html */
    struct output output;
    struct batch_outline outline;
    struct durations durations;
    struct entry *entries;
    size_t count, capacity;
    size_t failures, with_evidence, without_text; /* without_text: failures with a row only */
    size_t failure_bytes, evidence_bytes;
    struct textw notes;
    bool failed; /* out of memory */
};

static void destroy(void *state)
{
    struct html *html = state;

    for (size_t i = 0; i < html->count; i++) {
        free(html->entries[i].name);
        free(html->entries[i].failure);
    }
    free(html->entries);
    output_finish(&html->output);
    textw_finish(&html->notes);
    free(html->path);
    free(html);
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

static int create(const struct report_style *style, void **state)
{
    static const struct output none = {.fd = -1, .directory = -1};
    struct html *html = calloc(1, sizeof(*html));
    struct fault fault;

    if (!html) {
        print_error("out of memory");
        return -1;
    }
    html->run = (struct html_run){.engine = style->engine,
                                  .profile = style->profile,
                                  .socket = style->socket,
                                  .host = style->host,
                                  .merged = style->merged};
    html->flaky_is_good = style->flaky_is_good;
    html->output = none;
    textw_init(&html->notes);
    if (begin_page(html, style->html, &fault)) {
        print_error("--html %s", fault.text);
        destroy(html);
        return -1;
    }
    *state = html;
    return 0;
}

static void begin(void *state, const struct batch_outline *outline)
{
    struct html *html = state;

    html->outline = *outline;
    html->run.begin = time(NULL);
    if (!html->run.merged && !html->run.engine && !html->run.socket && !html->run.host)
        html->run.engine = mli_mov_engine_name();
}

/* Adds an empty entry. Returns null if memory is out. */
static struct entry *add(struct html *html, const char *name, const char *status)
{
    if (html->count == html->capacity) {
        const size_t capacity = html->capacity ? 2 * html->capacity : 64;
        struct entry *entries = realloc(html->entries, capacity * sizeof(*entries));

        if (!entries) {
            html->failed = true;
            return NULL;
        }
        html->entries = entries;
        html->capacity = capacity;
    }
    struct entry *entry = &html->entries[html->count];
    *entry = (struct entry){.row.status = status, .name = strdup(name)};
    html->failed |= !entry->name;
    html->count += entry->name != NULL;
    return entry->name ? entry : NULL;
}

/* Keeps the text of a failure. Takes the memory of `w`. */
static void keep(struct html *html, struct entry *entry, struct textw *w)
{
    if (w->failed) {
        html->failed = true;
        textw_finish(w);
        return;
    }
    entry->failure = w->data;
    html->failure_bytes += w->length;
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
    entry->row.failure = ++html->failures;
    html_failure(&w, result, entry->row.failure, evidence);
    if (evidence) {
        html->with_evidence++;
        html->evidence_bytes += w.length;
    }
    keep(html, entry, &w);
}

static void result(void *state, const struct case_result *result)
{
    struct html *html = state;
    struct entry *entry = add(html, result->name, html_status(result));

    if (!entry)
        return;
    durations_add(&html->durations, result->ns);
    entry->row.ns = result->ns;
    entry->row.attempts = result->attempts;
    if (result->status != CASE_PASSED)
        add_failure(html, entry, result);
}

static void not_run(void *state, const char *name, const char *file)
{
    (void)file;
    (void)add(state, name, "not-run");
}

static void note(void *state, const char *text)
{
    struct html *html = state;

    textw_printf(&html->notes, "<li>");
    html_text(&html->notes, text);
    textw_printf(&html->notes, "</li>\n");
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
    entry->row.failure = ++html->failures;
    textw_printf(&w, "<details class=\"failure error\" id=\"f%zu\"><summary>", entry->row.failure);
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
                     "<p class=\"missing\">Pictures and elements are of %zu failures only; "
                     "mlictl explain and mlictl diff show those of the other kept cases.</p>\n",
                     html->with_evidence);
    if (html->without_text > 0)
        textw_printf(w, "<p class=\"missing\">%zu further failures are in the table only.</p>\n",
                     html->without_text);
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
        if (!html->entries[i].failure)
            continue;
        textw_printf(w, "%s", html->entries[i].failure);
        if (write_text(html, w, offset, fault))
            return -1;
    }
    textw_printf(w, "</section>\n");
    return 0;
}

/* Returns the rows of all entries; null if memory is out. */
static struct html_row *make_rows(const struct html *html)
{
    struct html_row *rows = calloc(html->count + 1, sizeof(*rows));

    for (size_t i = 0; rows && i < html->count; i++) {
        rows[i] = html->entries[i].row;
        rows[i].name = html->entries[i].name;
    }
    return rows;
}

static int write_page(struct html *html, const struct batch_summary *summary, struct textw *w,
                      struct fault *fault)
{
    uint64_t offset = 0;

    qsort(html->entries, html->count, sizeof(*html->entries), compare_entries);
    struct html_row *rows = make_rows(html);
    if (!rows)
        return fault_no_memory(fault);
    html_page_begin(w, &html->run, &html->outline, summary);
    write_notes(html, w);
    int status = write_failures(html, w, &offset, fault);
    durations_write(w, &html->durations);
    html_page_table(w, rows, html->count);
    html_page_end(w, &html->run);
    free(rows);
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

const struct reporter reporter_html = {.create = create,
                                       .gap = gap,
                                       .begin = begin,
                                       .note = note,
                                       .result = result,
                                       .not_run = not_run,
                                       .end = end,
                                       .destroy = destroy};
