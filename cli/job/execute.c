/* SPDX-License-Identifier: BSD-3-Clause */
#include "cli/job/execute.h"

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#include "boards/link/board_link.h"
#include "cli/job/execute_staging.h"
#include "cli/job/staging.h"
#include "cli/job/submission.h"
#include "cli/term/clock_ns.h"

/* Time to wait for a reply after the job's timeout, and after the deadline of the execution. */
enum { GRACE_MS = 3000, LAST_GRACE_MS = 1000 };

static int overdue(struct fault *fault)
{
    return fault_set(fault, FAULT_TIMED_OUT, NULL, "cut off: the time limit was reached");
}

/* Lowers the timeout of the job to the time left until the deadline of the execution. */
static int limit_time(const struct execution *execution, struct resolved *r, struct fault *fault)
{
    if (!execution->deadline_ns)
        return 0;
    uint64_t now = clock_ns();
    if (now >= execution->deadline_ns)
        return overdue(fault);
    uint64_t left = (execution->deadline_ns - now) / CLOCK_NS_PER_MS + 1;
    if (r->wire.common.timeout_ms == 0 || left < r->wire.common.timeout_ms)
        r->wire.common.timeout_ms = (uint32_t)left;
    return 0;
}

/* Returns the longest time to wait for a reply; -1: no limit. */
static int patience_ms(const struct execution *execution, uint32_t timeout_ms)
{
    uint32_t grace = execution->deadline_ns ? LAST_GRACE_MS : GRACE_MS;

    return timeout_ms && timeout_ms < INT32_MAX - grace ? (int)(timeout_ms + grace) : -1;
}

/* Sends the job and waits for its result. */
static int submit_and_wait(const struct execution *execution, const struct resolved *r,
                           struct job_result *result, struct fault *fault)
{
    struct rpc_reply reply;

    if (execution->link->board)
        return board_link_run(execution->link->board, r, result, fault);
    if (submission_send(execution->link, r, patience_ms(execution, r->wire.common.timeout_ms),
                        &reply, fault))
        return -1;
    int status = job_result_read(&reply.result, result);
    if (status == 0 && !result->has_dst)
        status = json_complain(&reply.result, "it has no \"dst\"");
    if (status)
        fault_set(fault, FAULT_STREAM_ERROR, NULL, "the daemon's result cannot be read: %s",
                  reply.fault.text);
    rpc_reply_finish(&reply);
    return status;
}

/* Checks that the service reports the planned shape, which the .npy header has. */
static int check_result(const struct resolved *r, const struct job_result *result,
                        struct fault *fault)
{
    if (result->dst.rank == r->result.rank &&
        memcmp(result->dst.shape, r->result.shape, r->result.rank * sizeof(uint32_t)) == 0)
        return 0;
    return fault_set(fault, FAULT_INTERNAL, "/dst",
                     "dst: the daemon reports another shape than the move has");
}

static int write_params(struct resolved *r, const struct job_result *result, struct fault *fault)
{
    if (!r->params_path)
        return 0;
    struct tensor_desc only_params = result->dst; /* borrows its arrays */
    only_params.rank = only_params.stride_count = 0;
    only_params.has_strides = false;
    struct jsonw w;
    jsonw_init(&w);
    jsonw_object_begin(&w, NULL);
    tensor_desc_write(&w, &only_params);
    jsonw_object_end(&w);
    jsonw_newline(&w);
    const char *text = jsonw_text(&w);
    int status = text ? output_write(&r->params, text, w.length, 0, fault) : fault_no_memory(fault);
    jsonw_finish(&w);
    return status;
}

/* Returns whether the output must not replace a file. An update replaces the updated file. */
static bool is_fresh(const struct execution *execution, const struct resolved *r)
{
    return execution->fresh && !r->job->dst.update;
}

static int check_fresh(const struct execution *execution, const struct resolved *r,
                       struct fault *fault)
{
    return r->dst_buffer ? 0 : output_check_fresh(&r->output, !is_fresh(execution, r), fault);
}

/* Write the parameters first: if the output exists, the parameters exist too. */
static int commit(const struct execution *execution, struct resolved *r, struct fault *fault)
{
    int (*put)(struct output *, bool, struct fault *) =
        execution->sync ? output_commit_synced : output_commit;

    if (r->dst_buffer)
        return 0;
    if (r->params_path && put(&r->params, false, fault))
        return -1;
    return put(&r->output, is_fresh(execution, r), fault);
}

static int produce_params(const struct execution *execution, struct resolved *r)
{
    const struct tensor_file bytes = {.fd = -1, .format = FILE_FORMAT_RAW};

    if (!r->params_path)
        return 0;
    return produced_add(execution->produced, r->params_path, &bytes, output_take(&r->params));
}

/*
 * Keeps outputs in memory for later jobs. Duplicates the descriptor, because after a mismatch
 * `failed` still reads the output.
 */
static int produce(const struct execution *execution, struct resolved *r, struct outcome *outcome)
{
    if (!execution->produced || r->dst_buffer)
        return 0;
    int fd = outcome->exit == EXIT_CODE_DONE ? output_take(&r->output)
                                             : fcntl(r->output.fd, F_DUPFD_CLOEXEC, 0);
    if (fd < 0)
        return fault_set(&outcome->fault, FAULT_IO_ERROR, NULL, "the output: %s", strerror(errno));
    int error = produced_add(execution->produced, r->dst_path, &r->whole, fd);
    if (!error)
        error = produce_params(execution, r);
    return error ? fault_set(&outcome->fault, FAULT_IO_ERROR, NULL, "the output: %s",
                             strerror(-error))
                 : 0;
}

static int run(const struct execution *execution, const struct job_file *file,
               const struct job_spec *job, struct resolved *r, struct outcome *outcome)
{
    struct fault *fault = &outcome->fault;

    if (is_staged(job))
        return execution_run_staging(execution, file, job, run, r, outcome);
    if (resolved_init(r, file, job, execution->produced, fault))
        return -1;
    outcome_describe(outcome, r);
    job_buffers_refer(&execution->buffers, r);
    if (submission_check_rules(execution->rules, file, r, fault) ||
        check_fresh(execution, r, fault) || submission_lift_source(execution->link, r, fault) ||
        submission_prepare_output(r, fault) || limit_time(execution, r, fault) ||
        submit_and_wait(execution, r, &outcome->result, fault) ||
        outcome_judge_success(job, outcome))
        return -1;
    if (check_result(r, &outcome->result, fault) || submission_write_header(r, fault) ||
        write_params(r, &outcome->result, fault) || commit(execution, r, fault))
        return -1;
    outcome->moved = true;
    if (execution->moved)
        execution->moved(execution->context, file, r, outcome);
    return outcome_judge_output(r, outcome) ? -1 : produce(execution, r, outcome);
}

/* Returns whether the job was ended by the deadline of the execution, and not by the timeout_ms of
 * the job. */
static bool is_overdue(const struct execution *execution, const struct fault *fault)
{
    return fault->code == FAULT_TIMED_OUT && execution->deadline_ns &&
           clock_ns() >= execution->deadline_ns;
}

static void judge_end(const struct execution *execution, const struct job_spec *job,
                      struct outcome *outcome)
{
    bool late = is_overdue(execution, &outcome->fault);

    if (late)
        overdue(&outcome->fault);
    outcome_judge_failure(job, late || outcome->disconnected, outcome);
}

int execution_begin(void *context, const struct job_file *file, struct fault *fault)
{
    struct execution *execution = context;

    if (execution->rules && job_rules_begin(execution->rules, file, fault))
        return -1;
    return job_buffers_begin(&execution->buffers, execution->link, file, fault);
}

void execution_end(void *context)
{
    struct execution *execution = context;

    if (execution->rules)
        job_rules_end(execution->rules);
    job_buffers_end(&execution->buffers);
}

void execution_run(void *context, const struct job_file *file, const struct job_spec *job,
                   struct outcome *outcome)
{
    const struct execution *execution = context;
    struct resolved r;

    job_progress_begin(execution->progress, file, job);
    int status = run(execution, file, job, &r, outcome);
    job_progress_end(execution->progress);
    outcome->disconnected = !daemon_link_connected(execution->link);
    if (status && outcome->verdict != VERDICT_NOT_REFUSED)
        judge_end(execution, job, outcome);
    if (outcome->fault.code != FAULT_NONE)
        fault_prefix(&outcome->fault, job->pointer);
    if (outcome->exit != EXIT_CODE_DONE && execution->failed)
        execution->failed(execution->context, &r, outcome);
    resolved_finish(&r);
}
