/* SPDX-License-Identifier: BSD-3-Clause */
#include "cli/report_html/html_page.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/utsname.h>
#include <unistd.h>

#include "cli/report/shard.h"
#include "cli/report_html/html_failure.h"
#include "cli/report_html/html_text.h"
#include "cli/term/print.h"
#include "mli_helpers_api.h"
#include "proto/wire/build_id.h"

enum { OPEN_ROWS_MAX = 200, TIME_MAX = PRINT_TEXT_MAX };

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

static void write_total(struct textw *w, const char *status, size_t count)
{
    textw_printf(w, "<li class=\"%s%s\"><strong>%zu</strong> ", status, count ? "" : " none",
                 count);
    html_verdict(w, status);
    textw_printf(w, "</li>\n");
}

static const char *time_text(char out[TIME_MAX], time_t at)
{
    struct tm utc;

    out[0] = '\0';
    if (gmtime_r(&at, &utc))
        strftime(out, TIME_MAX, "%Y-%m-%d %H:%M:%S UTC", &utc);
    return out;
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

/* Writes the line below the heading: "12 cases in 1.2 s, 2026-11-23 09:00:00 UTC, host". */
static void write_facts(struct textw *w, const struct html_run *run,
                        const struct batch_outline *outline, const struct batch_summary *summary)
{
    const size_t ended = batch_summary_ended(summary);
    char duration[PRINT_TEXT_MAX], when[TIME_MAX], shard[SHARD_TEXT_MAX];

    textw_printf(w, "<p class=\"run\">%zu case%s in %s, %s", ended, print_s(ended),
                 print_time(duration, summary->ns), time_text(when, run->begin));
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

/* Returns the number of cases that are not good. */
static size_t count_bad(const struct batch_summary *summary, bool flaky_is_good)
{
    size_t bad = 0;

    for (int status = 0; status < CASE_STATUS_COUNT; status++)
        if (!case_status_is_good((enum case_status)status, flaky_is_good))
            bad += summary->count[status];
    return bad;
}

/* Writes the heading. Flaky cases count only if nothing else explains the exit code. */
static void write_heading(struct textw *w, const struct batch_summary *summary)
{
    const size_t ended = batch_summary_ended(summary), failed = count_bad(summary, true),
                 bad = failed ? failed : count_bad(summary, false);
    const bool good = summary->exit == EXIT_CODE_DONE;

    textw_printf(w, "<header class=\"%s\">\n<h1>mlictl batch: ", good ? "good" : "bad");
    if (good)
        textw_printf(w, "all cases are good");
    else if (summary->exit == EXIT_CODE_STOPPED)
        textw_printf(w, "interrupted");
    else if (bad)
        textw_printf(w, "%zu of %zu cases %s", bad, ended, failed ? "failed" : "are flaky");
    else
        textw_printf(w, "%zu case%s did not run", summary->not_run, print_s(summary->not_run));
    textw_printf(w, "</h1>\n");
}

void html_page_begin(struct textw *w, const struct html_run *run,
                     const struct batch_outline *outline, const struct batch_summary *summary)
{
    write_head(w);
    write_heading(w, summary);
    write_facts(w, run, outline, summary);
    write_totals(w, summary);
    textw_printf(w, "</header>\n<nav class=\"controls\" id=\"controls\" hidden></nav>\n<main>\n");
}

static void write_row(struct textw *w, const struct html_row *row)
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

void html_page_table(struct textw *w, const struct html_row *rows, size_t count)
{
    textw_printf(w,
                 "<section aria-labelledby=\"all\"><h2 id=\"all\">All cases</h2>\n"
                 "<details class=\"all\"%s><summary>Show or hide %zu</summary>\n<div "
                 "class=\"wide\"><table class=\"cases\">"
                 "<caption>Cases by name</caption><thead><tr><th scope=\"col\">case</th>"
                 "<th scope=\"col\">verdict</th><th scope=\"col\">duration</th>"
                 "<th scope=\"col\">attempts</th></tr></thead><tbody>\n",
                 count <= OPEN_ROWS_MAX ? " open" : "", count);
    for (size_t i = 0; i < count; i++)
        write_row(w, &rows[i]);
    textw_printf(w, "</tbody></table></div></details></section>\n");
}

static void write_fact(struct textw *w, const char *name, const char *value)
{
    if (!value || !*value)
        return;
    textw_printf(w, "<li><span class=\"key\">%s</span> ", name);
    html_short(w, value, 1000);
    textw_printf(w, "</li>\n");
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
    write_fact(w, "host", machine.nodename);
    write_fact(w, "system", text);
    write_fact(w, "processors", processors);
}

static void write_environment(struct textw *w, const struct html_run *run)
{
    char when[TIME_MAX], version[80];
    char *here = realpath(".", NULL);

    snprintf(version, sizeof(version), "%s, build %s", mli_version(), build_id());
    textw_printf(
        w, "<section aria-labelledby=\"environment\"><h2 id=\"environment\">Environment</h2>\n"
           "<ul class=\"facts\">\n");
    write_fact(w, "mlictl", version);
    write_fact(w, run->merged ? "merged" : "began", time_text(when, run->begin));
    write_fact(w, "engine, with its options", run->engine);
    write_fact(w, "profile", run->profile);
    write_fact(w, "socket", run->socket);
    write_fact(w, "service", run->host);
    write_machine(w);
    write_fact(w, "directory", here);
    write_fact(w, "MLI_CPU_MASK", getenv("MLI_CPU_MASK"));
    write_fact(w, "MLI_STREAM_MIN", getenv("MLI_STREAM_MIN"));
    textw_printf(w, "</ul></section>\n");
    free(here);
}

void html_page_end(struct textw *w, const struct html_run *run)
{
    write_environment(w, run);
    textw_printf(
        w, "</main>\n<footer><p>Written by <code>mlictl batch --html</code>. Times are of the last "
           "attempt.</p></footer>\n<script>");
    textw_printf(w, "%s</script>\n</body>\n</html>\n", html_page_script);
}
