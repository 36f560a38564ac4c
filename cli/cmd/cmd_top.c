/* SPDX-License-Identifier: BSD-3-Clause */
/* mlictl top: a view of a daemon at work, drawn again at an interval. */
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "cli/cmd/session.h"
#include "cli/command.h"
#include "cli/job/job_print.h"
#include "cli/term/cancel.h"
#include "cli/term/clock_ns.h"
#include "cli/term/terminal.h"
#include "cli/term/top_view.h"

static const struct option options_table[] = {
    {"interval", 'i', "MS", "Draw a view every MS milliseconds (default: 1000 ms)."},
    {"once", '1', NULL, "Print one view, with rates since the daemon's start."},
    DAEMON_LINK_OPTIONS,
    OPTIONS_COMMON,
};

enum { JOBS_SHOWN = 10, ROWS_UNKNOWN = 1000 };

struct top {
    struct session *session;
    bool once, terminal;
    int interval_ms;
    struct top_sample *now, *before; /* before: null for the first sample */
};

/* The table of the latest jobs. */
struct table {
    struct textw *w;
    bool has_lines;
};

static void add_job(void *context, const struct job_info *info)
{
    struct table *table = context;

    if (!table->has_lines)
        textw_printf(table->w, "\n%s\n", JOB_PRINT_HEADING);
    table->has_lines = true;
    job_print_line(table->w, info);
    textw_printf(table->w, "\n");
}

/* Overwrites the lines on the screen: "\033[K" clears the rest of a line, "\033[J" the rest of the
 * screen. */
static void draw(const struct textw *text)
{
    int rows = ROWS_UNKNOWN, columns = ROWS_UNKNOWN;

    terminal_size(STDOUT_FILENO, &rows, &columns);
    fputs("\033[H", stdout);
    int row = 1, column = 0;
    for (const char *at = text->data; *at && row < rows; at++) {
        if (*at == '\n') {
            fputs("\033[K\n", stdout);
            row++;
            column = 0;
        } else if (column++ < columns) {
            putchar(*at);
        }
    }
    fputs("\033[J", stdout);
}

static int show(struct top *top, struct fault *fault)
{
    struct textw text;
    struct table table = {.w = &text};
    struct job_list_query query = {.limit = JOBS_SHOWN};

    textw_init(&text);
    top_view(&text, top->session->link.where, top->now, top->before);
    int status = session_list(top->session, &query, add_job, &table, NULL, fault);
    if (status == 0 && text.failed)
        status = fault_no_memory(fault);
    if (status == 0 && top->terminal)
        draw(&text);
    else if (status == 0)
        fwrite(text.data, 1, text.length, stdout);
    textw_finish(&text);
    return status;
}

static void show_json(const struct top *top)
{
    struct jsonw w;

    jsonw_init(&w);
    top_json(&w, top->now, top->before);
    print_json(&w);
}

static int look(struct top *top, struct fault *fault)
{
    if (session_stats(top->session, &top->now->stats, fault))
        return -1;
    top->now->time_ns = clock_ns();
    if (top->session->style.json)
        show_json(top);
    else if (show(top, fault))
        return -1;
    return 0;
}

/* Draws views until ^C, which is the normal end, or once. */
static int watch(struct top *top, struct top_sample samples[2], struct fault *fault)
{
    for (int i = 0; !cancel_requested(); i++) {
        top->now = &samples[i % 2];
        top->before = i ? &samples[(i + 1) % 2] : NULL;
        if (look(top, fault))
            return cancel_requested() ? 0 : -1;
        if (print_flush() || top->once)
            return 0; /* print_flush() has reported the failed write */
        struct pollfd cancelled = {.fd = cancel_fd(), .events = POLLIN};
        poll(&cancelled, 1, top->interval_ms);
    }
    return 0;
}

/* The alternate screen without a cursor, and back. */
static void enter(const struct top *top)
{
    if (top->terminal)
        fputs("\033[?1049h\033[?25l\033[2J", stdout);
}

static void leave(const struct top *top)
{
    if (top->terminal)
        fputs("\033[?25h\033[?1049l", stdout);
    fflush(stdout);
}

static enum exit_code show_views(struct session *session, void *context)
{
    struct top *top = context;
    struct top_sample *samples = calloc(2, sizeof(*samples));
    struct fault fault;

    top->session = session;
    top->terminal = !top->once && !session->style.json && terminal_draws(STDOUT_FILENO);
    if (!samples) {
        print_error("out of memory");
        return EXIT_CODE_FAILED;
    }
    enter(top);
    int status = watch(top, samples, &fault);
    leave(top);
    free(samples);
    return status ? print_failure(&session->style, NULL, &fault) : EXIT_CODE_DONE;
}

static enum exit_code run(const struct options *options)
{
    struct top top = {.once = options_get(options, "once") != NULL};
    uint64_t interval_ms = 1000;

    if (options->argument_count > 0)
        return command_misused(&cmd_top);
    if (options_uint(options, "interval", 50, 3600000, &interval_ms))
        return EXIT_CODE_INVALID;
    top.interval_ms = (int)interval_ms;
    return session_run(options, show_views, &top);
}

static const struct example examples[] = {
    {"five views a second", "mlictl top --interval 200"},
    {"one view, with rates since the start", "mlictl top --once"},
    {0},
};

const struct command cmd_top = {
    .name = "top",
    .arguments = "",
    .summary = "watch a daemon at work",
    .details = "Load and rate of each channel, queues, clients, and the latest jobs. ^C ends it.\n",
    .options = options_table,
    .examples = examples,
    .run = run,
};
