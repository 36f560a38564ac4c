/* SPDX-License-Identifier: BSD-3-Clause */
/* mlictl top: a view of a daemon at work, drawn again at an interval. */
#include <inttypes.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "cli/cmd/command.h"
#include "cli/cmd/session.h"
#include "cli/term/cancel.h"
#include "cli/term/clock_ns.h"
#include "cli/term/print.h"
#include "cli/term/terminal.h"
#include "proto/json/jsonw.h"
#include "proto/wire/job.h"
#include "proto/wire/methods.h"

/* Statistics of a daemon at one time. Rates are computed from two samples. */
struct top_sample {
    struct daemon_stats stats;
    uint64_t time_ns;
};

enum { BAR = 20, CLIENTS_SHOWN = 8 };

struct rates {
    uint64_t ns, bytes_per_second, jobs_per_second;
    uint64_t channel_bytes[MLI_MOV_MAX_CHANNELS];
    uint32_t channel_percent[MLI_MOV_MAX_CHANNELS];
};

static uint64_t per_second(uint64_t amount, uint64_t ns)
{
    return ns ? (uint64_t)((double)amount * 1e9 / (double)ns) : 0;
}

/* Returns the growth of a counter. A restarted daemon counts from zero again. */
static uint64_t grown(uint64_t now, uint64_t before)
{
    return now > before ? now - before : 0;
}

static void find_rates(struct rates *rates, const struct top_sample *now,
                       const struct top_sample *before)
{
    static const struct daemon_stats none;
    const struct daemon_stats *old = before ? &before->stats : &none;
    const struct daemon_stats *stats = &now->stats;
    *rates = (struct rates){0};
    rates->ns = before ? now->time_ns - before->time_ns : stats->uptime_ms * 1000000;
    rates->bytes_per_second = per_second(grown(stats->bytes_moved, old->bytes_moved), rates->ns);
    rates->jobs_per_second = per_second(grown(stats->jobs.done, old->jobs.done), rates->ns);
    for (uint32_t i = 0; i < stats->channel_count; i++) {
        const struct channel_stats *channel = &stats->channels[i];
        uint64_t busy = grown(channel->busy_ns, old->channels[i].busy_ns);
        rates->channel_bytes[i] =
            per_second(grown(channel->bytes, old->channels[i].bytes), rates->ns);
        double share = rates->ns ? (double)busy * 100 / (double)rates->ns : 0;
        rates->channel_percent[i] = share > 100 ? 100 : (uint32_t)(share + 0.5);
    }
}

static void view_channel(struct textw *w, const struct channel_stats *channel, uint64_t bytes,
                         uint32_t percent)
{
    static const char full[] = "####################", blank[] = "                    ";
    static const char *const states[] = {
        [CHANNEL_IDLE] = "idle", [CHANNEL_BUSY] = "busy", [CHANNEL_QUARANTINED] = "quarantined"};
    char rate[PRINT_TEXT_MAX], job[PRINT_TEXT_MAX] = "";
    int filled = (int)(percent * BAR / 100);
    if (channel->job)
        snprintf(job, sizeof(job), "  job %" PRIu64, channel->job);
    textw_printf(w, "channel %-2" PRIu32 "  %-11s  [%.*s%.*s] %3" PRIu32 " %%  %11s/s%s\n",
                 channel->channel, states[channel->state], filled, full, BAR - filled, blank,
                 percent, print_bytes(rate, bytes), job);
}

static void view_clients(struct textw *w, const struct daemon_stats *stats)
{
    char moved[PRINT_TEXT_MAX], buffers[PRINT_TEXT_MAX];
    if (stats->connection_count > 0)
        textw_printf(w,
                     "\n  CLIENT      PID      UID     JOBS      DONE        MOVED      BUFFERS\n");
    for (uint32_t i = 0; i < stats->connection_count && i < CLIENTS_SHOWN; i++) {
        const struct connection_stats *c = &stats->connections[i];
        textw_printf(
            w, "%8" PRIu64 " %8" PRIu32 " %8" PRIu32 " %8" PRIu32 " %9" PRIu64 "  %11s  %11s\n",
            c->client, c->pid, c->uid, c->jobs, c->jobs_done, print_bytes(moved, c->bytes_moved),
            print_bytes(buffers, c->buffer_bytes));
    }
    if (stats->connection_count > CLIENTS_SHOWN)
        textw_printf(w, "     ... %" PRIu32 " more\n", stats->connection_count - CLIENTS_SHOWN);
}

/*
 * Writes the page: jobs, queues, a line per channel and per client. Null `before`: rates since the
 * daemon's start.
 */
static void top_view(struct textw *w, const char *where, const struct top_sample *now,
                     const struct top_sample *before)
{
    struct rates rates;
    const struct daemon_stats *stats = &now->stats;
    char one[PRINT_TEXT_MAX], two[PRINT_TEXT_MAX];
    find_rates(&rates, now, before);
    textw_printf(w, "mlid at %s, %s, up %s%s\n", where, service_phase_name(stats->phase),
                 print_since(one, stats->uptime_ms), before ? "" : "; rates since then");
    textw_printf(w,
                 "jobs: %" PRIu64 "/s, %s/s; %" PRIu64 " done, %" PRIu64 " failed, %" PRIu64
                 " cancelled, %" PRIu64 " refused\n",
                 rates.jobs_per_second, print_bytes(two, rates.bytes_per_second), stats->jobs.done,
                 stats->jobs.failed, stats->jobs.cancelled, stats->jobs.refused);
    textw_printf(w,
                 "queues: %" PRIu32 " high, %" PRIu32 " normal, %" PRIu32 " low, %" PRIu32
                 " waiting; %" PRIu32 " running\n\n",
                 stats->jobs.queued[2], stats->jobs.queued[1], stats->jobs.queued[0],
                 stats->jobs.waiting, stats->jobs.running);
    for (uint32_t i = 0; i < stats->channel_count; i++)
        view_channel(w, &stats->channels[i], rates.channel_bytes[i], rates.channel_percent[i]);
    view_clients(w, stats);
}

/* Writes the rates and the statistics as one object. */
static void top_json(struct jsonw *w, const struct top_sample *now, const struct top_sample *before)
{
    struct rates rates;
    find_rates(&rates, now, before);
    jsonw_object_begin(w, NULL);
    jsonw_object_begin(w, "rates");
    jsonw_uint(w, "interval_ns", rates.ns);
    jsonw_uint(w, "jobs_per_second", rates.jobs_per_second);
    jsonw_uint(w, "bytes_per_second", rates.bytes_per_second);
    jsonw_array_begin(w, "channels");
    for (uint32_t i = 0; i < now->stats.channel_count; i++) {
        jsonw_object_begin(w, NULL);
        jsonw_uint(w, "channel", now->stats.channels[i].channel);
        jsonw_uint(w, "bytes_per_second", rates.channel_bytes[i]);
        jsonw_uint(w, "busy_percent", rates.channel_percent[i]);
        jsonw_object_end(w);
    }
    jsonw_array_end(w);
    jsonw_object_end(w);
    jsonw_object_begin(w, "stats");
    daemon_stats_write_members(w, &now->stats);
    jsonw_object_end(w);
    jsonw_object_end(w);
}

static const struct option options_table[] = {
    {"interval", "TIME", "Set the time between two views, as 200ms (default: 1s)."},
    {"once", NULL, "Print one view, with rates since the daemon's start."},
    DAEMON_LINK_OPTIONS,
    OPTIONS_COMMON,
};

enum { JOBS_SHOWN = 10, ROWS_UNKNOWN = 1000 };

struct top {
    struct session *session;
    bool once, terminal;
    int interval_ms;
    struct top_sample *now,
        *before; /* the current and the previous sample; `before` is null for the first sample */
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

static int look(struct top *top, struct fault *fault)
{
    struct jsonw w;

    if (session_stats(top->session, &top->now->stats, fault))
        return -1;
    top->now->time_ns = clock_ns();
    if (!top->session->style.json)
        return show(top, fault);
    jsonw_init(&w);
    top_json(&w, top->now, top->before);
    print_json(&w);
    return 0;
}

/* Draws the view until ^C, which is the normal end; with top->once, draws it once. */
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

/* Switches to the alternate screen and hides the cursor; leave() undoes both. */
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
    if (!samples)
        return print_no_memory();
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

    if (options_number(options, "interval", UNIT_MS, 50, 3600000, &interval_ms))
        return EXIT_CODE_INVALID;
    top.interval_ms = (int)interval_ms;
    return session_run(options, show_views, &top);
}

const struct command cmd_top = {
    .name = "top",
    .arguments = "",
    .summary = "watch a daemon at work",
    .details = "Shows load and rate of each channel, queues, clients, and latest jobs until ^C.\n",
    .options = options_table,
    .examples = {{"five views a second", "mlictl top --interval 200ms"},
                 {"one view, with rates since the start", "mlictl top --once"}},
    .run = run,
};
