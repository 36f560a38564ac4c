/* SPDX-License-Identifier: BSD-3-Clause */
/* The frame of the page: head, totals, environment, and the table of all cases. */
#ifndef CLI_REPORT_HTML_PAGE_H
#define CLI_REPORT_HTML_PAGE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <time.h>

#include "cli/report/result.h"
#include "proto/json/textw.h"

/* Text and hash of the style and the script, from page/ by scripts/embed_page.py. */
extern const char html_page_style[], html_page_style_hash[];
extern const char html_page_script[], html_page_script_hash[];

/* Facts about the run for the environment. Strings may be NULL. */
struct html_run {
    const char *engine, *profile, *socket, *host;
    bool merged; /* the results come from state files */
    time_t begin;
};

/* A case as a row of the table. */
struct html_row {
    const char *name;
    const char *status; /* a word of html_verdict() */
    uint64_t ns;
    uint32_t attempts;
    size_t failure; /* number of the failure in the page, from 1; 0: the page has no failure of the
                       case */
};

/** Writes everything before the failures. */
void html_page_begin(struct textw *w, const struct html_run *run,
                     const struct batch_outline *outline, const struct batch_summary *summary);
/** Writes the table of all cases, which is closed at first if it is long. */
void html_page_table(struct textw *w, const struct html_row *rows, size_t count);
/** Writes the environment and the end of the page. */
void html_page_end(struct textw *w, const struct html_run *run);

#endif /* CLI_REPORT_HTML_PAGE_H */
