/* SPDX-License-Identifier: BSD-3-Clause */
/* mlictl ping: does a daemon answer, and how fast? */
#include <time.h>

#include "cli/command.h"
#include "cli/link/daemon_link.h"
#include "cli/term/print.h"

static const struct option options_table[] = {
    CLIENT_OPTIONS,
    OPTIONS_COMMON,
};

static uint64_t now_ns(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec;
}

static void print_pong(const struct print_style *style, const char *path, uint64_t ns)
{
    char time[PRINT_TEXT_MAX];
    print_line(style, "mlid at %s answers in %s", path, print_time(time, ns));
    if (!style->json)
        return;
    struct jsonw w;
    jsonw_init(&w);
    jsonw_object_begin(&w, NULL);
    jsonw_string(&w, "socket", path);
    jsonw_uint(&w, "ns", ns);
    jsonw_object_end(&w);
    print_json(&w);
}

static enum exit_code ping(const struct options *options)
{
    struct print_style style = options_style(options);
    struct client client = {0};
    struct rpc_reply reply;
    struct fault fault;
    enum exit_code code = EXIT_CODE_DONE;
    if (options->argument_count > 0)
        return command_misused(&cmd_ping);
    uint64_t begin = 0;
    int status = client_open(&client, options, &fault);
    if (status == 0) {
        begin = now_ns();
        status = client_ask(&client, "daemon.ping", &reply, &fault);
    }
    if (status == 0) {
        print_pong(&style, client.where, now_ns() - begin);
        rpc_reply_finish(&reply);
    } else {
        code = print_failure(&style, NULL, &fault);
    }
    client_finish(&client);
    return code;
}

static const struct example examples[] = {
    {"does it answer, and how fast?", "mlictl ping"},
    {"in a script", "mlictl ping -q && echo serving"},
    {0},
};

const struct command cmd_ping = {
    .name = "ping",
    .arguments = "",
    .summary = "ask whether a daemon answers",
    .details = "Measures a round trip. Gives up after five seconds.\n",
    .options = options_table,
    .examples = examples,
    .run = ping,
};
