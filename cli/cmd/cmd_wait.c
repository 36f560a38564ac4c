/* SPDX-License-Identifier: BSD-3-Clause */
/* mlictl wait: until jobs have ended. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "cli/command.h"
#include "cli/job/job_args.h"
#include "cli/job/job_print.h"
#include "cli/link/daemon_link.h"
#include "cli/term/cancel.h"
#include "proto/bounds.h"
#include "proto/wire/job.h"

static const struct option options_table[] = {
    {"all", 'a', NULL, "all of this user's jobs that are under way now"},
    {"timeout", 't', "MS", "give up after so many milliseconds (the jobs go on)"},
    CLIENT_OPTIONS,
    OPTIONS_COMMON,
};

struct waiter {
    struct client client;
    struct print_style style;
    uint64_t deadline_ms; /* 0: none */
};

static uint64_t now_ms(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * 1000 + (uint64_t)now.tv_nsec / 1000000;
}

static void report_json(const char *job, const struct job_result *result, enum exit_code code,
                        const struct fault *fault)
{
    struct jsonw w;
    jsonw_init(&w);
    jsonw_object_begin(&w, NULL);
    job_arg_write(&w, "job", job);
    jsonw_uint(&w, "exit", code);
    if (result)
        job_result_write(&w, "result", result);
    if (fault)
        print_json_fault(&w, "error", fault);
    jsonw_object_end(&w);
    print_json(&w);
}

static void report(const struct waiter *waiter, const char *job, const struct job_result *result)
{
    char bytes[PRINT_TEXT_MAX], moving[PRINT_TEXT_MAX], before[32], after[2 * PRINT_TEXT_MAX + 8];
    snprintf(before, sizeof(before), "job %s: ", job);
    snprintf(after, sizeof(after), ", %s in %s", print_bytes(bytes, result->bytes),
             print_time(moving, result->ns_moving));
    print_coloured(&waiter->style, before, job_state_colour(JOB_STATE_DONE),
                   job_state_name(JOB_STATE_DONE), after);
    if (waiter->style.json)
        report_json(job, result, EXIT_CODE_DONE, NULL);
}

static enum exit_code complain(const struct waiter *waiter, const char *job,
                               const struct fault *fault)
{
    enum exit_code code = exit_code_of(fault);
    if (fault->code == FAULT_NOT_FOUND)
        print_error("%s", fault->text); /* it says which job */
    else
        print_error("job %s: %s", job, fault->text);
    if (waiter->style.json)
        report_json(job, NULL, code, fault);
    return code;
}

/* All have to end, so that it is the same to wait for one after the other. */
static enum exit_code wait_for(struct waiter *waiter, const char *job)
{
    struct rpc_reply reply;
    struct job_result result;
    struct fault fault;
    uint64_t left = 0;
    if (waiter->deadline_ms > 0) {
        uint64_t now = now_ms();
        left = now < waiter->deadline_ms ? waiter->deadline_ms - now : 1;
    }
    if (job_arg_call(&waiter->client, "job.wait", job, (uint32_t)left, &reply, &fault))
        return complain(waiter, job, &fault);
    int status = job_result_read(&reply.result, &result);
    if (status)
        client_unreadable(&reply, &fault);
    rpc_reply_finish(&reply);
    if (status)
        return complain(waiter, job, &fault);
    report(waiter, job, &result);
    job_result_finish(&result);
    return EXIT_CODE_DONE;
}

/* The numbers of jobs under way, the oldest first. Returns 0 or -1. */
static int find_all(struct client *client, uint64_t **numbers, size_t *count, struct fault *fault)
{
    struct jsonw w;
    struct rpc_reply reply;
    jsonw_init(&w);
    jsonw_object_begin(&w, NULL);
    job_states_write(&w, "states",
                     1U << JOB_STATE_WAITING | 1U << JOB_STATE_QUEUED | 1U << JOB_STATE_RUNNING);
    jsonw_uint(&w, "limit", 1000);
    jsonw_object_end(&w);
    const struct client_request request = {
        .method = "job.list", .params = &w, .timeout_ms = CLIENT_ASK_MS};
    int status = client_call(client, &request, &reply, fault);
    jsonw_finish(&w);
    if (status)
        return -1;
    struct json jobs = json_member(&reply.result, "jobs"), item = {0};
    size_t left = 0;
    status = json_array(&jobs, count);
    *numbers = status ? NULL : calloc(*count + 1, sizeof(**numbers));
    for (left = *count; *numbers && status == 0 && json_next(&jobs, &item);) {
        struct job_brief brief;
        status = job_brief_read(&item, &brief);
        (*numbers)[--left] = brief.job;
    }
    if (status)
        client_unreadable(&reply, fault);
    else if (!*numbers)
        status = fault_set(fault, FAULT_INTERNAL, NULL, "out of memory");
    rpc_reply_finish(&reply);
    return status;
}

static enum exit_code wait_for_all(struct waiter *waiter)
{
    uint64_t *numbers = NULL;
    size_t count = 0;
    struct fault fault;
    enum exit_code code = EXIT_CODE_DONE;
    if (find_all(&waiter->client, &numbers, &count, &fault))
        code = print_failure(&waiter->style, NULL, &fault);
    else if (count == 0)
        print_line(&waiter->style, "no job is under way");
    for (size_t i = 0; numbers && i < count && client_connected(&waiter->client); i++) {
        char number[24];
        snprintf(number, sizeof(number), "%" PRIu64, numbers[i]);
        enum exit_code one = wait_for(waiter, number);
        code = code == EXIT_CODE_DONE ? one : code;
    }
    free(numbers);
    return code;
}

static enum exit_code run(const struct options *options)
{
    struct waiter waiter = {.style = options_style(options)};
    struct fault fault;
    uint64_t timeout = 0;
    bool all = options_get(options, "all") != NULL;
    if (all == (options->argument_count > 0))
        return command_misused(&cmd_wait);
    if (job_args_check(options) ||
        options_uint(options, "timeout", 1, JOB_TIMEOUT_MAX_MS, &timeout))
        return EXIT_CODE_INVALID;
    enum exit_code code = EXIT_CODE_DONE;
    if (client_open(&waiter.client, options, &fault)) {
        code = print_failure(&waiter.style, NULL, &fault);
    } else {
        waiter.deadline_ms = timeout ? now_ms() + timeout : 0;
        if (all)
            code = wait_for_all(&waiter);
    }
    for (size_t i = 0; i < options->argument_count && client_connected(&waiter.client); i++) {
        enum exit_code one = wait_for(&waiter, options->arguments[i]);
        code = code == EXIT_CODE_DONE ? one : code;
    }
    client_finish(&waiter.client);
    return code;
}

static const struct example examples[] = {
    {"until these have ended", "mlictl wait 1 2"},
    {"until nothing is under way, for a minute at most", "mlictl wait --all --timeout 60000"},
    {0},
};

const struct command cmd_wait = {
    .name = "wait",
    .arguments = "JOB... | --all",
    .summary = "wait until jobs have ended",
    .details = "The exit code is that of the first job that did not end well.\n",
    .options = options_table,
    .examples = examples,
    .run = run,
};
