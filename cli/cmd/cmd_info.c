/* SPDX-License-Identifier: BSD-3-Clause */
/* mlictl info: version, state and load of a daemon. */
#include <inttypes.h>

#include "boards/link/board_link.h"
#include "cli/cmd/command.h"
#include "cli/cmd/session.h"
#include "cli/term/clock_ns.h"

static const struct option options_table[] = {
    ANY_LINK_OPTIONS,
    OPTIONS_COMMON,
};

static int read_info(const struct json *result, void *info)
{
    return daemon_info_read(result, info);
}

static void print_board(const struct session *session)
{
    const struct print_style *style = &session->style;
    const struct board *board = &session->link.board->board;
    const struct serial_hello *hello = &board->hello;
    char memory[PRINT_TEXT_MAX], tiny[PRINT_TEXT_MAX], uptime[PRINT_TEXT_MAX];

    print_line(style, "board %s at %s, libmli %s, up %s", hello->board, board->line.where,
               hello->library, print_since(uptime, hello->uptime_ns / CLOCK_NS_PER_MS));
    print_line(style, "engine    %s, %s; up to %s the processor moves the data", hello->engine,
               hello->flags & SERIAL_HELLO_POLLED ? "polled" : "with interrupts or threads",
               print_bytes(tiny, hello->tiny));
    print_line(style, "channels  %u", hello->channels);
    print_line(style, "memory    %s for tensors from 0x%" PRIx64 ", at most %u buffers",
               print_bytes(memory, hello->memory_bytes), hello->memory_base, hello->buffers_max);
    print_line(style,
               "line      %" PRIu64 " request%s, %" PRIu64 " repeated; %" PRIu64 " B sent, %" PRIu64
               " B received",
               board->calls, print_s(board->calls), board->retries, board->bytes_sent,
               board->bytes_received);
}

static void write_board(struct jsonw *w, const struct session *session)
{
    const struct board *board = &session->link.board->board;
    const struct serial_hello *hello = &board->hello;

    jsonw_string(w, "line", board->line.where);
    jsonw_object_begin(w, "board");
    jsonw_string(w, "name", hello->board);
    jsonw_string(w, "library", hello->library);
    jsonw_uint(w, "protocol", hello->version);
    jsonw_uint(w, "uptime_ms", hello->uptime_ns / CLOCK_NS_PER_MS);
    jsonw_string(w, "engine", hello->engine);
    jsonw_bool(w, "polled", hello->flags & SERIAL_HELLO_POLLED);
    jsonw_uint(w, "tiny", hello->tiny);
    jsonw_uint(w, "channels", hello->channels);
    jsonw_uint(w, "memory_base", hello->memory_base);
    jsonw_uint(w, "memory_bytes", hello->memory_bytes);
    jsonw_uint(w, "buffers_max", hello->buffers_max);
    jsonw_uint(w, "requests", board->calls);
    jsonw_uint(w, "repeated", board->retries);
    jsonw_object_end(w);
}

static void print_info(const struct session *session, const void *answer)
{
    if (session->link.board) {
        print_board(session);
        return;
    }
    const struct print_style *style = &session->style;
    const struct daemon_info *info = answer;
    char uptime[PRINT_TEXT_MAX], moved[PRINT_TEXT_MAX];

    print_line(style, "mlid %s at %s, pid %" PRIu32 ", %s, up %s", info->version,
               session->link.where, info->pid, service_phase_name(info->phase),
               print_since(uptime, info->uptime_ms));
    if (*info->build)
        print_line(style, "build     %s", info->build);
    print_line(style, "engine    %s", info->engine);
    if (*info->profile)
        print_line(style, "profile   %s%s%s", info->profile,
                   *info->profile_digest ? ", digest " : "", info->profile_digest);
    print_line(
        style,
        "channels  %" PRIu32 " (from %" PRIu32 "), %" PRIu32 " busy, %" PRIu32 " quarantined",
        info->channels, info->channel_offset, info->channels_busy, info->channels_quarantined);
    print_line(style, "clients   %" PRIu32 " of %" PRIu32, info->clients, info->clients_max);
    print_line(style,
               "jobs      %" PRIu32 " queued, %" PRIu32 " running (at most %" PRIu32
               " per client), %" PRIu64 " done, %" PRIu64 " failed",
               info->jobs_queued, info->jobs_running, info->jobs_per_client_max, info->jobs_done,
               info->jobs_failed);
    print_line(style, "moved     %s", print_bytes(moved, info->bytes_moved));
}

static void write_info(struct jsonw *w, const struct session *session, const void *info)
{
    if (session->link.board) {
        write_board(w, session);
        return;
    }
    jsonw_string(w, "socket", session->link.where);
    daemon_info_write(w, "daemon", info);
}

static enum exit_code ask_info(struct session *session, void *context)
{
    static const struct question question = {
        .method = "daemon.info", .read = read_info, .print = print_info, .write = write_info};
    struct daemon_info info;

    (void)context;
    return session_ask(session, &question, &info);
}

static enum exit_code info(const struct options *options)
{
    return options->argument_count > 0 ? command_misused(&cmd_info)
                                       : session_run_any(options, ask_info, NULL);
}

static const struct example examples[] = {
    {"the daemon of this machine", "mlictl info"},
    {"the same for a program", "mlictl info --json"},
    {0},
};

const struct command cmd_info = {
    .name = "info",
    .arguments = "",
    .summary = "print version, state and load of a daemon",
    .details = "Version, state, engine, channels, clients, jobs, and bytes moved.\n",
    .options = options_table,
    .examples = examples,
    .run = info,
};
