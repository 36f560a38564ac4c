/* SPDX-License-Identifier: BSD-3-Clause */
/* mlictl status: the state of one job. */
#include <inttypes.h>
#include <stdio.h>

#include "cli/cmd/command.h"
#include "cli/cmd/session.h"

static int read_status(const struct json *result, void *info)
{
    return job_info_read(result, info);
}

static void print_status(const struct session *session, const void *answer)
{
    const struct print_style *style = &session->style;
    const struct job_info *info = answer;
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
}

static void write_status(struct jsonw *w, const struct session *session, const void *info)
{
    (void)session;
    job_info_write_members(w, info);
}

static enum exit_code ask_status(struct session *session, void *context)
{
    const struct question question = {.method = "job.status",
                                      .job = session->options->arguments[0],
                                      .timeout_ms = -1,
                                      .read = read_status,
                                      .print = print_status,
                                      .write = write_status};
    struct job_info info;

    (void)context;
    return session_ask(session, &question, &info);
}

static enum exit_code job_status(const struct options *options)
{
    return session_check_jobs(options) ? EXIT_CODE_INVALID : session_run(options, ask_status, NULL);
}

const struct command cmd_status = {
    .name = "status",
    .arguments = "JOB",
    .count = 1,
    .summary = "print the state of a job",
    .details = "Prints state, priority, channels, bytes, times, and the error of a failed job.\n",
    .options = session_options,
    .examples = {{"the first job of the daemon", "mlictl status 1"}},
    .run = job_status,
};
