/* SPDX-License-Identifier: BSD-3-Clause */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "cli/report/report.h"
#include "cli/term/cancel.h"
#include "cli/term/print.h"
#include "cli/term/terminal.h"

/* reporter_lines: a line for each case and a summary. */
struct lines {
    bool all;   /* true: print also a line for each case that passed */
    bool quiet; /* true: print no summary if all cases are good */
    bool flaky_is_good;
    size_t resumed, remarks; /* remarks: number of results with a remark */
    struct textw text;
};

/* Writes a coloured word, such as "FAILED ", padded to the width. */
static void put_word(struct textw *w, enum colour_role role, int width, const char *word)
{
    int length = (int)strlen(word);

    textw_printf(w, "%s%s%s%*s", colour_begin(stdout, role), word, colour_end(stdout),
                 width > length ? width - length + 1 : 1, "");
}

static void put_passed(struct lines *lines, const struct case_result *result)
{
    char time[PRINT_TEXT_MAX];

    put_word(&lines->text, COLOUR_GOOD, 0, case_status_word(result->status));
    escaped_write(&lines->text, result->name, escaped_plain);
    textw_printf(&lines->text, ", %s", print_time(time, result->ns));
    if (result->predicted_ns > 0)
        textw_printf(&lines->text, "; %s on the board", print_time(time, result->predicted_ns));
    textw_printf(&lines->text, "%s\n", result->status == CASE_RAN ? ", compares nothing" : "");
    print_text(&lines->text);
}

static void put_other(struct lines *lines, const struct case_result *result)
{
    static const char *const words[] = {[CASE_FLAKY] = "FLAKY",
                                        [CASE_FAILED] = "FAILED",
                                        [CASE_ERROR] = "ERROR",
                                        [CASE_UPDATED] = "UPDATED"};
    struct textw *w = &lines->text;

    put_word(w, result->status == CASE_FLAKY ? COLOUR_WARN : COLOUR_BAD, 6, words[result->status]);
    escaped_write(w, result->name, escaped_plain);
    textw_printf(w, ": ");
    if (result->status == CASE_FLAKY)
        textw_printf(w, "passed at attempt %" PRIu32 "; before that ", result->attempts);
    case_result_sentence(w, result, escaped_plain);
    textw_printf(w, "\n");
    if (result->rerun_command) {
        textw_printf(w, "       rerun: ");
        escaped_write(w, result->rerun_command, escaped_plain);
        textw_printf(w, "\n");
    }
    print_text(&lines->text);
}

static int init(void *state, const struct report_style *style)
{
    struct lines *lines = state;

    lines->all = (style->terminal || style->verbose) && !style->quiet;
    lines->quiet = style->quiet;
    lines->flaky_is_good = style->flaky_is_good;
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

static void ended(void *state, const struct case_result *result)
{
    struct lines *lines = state;

    lines->remarks += result->remark != NULL;
    if (!case_status_is_good(result->status, false))
        put_other(lines, result);
    else if (lines->all)
        put_passed(lines, result);
}

/* Writes the counts, for example ": 2495 passed, 1 flaky, 2 failed, 2 ran, compare nothing". */
static void put_counts(struct textw *w, const struct batch_summary *summary)
{
    const size_t *ran = &summary->count[CASE_RAN];
    const char *before = ": ";

    for (int status = 0; status < CASE_STATUS_COUNT; status++) {
        if (summary->count[status] == 0 || status == CASE_RAN)
            continue;
        textw_printf(w, "%s%zu %s", before, summary->count[status],
                     case_status_word((enum case_status)status));
        before = ", ";
    }
    if (*ran > 0)
        textw_printf(w, "%s%zu ran, compare%s nothing", before, *ran, *ran == 1 ? "s" : "");
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

    if (lines->quiet && batch_summary_exit(summary, lines->flaky_is_good) == EXIT_CODE_DONE)
        return 0;
    textw_printf(w, "%zu case%s", ended, print_s(ended));
    put_counts(w, summary);
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
    textw_finish(&((struct lines *)state)->text);
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
    uint32_t repeat, repeats; /* with --repeat: number of the newest attempt; 0: no --repeat */
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
    if (progress->repeats)
        textw_printf(w, ", repeat %" PRIu32 " of %" PRIu32, progress->repeat, progress->repeats);
    /* Put problems first, because a narrow window cuts off the end of the line. */
    for (int status = CASE_FLAKY; status < CASE_STATUS_COUNT; status++) {
        if (progress->count[status])
            textw_printf(w, ", %zu %s", progress->count[status],
                         case_status_word((enum case_status)status));
    }
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

static void progress_repeat(void *state, uint32_t now, uint32_t all)
{
    struct progress *progress = state;

    progress->repeat = now;
    progress->repeats = all;
}

static void progress_tick(void *state, uint64_t ns)
{
    struct progress *progress = state;

    progress->ns = ns;
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
                                           .repeat = progress_repeat,
                                           .finish = progress_finish};
