/* SPDX-License-Identifier: BSD-3-Clause */
/* mlictl status: what a daemon knows of a job. */
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

static void print_info(const struct print_style *style, const struct job_info *info)
{
    char bytes[PRINT_TEXT_MAX], done[PRINT_TEXT_MAX], queued[PRINT_TEXT_MAX];
    char moving[PRINT_TEXT_MAX];
    char job[sizeof("job (): ") + 20 + PROTO_NAME_MAX];
    snprintf(job, sizeof(job), "job %" PRIu64 "%s%s%s: ", info->job, *info->name ? " (" : "",
             info->name, *info->name ? ")" : "");
    print_coloured(style, job, job_state_colour(info->state), job_state_name(info->state),
                   info->detached ? ", detached" : "");
    print_line(style, "from      client %" PRIu64 ", uid %" PRIu32 ", priority %" PRId32,
               info->client, info->uid, info->priority);
    if (info->first_channel >= 0)
        print_line(style, "channels  %" PRIu32 ", from %" PRId32, info->channels,
                   info->first_channel);
    else
        print_line(style, "channels  %" PRIu32 " wanted", info->channels);
    print_line(style, "written   %s of %s", print_bytes(done, info->bytes_done),
               print_bytes(bytes, info->bytes));
    print_line(style, "times     %s queued, %s moving", print_time(queued, info->ns_queued),
               print_time(moving, info->ns_moving));
    if (info->error)
        print_line(style, "error     %s: %s", fault_name(info->error->code), info->error->text);
    if (style->json)
        job_print_json(info);
}

static enum exit_code job_status(const struct options *options)
{
    struct print_style style = options_style(options);
    struct client client = {0};
    struct rpc_reply reply;
    struct job_info info;
    struct fault fault;
    enum exit_code code = EXIT_CODE_DONE;
    if (options->argument_count != 1)
        return command_misused(&cmd_status);
    if (job_args_check(options))
        return EXIT_CODE_INVALID;
    int status = client_open(&client, options, &fault);
    if (status == 0)
        status = job_arg_call(&client, "job.status", options->arguments[0], 0, &reply, &fault);
    if (status == 0) {
        status = job_info_read(&reply.result, &info);
        if (status)
            client_unreadable(&reply, &fault);
        rpc_reply_finish(&reply);
    }
    if (status == 0)
        print_info(&style, &info);
    else
        code = print_failure(&style, NULL, &fault);
    client_finish(&client);
    return code;
}

static const struct example examples[] = {
    {"the first job that the daemon was given", "mlictl status 1"},
    {0},
};

const struct command cmd_status = {
    .name = "status",
    .arguments = "JOB",
    .summary = "tell what became of a job",
    .details =
        "All that the daemon knows of it: state, priority, channels, bytes, times, and why it\n"
        "failed.\n",
    .options = options_table,
    .examples = examples,
    .run = job_status,
};
