/* SPDX-License-Identifier: BSD-3-Clause */
/* mlictl wait: waits until jobs have ended. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "cli/cmd/command.h"
#include "cli/cmd/session.h"
#include "cli/term/clock_ns.h"
#include "proto/wire/wire_limits.h"

static const struct option options_table[] = {
    {"all", NULL, "Wait for all jobs of this user that are under way."},
    {"timeout", "TIME",
     "Stop waiting after this time, as 500ms or 2m; the jobs continue (default: no limit).",
     .old = "t"},
    DAEMON_LINK_OPTIONS,
    OPTIONS_COMMON,
};

/* --timeout, for all jobs together; 0: no limit. */
struct limit {
    uint64_t ms, deadline_ns;
};

/* The wait for one job. */
struct wait {
    const char *job; /* number of the job */
    enum exit_code exit;
    const struct fault *fault; /* null: the job is done, and `result` is filled */
    struct job_result result;
};

static int read_result(const struct json *result, void *wait)
{
    return job_result_read(result, &((struct wait *)wait)->result);
}

static void print_wait(const struct session *session, const void *answer)
{
    const struct wait *wait = answer;
    const struct job_result *result = &wait->result;
    char bytes[PRINT_TEXT_MAX], moving[PRINT_TEXT_MAX], before[32], after[2 * PRINT_TEXT_MAX + 8];

    if (wait->fault && wait->fault->code == FAULT_NOT_FOUND) {
        print_error("%s", wait->fault->text); /* the text of the fault names the job */
    } else if (wait->fault) {
        print_error("job %s: %s", wait->job, wait->fault->text);
    } else {
        snprintf(before, sizeof(before), "job %s: ", wait->job);
        snprintf(after, sizeof(after), ", %s in %s", print_bytes(bytes, result->bytes),
                 print_time(moving, result->ns_moving));
        print_coloured(&session->style, before, job_state_colour(JOB_STATE_DONE),
                       job_state_name(JOB_STATE_DONE), after);
    }
}

static void write_wait(struct jsonw *w, const struct session *session, const void *answer)
{
    const struct wait *wait = answer;

    (void)session;
    session_write_job(w, wait->job);
    jsonw_uint(w, "exit", wait->exit);
    if (wait->fault)
        print_json_fault(w, "error", wait->fault);
    else
        job_result_write(w, "result", &wait->result);
}

/* Waits for one job. The command waits for all jobs, so their order does not matter. */
static enum exit_code wait_for(struct session *session, const struct limit *limit, const char *job)
{
    struct question question = {.method = "job.wait",
                                .job = job,
                                .timeout_ms = -1,
                                .read = read_result,
                                .print = print_wait,
                                .write = write_wait};
    struct wait wait = {.job = job};
    struct fault fault;

    if (limit->ms > 0) {
        const uint64_t now = clock_ns(), end = limit->deadline_ns;

        question.job_timeout_ms = now < end ? (uint32_t)((end - now) / CLOCK_NS_PER_MS + 1) : 1;
    }
    if (session_call(session, &question, &wait, &fault)) {
        if (fault.code == FAULT_TIMED_OUT && strcmp(fault.pointer, "/timeout_ms") == 0)
            fault_set(&fault, FAULT_TIMED_OUT, "/timeout_ms",
                      "it has not ended within %" PRIu64 " ms (--timeout)", limit->ms);
        wait.fault = &fault;
        wait.exit = exit_code_of(&fault);
    }
    session_print(session, &question, &wait);
    if (!wait.fault)
        job_result_finish(&wait.result);
    return wait.exit;
}

/* Lists the jobs that have not ended, the latest first. */
struct pending {
    uint64_t numbers[JOB_LIST_LIMIT_MAX];
    size_t count;
};

static void add_pending(void *context, const struct job_info *info)
{
    struct pending *pending = context;

    if (pending->count < JOB_LIST_LIMIT_MAX)
        pending->numbers[pending->count++] = info->job;
}

static enum exit_code wait_for_all(struct session *session, const struct limit *limit)
{
    struct job_list_query query = {.states = 1U << JOB_STATE_WAITING | 1U << JOB_STATE_QUEUED |
                                             1U << JOB_STATE_RUNNING,
                                   .limit = JOB_LIST_LIMIT_MAX};
    struct pending pending = {.count = 0};
    struct fault fault;
    enum exit_code code = EXIT_CODE_DONE;

    if (session_list(session, &query, add_pending, &pending, NULL, &fault))
        return print_failure(&session->style, NULL, &fault);
    if (pending.count == 0)
        print_line(&session->style, "no job is under way");
    for (size_t i = pending.count; i > 0 && daemon_link_connected(&session->link); i--) {
        char number[24];
        snprintf(number, sizeof(number), "%" PRIu64, pending.numbers[i - 1]);
        enum exit_code one = wait_for(session, limit, number);
        code = code == EXIT_CODE_DONE ? one : code;
    }
    return code;
}

static enum exit_code wait_for_jobs(struct session *session, void *context)
{
    const struct options *options = session->options;
    const uint64_t timeout_ms = *(const uint64_t *)context;
    const struct limit limit = {timeout_ms, clock_ns() + timeout_ms * CLOCK_NS_PER_MS};
    enum exit_code code = EXIT_CODE_DONE;

    if (options_get(options, "all"))
        return wait_for_all(session, &limit);
    for (size_t i = 0; i < options->argument_count && daemon_link_connected(&session->link); i++) {
        enum exit_code one = wait_for(session, &limit, options->arguments[i]);
        code = code == EXIT_CODE_DONE ? one : code;
    }
    return code;
}

static enum exit_code run(const struct options *options)
{
    uint64_t timeout_ms = 0;
    bool all = options_get(options, "all") != NULL;

    if (all == (options->argument_count > 0))
        return command_misused(&cmd_wait);
    if (session_check_jobs(options) ||
        options_number(options, "timeout", UNIT_MS, 1, JOB_TIMEOUT_MAX_MS, &timeout_ms))
        return EXIT_CODE_INVALID;
    return session_run(options, wait_for_jobs, &timeout_ms);
}

const struct command cmd_wait = {
    .name = "wait",
    .arguments = "JOB... | --all",
    .summary = "wait until jobs have ended",
    .details = "The exit code is that of the first job that did not succeed.\n",
    .options = options_table,
    .examples = {{"until two jobs have ended", "mlictl wait 1 2"},
                 {"until no job is under way, for at most a minute",
                  "mlictl wait --all --timeout 1m"}},
    .run = run,
};
