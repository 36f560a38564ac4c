/* SPDX-License-Identifier: BSD-3-Clause */
/* mlictl cancel: cancels jobs. */
#include <inttypes.h>
#include <stdio.h>

#include "cli/cmd/command.h"
#include "cli/cmd/session.h"

static int read_brief(const struct json *result, void *brief)
{
    return job_brief_read(result, brief);
}

static void print_brief(const struct session *session, const void *answer)
{
    const struct job_brief *brief = answer;
    char job[32];

    snprintf(job, sizeof(job), "job %" PRIu64 ": ", brief->job);
    print_coloured(&session->style, job, job_state_colour(brief->state),
                   job_state_name(brief->state),
                   brief->state == JOB_STATE_RUNNING ? ", has not stopped yet" : "");
}

static void write_brief(struct jsonw *w, const struct session *session, const void *brief)
{
    (void)session;
    job_brief_write_members(w, brief);
}

static enum exit_code cancel_all(struct session *session, void *context)
{
    const struct options *options = session->options;
    enum exit_code code = EXIT_CODE_DONE;

    (void)context;
    for (size_t i = 0; i < options->argument_count && daemon_link_connected(&session->link); i++) {
        const struct question question = {.method = "job.cancel",
                                          .job = options->arguments[i],
                                          .timeout_ms = -1,
                                          .read = read_brief,
                                          .print = print_brief,
                                          .write = write_brief};
        struct job_brief brief;
        enum exit_code one = session_ask(session, &question, &brief);
        code = code == EXIT_CODE_DONE ? one : code;
    }
    return code;
}

static enum exit_code cancel(const struct options *options)
{
    if (options->argument_count == 0)
        return command_misused(&cmd_cancel);
    return session_check_jobs(options) ? EXIT_CODE_INVALID : session_run(options, cancel_all, NULL);
}

const struct command cmd_cancel = {
    .name = "cancel",
    .arguments = "JOB...",
    .summary = "cancel jobs",
    .details = "If a job has ended already, prints its state and changes nothing.\n",
    .options = session_options,
    .examples = {{"cancel two jobs", "mlictl cancel 1 2"}},
    .run = cancel,
};
