/* SPDX-License-Identifier: BSD-3-Clause */
/* mlictl top: a daemon at work, looked at again and again. */
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

#include "cli/command.h"
#include "cli/job/job_print.h"
#include "cli/link/daemon_link.h"
#include "cli/link/stats_call.h"
#include "cli/term/cancel.h"
#include "cli/term/terminal.h"
#include "cli/term/top_view.h"

static const struct option options_table[] = {
    {"interval", 'i', "MS", "milliseconds between two looks (1000)"},
    {"once", '1', NULL, "one look, with rates since the daemon's start"},
    CLIENT_OPTIONS,
    OPTIONS_COMMON,
};

enum { JOBS_SHOWN = 10, ROWS_UNKNOWN = 1000 };

struct top {
    struct client client;
    struct print_style style;
    bool once, terminal;
    int interval_ms;
    struct top_sample *now, *before; /* before: null at the first look */
};

static uint64_t now_ns(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec;
}

/* The latest jobs, as lines. */
static int view_jobs(struct top *top, struct textw *w, struct fault *fault)
{
    struct jsonw params;
    struct rpc_reply reply;
    jsonw_init(&params);
    jsonw_object_begin(&params, NULL);
    jsonw_uint(&params, "limit", JOBS_SHOWN);
    jsonw_object_end(&params);
    const struct client_request request = {
        .method = "job.list", .params = &params, .timeout_ms = CLIENT_ASK_MS};
    int status = client_call(&top->client, &request, &reply, fault);
    jsonw_finish(&params);
    if (status)
        return -1;
    struct json jobs = json_member(&reply.result, "jobs"), item = {0};
    size_t count;
    status = json_array(&jobs, &count);
    if (status == 0 && count > 0)
        textw_printf(w, "\n%s\n", JOB_PRINT_HEADING);
    while (status == 0 && json_next(&jobs, &item)) {
        struct job_info info;
        status = job_info_read(&item, &info);
        if (status)
            break;
        job_print_line(w, &info);
        textw_printf(w, "\n");
    }
    if (status)
        client_unreadable(&reply, fault);
    rpc_reply_finish(&reply);
    return status;
}

/* Lines over lines: each ends with what clears the rest of it, the last clears the screen below. */
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
    textw_init(&text);
    top_view(&text, top->client.where, top->now, top->before);
    int status = view_jobs(top, &text, fault);
    if (status == 0 && text.failed)
        status = fault_set(fault, FAULT_INTERNAL, NULL, "out of memory");
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
    if (stats_call(&top->client, &top->now->stats, fault))
        return -1;
    top->now->time_ns = now_ns();
    if (top->style.json)
        show_json(top);
    else if (show(top, fault))
        return -1;
    return print_flush() ? fault_set(fault, FAULT_IO_ERROR, NULL, "nobody reads along") : 0;
}

/* Until ^C, which is how it is left. */
static int watch(struct top *top, struct top_sample samples[2], struct fault *fault)
{
    for (int i = 0; !cancel_requested(); i++) {
        top->now = &samples[i % 2];
        top->before = i ? &samples[(i + 1) % 2] : NULL;
        if (look(top, fault))
            return cancel_requested() ? 0 : -1;
        if (top->once)
            return 0;
        struct pollfd cancelled = {.fd = cancel_fd(), .events = POLLIN};
        poll(&cancelled, 1, top->interval_ms);
    }
    return 0;
}

/* The other screen without a cursor, and back. */
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

static enum exit_code run(const struct options *options)
{
    struct top top = {.style = options_style(options),
                      .once = options_get(options, "once") != NULL};
    struct fault fault;
    uint64_t interval = 1000;
    if (options->argument_count > 0)
        return command_misused(&cmd_top);
    if (options_uint(options, "interval", 50, 3600000, &interval))
        return EXIT_CODE_INVALID;
    top.interval_ms = (int)interval;
    top.terminal = !top.once && !top.style.json && terminal_draws(STDOUT_FILENO);
    struct top_sample *samples = calloc(2, sizeof(*samples));
    if (!samples) {
        print_error("out of memory");
        return EXIT_CODE_FAILED;
    }
    int status = client_open(&top.client, options, &fault);
    if (status == 0) {
        enter(&top);
        status = watch(&top, samples, &fault);
        leave(&top);
    }
    client_finish(&top.client);
    free(samples);
    return status ? print_failure(&top.style, NULL, &fault) : EXIT_CODE_DONE;
}

static const struct example examples[] = {
    {"five looks a second", "mlictl top --interval 200"},
    {"what went on until now", "mlictl top --once"},
    {0},
};

const struct command cmd_top = {
    .name = "top",
    .arguments = "",
    .summary = "watch a daemon at work",
    .details =
        "Channels with their load and rate, queues, clients, and the latest jobs; ^C ends it.\n",
    .options = options_table,
    .examples = examples,
    .run = run,
};
