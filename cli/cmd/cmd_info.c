/* SPDX-License-Identifier: BSD-3-Clause */
/* mlictl info: what a daemon is and what it does. */
#include <inttypes.h>

#include "cli/command.h"
#include "cli/link/daemon_link.h"
#include "cli/term/print.h"

static const struct option options_table[] = {
    CLIENT_OPTIONS,
    OPTIONS_COMMON,
};

static void print_info(const struct print_style *style, const char *path,
                       const struct daemon_info *info)
{
    char uptime[PRINT_TEXT_MAX], moved[PRINT_TEXT_MAX];
    print_line(style, "mlid %s at %s, pid %" PRIu32 ", %s, up %s", info->version, path, info->pid,
               service_phase_name(info->phase), print_since(uptime, info->uptime_ms));
    if (*info->build)
        print_line(style, "build     %s", info->build);
    print_line(style, "engine    %s", info->engine);
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
    if (!style->json)
        return;
    struct jsonw w;
    jsonw_init(&w);
    jsonw_object_begin(&w, NULL);
    jsonw_string(&w, "socket", path);
    daemon_info_write(&w, "daemon", info);
    jsonw_object_end(&w);
    print_json(&w);
}

static enum exit_code info(const struct options *options)
{
    struct print_style style = options_style(options);
    struct client client = {0};
    struct rpc_reply reply;
    struct daemon_info answer;
    struct fault fault;
    enum exit_code code = EXIT_CODE_DONE;
    if (options->argument_count > 0)
        return command_misused(&cmd_info);
    int status = client_open(&client, options, &fault);
    if (status == 0)
        status = client_ask(&client, "daemon.info", &reply, &fault);
    if (status == 0) {
        status = daemon_info_read(&reply.result, &answer);
        if (status)
            client_unreadable(&reply, &fault);
        rpc_reply_finish(&reply);
    }
    if (status == 0)
        print_info(&style, client.where, &answer);
    else
        code = print_failure(&style, NULL, &fault);
    client_finish(&client);
    return code;
}

static const struct example examples[] = {
    {"the daemon of this machine", "mlictl info"},
    {"its engine, for a program", "mlictl info --json"},
    {0},
};

const struct command cmd_info = {
    .name = "info",
    .arguments = "",
    .summary = "tell what a daemon is doing",
    .details = "Version, state, engine, channels, clients, jobs, and bytes moved.\n",
    .options = options_table,
    .examples = examples,
    .run = info,
};
