/* SPDX-License-Identifier: BSD-3-Clause */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/report/report.h"
#include "cli/term/cancel.h"
#include "cli/term/print.h"
#include "cli/term/terminal.h"

/*
 * reporter_lines: a line for each case that did not pass, and a summary. On a terminal the failures
 * scroll away while further cases run, so they are printed again before the summary.
 */

/* Maximum number of failures that are printed again. */
enum { AGAIN_MAX = 20 };

struct failure {
    char *name, *text;
};

struct lines {
    struct report_style style;
    size_t resumed, remarks;         /* remarks: number of results with a remark */
    size_t failures;                 /* number of cases because of which the batch fails */
    bool last;                       /* true: no other line has followed the last failure */
    struct failure again[AGAIN_MAX]; /* the failures that come first by name, sorted */
    size_t again_count;
    struct textw text;
};

/* Writes a coloured word, such as "FAILED ", padded to the width. */
static void put_word(struct textw *w, enum colour_role role, int width, const char *word)
{
    int length = (int)strlen(word);

    textw_printf(w, "%s%s%s%*s", colour_begin(stdout, role), word, colour_end(stdout),
                 width > length ? width - length + 1 : 1, "");
}

/* Returns whether a path ends in the name of a case, as "cases/conv/tile.json" does in "conv/tile".
 */
static bool ends_in(const char *path, const char *name)
{
    static const char ending[] = ".json";
    const size_t last = strlen(ending), part = strlen(name);
    size_t length = strlen(path);

    if (length > last && strcmp(path + length - last, ending) == 0)
        length -= last;
    return length >= part && memcmp(path + length - part, name, part) == 0 &&
           (length == part || path[length - part - 1] == '/');
}

/* Writes "NAME in " before the path of a job file that does not show the name of the case. */
static void put_name(struct textw *w, const struct case_result *result)
{
    if (ends_in(result->file, result->name))
        return;
    escaped_write(w, result->name, escaped_plain);
    textw_printf(w, " in ");
}

static void put_passed(struct lines *lines, const struct case_result *result)
{
    char time[PRINT_TEXT_MAX];

    put_word(&lines->text, COLOUR_GOOD, 0, case_status_word(result->status));
    put_name(&lines->text, result);
    escaped_write(&lines->text, result->file, escaped_plain);
    textw_printf(&lines->text, ", %s", print_time(time, result->ns));
    if (result->predicted_ns > 0)
        textw_printf(&lines->text, "; %s on the board", print_time(time, result->predicted_ns));
    textw_printf(&lines->text, "%s\n", result->status == CASE_RAN ? ", compares nothing" : "");
    lines->last = false;
    print_text(&lines->text);
}

static void forget(struct failure *failure)
{
    free(failure->name);
    free(failure->text);
}

/* Keeps the text of a failure, if its name is one of the first AGAIN_MAX. */
static void keep(struct lines *lines, const char *name)
{
    struct failure *again = lines->again;
    size_t at = lines->again_count;

    while (at > 0 && strcmp(name, again[at - 1].name) < 0)
        at--;
    if (at == AGAIN_MAX || lines->text.failed)
        return;
    struct failure fresh = {strdup(name), strdup(lines->text.data)};
    if (!fresh.name || !fresh.text) {
        forget(&fresh);
        print_lost();
        return;
    }
    if (lines->again_count == AGAIN_MAX)
        forget(&again[--lines->again_count]);
    memmove(again + at + 1, again + at, (lines->again_count++ - at) * sizeof(*again));
    again[at] = fresh;
}

/* Writes where the failures are that are not printed again. */
static void put_rest(struct lines *lines)
{
    const struct report_style *style = &lines->style;
    const char *junit = style->junit && strcmp(style->junit, "-") != 0 ? style->junit : NULL;
    const char *path = style->html ? style->html : junit ? junit : style->resume;
    struct textw *w = &lines->text;

    textw_printf(w, "%zu more: ", lines->failures - lines->again_count);
    if (!path) {
        textw_printf(w, "see the lines above, or write a report with --html DIR or --junit FILE\n");
        return;
    }
    textw_printf(w, "%s", path == style->resume ? "run mlictl batch merge " : "see ");
    escaped_write(w, path, escaped_plain);
    textw_printf(w, "%s\n", path == style->html ? "/index.html" : "");
}

/* Writes the failures again; not a single failure that is the last line anyway. */
static void put_again(struct lines *lines)
{
    const size_t count = lines->again_count, all = lines->failures;

    if (count == 0 || (all == 1 && lines->last))
        return;
    if (count < all)
        textw_printf(&lines->text, "\nthe first %zu of %zu failures, sorted by name:\n", count,
                     all);
    else
        textw_printf(&lines->text, "\nfailures, sorted by name:\n");
    for (size_t i = 0; i < count; i++)
        textw_printf(&lines->text, "%s", lines->again[i].text);
    if (count < all)
        put_rest(lines);
}

static void put_other(struct lines *lines, const struct case_result *result)
{
    static const char *const words[] = {[CASE_FLAKY] = "FLAKY",
                                        [CASE_FAILED] = "FAILED",
                                        [CASE_ERROR] = "ERROR",
                                        [CASE_UPDATED] = "UPDATED"};
    struct textw *w = &lines->text;

    put_word(w, result->status == CASE_FLAKY ? COLOUR_WARN : COLOUR_BAD, 6, words[result->status]);
    put_name(w, result);
    case_result_sentence(w, result, escaped_plain);
    if (result->status == CASE_FLAKY)
        textw_printf(w, "; passed at attempt %" PRIu32, result->attempts);
    textw_printf(w, "\n");
    if (result->rerun_command) {
        textw_printf(w, "       rerun: ");
        escaped_write(w, result->rerun_command, escaped_plain);
        textw_printf(w, "\n");
    }
    lines->last = !case_status_is_good(result->status, lines->style.flaky_is_good);
    lines->failures += lines->last;
    if (lines->last && lines->style.again)
        keep(lines, result->name);
    print_text(&lines->text);
}

static int init(void *state, const struct report_style *style)
{
    ((struct lines *)state)->style = *style;
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

    if (lines->style.quiet)
        return;
    lines->last = false;
    escaped_write(&lines->text, text, escaped_plain);
    textw_printf(&lines->text, "\n");
    print_text(&lines->text);
}

static void ended(void *state, const struct case_result *result)
{
    struct lines *lines = state;

    lines->remarks += result->remark != NULL;
    if (!case_status_is_good(result->status, false))
        put_other(lines, result);
    else if (lines->style.verbose)
        put_passed(lines, result);
}

/* Writes the counts, for example ": 2495 passed, 1 flaky, 2 failed, 2 ran, compare nothing". */
static void put_counts(struct textw *w, const size_t count[])
{
    const size_t passed = count[CASE_PASSED], ran = count[CASE_RAN];
    const char *before = ": ";

    if (passed > 0)
        textw_printf(w, "%s%zu passed", before, passed);
    before = passed > 0 ? ", " : before;
    if (case_counts_write(w, count, CASE_FLAKY, before))
        before = ", ";
    if (ran > 0)
        textw_printf(w, "%s%zu ran, compare%s nothing", before, ran, ran == 1 ? "s" : "");
}

/* Writes the predicted time on the board and the time of the transfers on this host. */
static void put_prediction(struct textw *w, const struct batch_summary *summary)
{
    char predicted[PRINT_TEXT_MAX], measured[PRINT_TEXT_MAX];

    textw_printf(w,
                 "predicted for the board: %s for %zu case%s, one after the other; their transfers "
                 "took %s here\n",
                 print_time(predicted, summary->predicted_ns), summary->predicted,
                 print_s(summary->predicted), print_time(measured, summary->transfers_ns));
}

/* Writes the rate, for example ", 580 cases/s"; nothing if it is 0. */
static void write_rate(struct textw *w, size_t cases, uint64_t ns)
{
    double rate = ns ? (double)cases * 1e9 / (double)ns : 0;

    if (rate > 0)
        textw_printf(w, ", %.*f cases/s", rate < 9.95 ? 2 : 0, rate);
}

static int end(void *state, const struct batch_summary *summary)
{
    struct lines *lines = state;
    struct textw *w = &lines->text;
    size_t ended = batch_summary_ended(summary), resumed = lines->resumed + summary->resumed;
    char time[PRINT_TEXT_MAX];

    if (lines->style.quiet &&
        batch_summary_exit(summary, lines->style.flaky_is_good) == EXIT_CODE_DONE)
        return 0;
    put_again(lines);
    textw_printf(w, "%zu case%s", ended, print_s(ended));
    put_counts(w, summary->count);
    if (summary->not_run)
        textw_printf(w, "; %zu not run", summary->not_run);
    if (resumed)
        textw_printf(w, "; %zu reused", resumed);
    if (summary->ns) /* 0 if a shard was killed, because its state file has no duration */
        textw_printf(w, "; %s", print_time(time, summary->ns));
    write_rate(w, ended - (resumed < ended ? resumed : ended), summary->ns);
    textw_printf(w, "\n");
    if (summary->predicted > 0)
        put_prediction(w, summary);
    if (lines->remarks > 0)
        textw_printf(w,
                     "remark: %zu case%s not compare the quantisation parameters of a result; "
                     "\"params\" in \"expect\" does\n",
                     lines->remarks, lines->remarks == 1 ? " does" : "s do");
    print_text(&lines->text);
    return 0;
}

static void finish(void *state)
{
    struct lines *lines = state;

    for (size_t i = 0; i < lines->again_count; i++)
        forget(&lines->again[i]);
    textw_finish(&lines->text);
}

const struct reporter reporter_lines = {.size = sizeof(struct lines),
                                        .init = init,
                                        .begin = begin,
                                        .note = note,
                                        .ended = ended,
                                        .end = end,
                                        .finish = finish};

/* reporter_progress: a live line with progress, rate, remaining time and problems. */

#define SECOND_NS (UINT64_C(1000) * 1000 * 1000)

/* The rate is measured over the last 16 s, with one sample per second. */
enum { SAMPLES = 16 };

struct sample {
    uint64_t ns;
    size_t ran;
};

struct progress {
    struct batch_outline outline;
    size_t count[CASE_STATUS_COUNT];
    size_t ended;
    uint32_t repeat, repeats; /* number of the newest attempt, and of the attempts at a case */
    uint64_t ns;
    struct sample samples[SAMPLES]; /* a ring */
    size_t sampled;
    bool due; /* true: the first tick has passed; shorter runs show no live line */
};

/* Returns the number of cases that ran; reused results cost no time. */
static size_t ran(const struct progress *progress)
{
    size_t resumed = progress->outline.resumed;

    return progress->ended > resumed ? progress->ended - resumed : 0;
}

/* Returns the oldest sample, or the beginning of the run while the ring is not full. */
static struct sample oldest(const struct progress *progress)
{
    if (progress->sampled < SAMPLES)
        return (struct sample){0};
    return progress->samples[progress->sampled % SAMPLES];
}

static void sample(struct progress *progress)
{
    size_t last = (progress->sampled + SAMPLES - 1) % SAMPLES;

    if (progress->ns - (progress->sampled ? progress->samples[last].ns : 0) < SECOND_NS)
        return;
    progress->samples[progress->sampled++ % SAMPLES] =
        (struct sample){.ns = progress->ns, .ran = ran(progress)};
}

/* Returns the number of cases and the time since the oldest sample, from which rate and remaining
 * time follow. */
static struct sample done_since(const struct progress *progress)
{
    struct sample since = oldest(progress);

    /* No case ended in that time: compute the rate over the whole run. */
    if (ran(progress) == since.ran)
        since = (struct sample){0};
    return (struct sample){.ns = progress->ns - since.ns, .ran = ran(progress) - since.ran};
}

static void put_left(struct textw *w, double seconds)
{
    const double most = 100 * 3600.0;

    if (seconds >= most) {
        textw_printf(w, ", more than 99 h left");
        return;
    }
    uint32_t s = (uint32_t)(seconds + 0.5);
    if (s >= 3600)
        textw_printf(w, ", %" PRIu32 ":%02" PRIu32 ":%02" PRIu32 " left", s / 3600, s / 60 % 60,
                     s % 60);
    else
        textw_printf(w, ", %" PRIu32 ":%02" PRIu32 " left", s / 60, s % 60);
}

static void put_line(struct textw *w, const struct progress *progress)
{
    size_t all = progress->outline.selected;
    struct sample done = done_since(progress);

    if (progress->outline.open)
        textw_printf(w, "%zu case%s", progress->ended, print_s(progress->ended));
    else
        textw_printf(w, "%zu/%zu %3u %%", progress->ended, all,
                     all ? (unsigned)((uint64_t)progress->ended * 100 / all) : 100);
    if (progress->repeats > 1 && progress->repeat > 0)
        textw_printf(w, ", repeat %" PRIu32 " of %" PRIu32, progress->repeat, progress->repeats);
    /* Put problems first, because a narrow window cuts off the end of the line. */
    case_counts_write(w, progress->count, CASE_FLAKY, ", ");
    /* No rate in the first second: starting and reading files for the first time distort it. */
    if (done.ran == 0 || progress->ns < SECOND_NS)
        return;
    write_rate(w, done.ran, done.ns);
    if (progress->ended < all)
        put_left(w, (double)(all - progress->ended) * (double)done.ns / (double)done.ran / 1e9);
}

static void show(const struct progress *progress)
{
    struct textw w;

    /* After ^C, leave the terminal clean however the process ends. */
    if (cancel_requested()) {
        terminal_line_hide();
        return;
    }
    textw_init(&w);
    put_line(&w, progress);
    if (!w.failed)
        terminal_line_show(w.data);
    textw_finish(&w);
}

static int progress_init(void *state, const struct report_style *style)
{
    (void)state;
    terminal_line_begin(style->live_fd);
    return 0;
}

static void progress_begin(void *state, const struct batch_outline *outline)
{
    struct progress *progress = state;

    progress->outline = *outline;
}

static void progress_ended(void *state, const struct case_result *result)
{
    struct progress *progress = state;

    progress->count[result->status]++;
    progress->ended++;
    /* If a line has replaced the live line, draw the live line again now; otherwise the next tick
     * does this. */
    if (progress->due && !terminal_line_is_shown())
        show(progress);
}

static void progress_tick(void *state, uint64_t ns, uint32_t now, uint32_t all)
{
    struct progress *progress = state;

    progress->ns = ns;
    progress->repeat = now;
    progress->repeats = all;
    progress->due = true;
    sample(progress);
    show(progress);
}

static void progress_finish(void *state)
{
    (void)state;
    terminal_line_end();
}

const struct reporter reporter_progress = {.size = sizeof(struct progress),
                                           .init = progress_init,
                                           .begin = progress_begin,
                                           .ended = progress_ended,
                                           .tick = progress_tick,
                                           .finish = progress_finish};
