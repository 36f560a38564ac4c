/* SPDX-License-Identifier: BSD-3-Clause */
/* mlictl info: version, state and load of a daemon. */
#include <inttypes.h>

#include "cli/cmd/command.h"
#include "cli/cmd/session.h"

static int read_info(const struct json *result, void *info)
{
    return daemon_info_read(result, info);
}

static void print_info(const struct session *session, const void *answer)
{
    if (session->link.board) {
        board_calls->print_info(session->link.board, &session->style);
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
        board_calls->write_info(session->link.board, w);
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
    return session_run_any(options, ask_info, NULL);
}

const struct command cmd_info = {
    .name = "info",
    .arguments = "",
    .summary = "print version, state and load of a daemon",
    .details = "Prints version, state, engine, channels, clients, jobs, and bytes moved.\n",
    .options = session_any_options,
    .examples = {{"ask the daemon of this machine", "mlictl info"},
                 {"print JSON for a program", "mlictl info --json"}},
    .run = info,
};
