/* SPDX-License-Identifier: BSD-3-Clause */
/* A batch as lines for people: cases, and a summary. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/batch/sentence.h"
#include "cli/batch/sink.h"
#include "cli/term/colour.h"
#include "cli/term/print.h"

struct lines {
    bool all;   /* cases that passed, too */
    bool quiet; /* not even a summary where all is well */
    bool flaky_is_good;
    size_t resumed;
    struct textw text;
};

/* "FAILED ", its column filled to the width. */
static void put_word(struct textw *w, enum colour_role role, int width, const char *word)
{
    int length = (int)strlen(word);
    textw_printf(w, "%s%s%s%*s", colour_begin(stdout, role), word, colour_end(stdout),
                 width > length ? width - length + 1 : 1, "");
}

static void put_passed(struct lines *lines, const struct case_result *result)
{
    char time[PRINT_TEXT_MAX];
    put_word(&lines->text, COLOUR_GOOD, 0, "passed");
    escaped_write(&lines->text, result->name, escaped_plain);
    textw_printf(&lines->text, ", %s\n", print_time(time, result->ns));
    print_text(&lines->text);
}

static void put_other(struct lines *lines, const struct case_result *result)
{
    static const char *const words[] = {[CASE_PASSED] = "passed",
                                        [CASE_FLAKY] = "FLAKY",
                                        [CASE_FAILED] = "FAILED",
                                        [CASE_ERROR] = "ERROR",
                                        [CASE_UPDATED] = "UPDATED"};
    struct textw *w = &lines->text;
    put_word(w, result->status == CASE_FLAKY ? COLOUR_WARN : COLOUR_BAD, 6, words[result->status]);
    escaped_write(w, result->name, escaped_plain);
    textw_printf(w, ": ");
    if (result->status == CASE_FLAKY)
        textw_printf(w, "passed at attempt %" PRIu32 "; before that ", result->attempts);
    sentence_what(w, result, escaped_plain);
    textw_printf(w, "\n");
    if (result->again) {
        textw_printf(w, "       again: ");
        escaped_write(w, result->again, escaped_plain);
        textw_printf(w, "\n");
    }
    print_text(&lines->text);
}

static int create(const struct batch_taste *taste, void **state)
{
    struct lines *lines = malloc(sizeof(*lines));
    if (!lines) {
        print_error("out of memory");
        return -1;
    }
    *lines = (struct lines){.all = (taste->terminal || taste->verbose) && !taste->quiet,
                            .quiet = taste->quiet,
                            .flaky_is_good = taste->flaky_is_good};
    textw_init(&lines->text);
    *state = lines;
    return 0;
}

static void begin(void *state, const struct batch_outline *outline)
{
    struct lines *lines = state;
    lines->resumed = outline->resumed;
}

static void note(void *state, const char *text)
{
    struct lines *lines = state;
    if (lines->quiet)
        return;
    escaped_write(&lines->text, text, escaped_plain);
    textw_printf(&lines->text, "\n");
    print_text(&lines->text);
}

static void result(void *state, const struct case_result *result)
{
    struct lines *lines = state;
    if (result->status != CASE_PASSED)
        put_other(lines, result);
    else if (lines->all)
        put_passed(lines, result);
}

/* ": 2497 passed, 1 flaky, 2 failed" */
static void put_counts(struct textw *w, const struct batch_summary *summary)
{
    const char *before = ": ";
    for (int status = 0; status < CASE_STATUS_COUNT; status++) {
        if (summary->count[status] == 0)
            continue;
        textw_printf(w, "%s%zu %s", before, summary->count[status],
                     case_status_word((enum case_status)status));
        before = ", ";
    }
}

static int end(void *state, const struct batch_summary *summary)
{
    struct lines *lines = state;
    struct textw *w = &lines->text;
    size_t ended = batch_summary_ended(summary);
    char time[PRINT_TEXT_MAX];
    if (lines->quiet && batch_summary_exit(summary, lines->flaky_is_good) == EXIT_CODE_DONE)
        return 0;
    textw_printf(w, "%zu case%s", ended, print_s(ended));
    put_counts(w, summary);
    if (summary->not_run)
        textw_printf(w, "; %zu not run", summary->not_run);
    if (lines->resumed)
        textw_printf(w, "; %zu from before", lines->resumed);
    if (summary->ns) /* a shard that was killed cannot tell */
        textw_printf(w, "; %s", print_time(time, summary->ns));
    sentence_rate(w, ended - (lines->resumed < ended ? lines->resumed : ended), summary->ns);
    textw_printf(w, "\n");
    print_text(&lines->text);
    return 0;
}

static void destroy(void *state)
{
    struct lines *lines = state;
    textw_finish(&lines->text);
    free(lines);
}

const struct batch_sink sink_lines = {.create = create,
                                      .begin = begin,
                                      .note = note,
                                      .result = result,
                                      .end = end,
                                      .destroy = destroy};
