/* SPDX-License-Identifier: BSD-3-Clause */
/* mlictl drain and resume: a daemon that takes no new jobs, and does again. */
#include "cli/command.h"
#include "cli/link/daemon_link.h"
#include "cli/term/print.h"

static const struct option drain_options[] = {
    {"no-wait", 0, NULL, "do not wait for the jobs under way"},
    CLIENT_OPTIONS,
    OPTIONS_COMMON,
};

static const struct option resume_options[] = {
    CLIENT_OPTIONS,
    OPTIONS_COMMON,
};

static void report(const struct client *client, const struct print_style *style,
                   enum service_phase phase)
{
    print_line(style, "mlid at %s is %s", client->where, service_phase_name(phase));
    if (!style->json)
        return;
    struct jsonw w;
    jsonw_init(&w);
    jsonw_object_begin(&w, NULL);
    jsonw_string(&w, "socket", client->where);
    jsonw_string(&w, "state", service_phase_name(phase));
    jsonw_object_end(&w);
    print_json(&w);
}

static enum exit_code change(const struct options *options, const struct client_request *request)
{
    struct print_style style = options_style(options);
    struct client client;
    struct rpc_reply reply;
    struct fault fault;
    enum service_phase phase;
    enum exit_code code = EXIT_CODE_DONE;
    int status = client_open(&client, options, &fault);
    if (status == 0)
        status = client_call(&client, request, &reply, &fault);
    if (status == 0) {
        struct json state = json_member(&reply.result, "state");
        status = service_phase_read(&state, &phase);
        if (status)
            client_unreadable(&reply, &fault);
        rpc_reply_finish(&reply);
    }
    if (status == 0)
        report(&client, &style, phase);
    else
        code = print_failure(&style, NULL, &fault);
    client_finish(&client);
    return code;
}

static enum exit_code drain(const struct options *options)
{
    struct jsonw w;
    if (options->argument_count > 0)
        return command_misused(&cmd_drain);
    jsonw_init(&w);
    jsonw_object_begin(&w, NULL);
    jsonw_bool(&w, "wait", options_get(options, "no-wait") == NULL);
    jsonw_object_end(&w);
    const struct client_request request = {
        .method = "daemon.drain", .params = &w, .timeout_ms = -1};
    enum exit_code code = change(options, &request);
    jsonw_finish(&w);
    return code;
}

static enum exit_code resume(const struct options *options)
{
    const struct client_request request = {.method = "daemon.resume", .timeout_ms = CLIENT_ASK_MS};
    if (options->argument_count > 0)
        return command_misused(&cmd_resume);
    return change(options, &request);
}

static const struct example drain_examples[] = {
    {"before a board is updated; resume undoes it", "mlictl drain"},
    {0},
};

const struct command cmd_drain = {
    .name = "drain",
    .arguments = "",
    .summary = "let a daemon take no new jobs, and wait for those it has",
    .details = "For root and the user the daemon runs as. ^C ends the waiting, not the draining.\n",
    .options = drain_options,
    .examples = drain_examples,
    .run = drain,
};

static const struct example resume_examples[] = {
    {"after it", "mlictl resume"},
    {0},
};

const struct command cmd_resume = {
    .name = "resume",
    .arguments = "",
    .summary = "let a daemon take jobs again",
    .details = "Undoes drain, and brings back channels in quarantine whose transfers have ended. "
               "For root and\n"
               "the user the daemon runs as.\n",
    .options = resume_options,
    .examples = resume_examples,
    .run = resume,
};
