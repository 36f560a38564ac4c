/* SPDX-License-Identifier: BSD-3-Clause */
/* mlictl cancel: jobs that are not wanted any more. */
#include <inttypes.h>
#include <stdio.h>

#include "cli/command.h"
#include "cli/job/job_args.h"
#include "cli/job/job_print.h"
#include "cli/link/daemon_link.h"

static const struct option options_table[] = {
    CLIENT_OPTIONS,
    OPTIONS_COMMON,
};

static void report(const struct print_style *style, const struct job_brief *brief)
{
    char job[32];
    snprintf(job, sizeof(job), "job %" PRIu64 ": ", brief->job);
    print_coloured(style, job, job_state_colour(brief->state), job_state_name(brief->state),
                   brief->state == JOB_STATE_RUNNING ? ", has yet to stop" : "");
    if (!style->json)
        return;
    struct jsonw w;
    jsonw_init(&w);
    jsonw_object_begin(&w, NULL);
    job_brief_write_members(&w, brief);
    jsonw_object_end(&w);
    print_json(&w);
}

static enum exit_code cancel_one(struct client *client, const struct print_style *style,
                                 const char *job)
{
    struct rpc_reply reply;
    struct job_brief brief;
    struct fault fault;
    if (job_arg_call(client, "job.cancel", job, 0, &reply, &fault))
        return print_failure(style, NULL, &fault);
    int status = job_brief_read(&reply.result, &brief);
    if (status)
        client_unreadable(&reply, &fault);
    rpc_reply_finish(&reply);
    if (status)
        return print_failure(style, NULL, &fault);
    report(style, &brief);
    return EXIT_CODE_DONE;
}

static enum exit_code cancel(const struct options *options)
{
    struct print_style style = options_style(options);
    struct client client;
    struct fault fault;
    enum exit_code code = EXIT_CODE_DONE;
    if (options->argument_count == 0)
        return command_misused(&cmd_cancel);
    if (job_args_check(options))
        return EXIT_CODE_INVALID;
    if (client_open(&client, options, &fault))
        code = print_failure(&style, NULL, &fault);
    for (size_t i = 0; i < options->argument_count && client_connected(&client); i++) {
        enum exit_code one = cancel_one(&client, &style, options->arguments[i]);
        code = code == EXIT_CODE_DONE ? one : code;
    }
    client_finish(&client);
    return code;
}

static const struct example examples[] = {
    {"two jobs", "mlictl cancel 1 2"},
    {0},
};

const struct command cmd_cancel = {
    .name = "cancel",
    .arguments = "JOB...",
    .summary = "cancel jobs",
    .details = "A job that has ended stays as it is: its state is told.\n",
    .options = options_table,
    .examples = examples,
    .run = cancel,
};
