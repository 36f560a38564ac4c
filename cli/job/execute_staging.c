/* SPDX-License-Identifier: BSD-3-Clause */
#include "cli/job/execute_staging.h"

#include "cli/job/staging.h"
#include "cli/term/clock_ns.h"

/* Lowers the deadline of the steps to the timeout of the job, which holds for all of them. */
static void limit_steps(struct execution *steps, const struct job_spec *job)
{
    const uint64_t end = clock_ns() + (uint64_t)job->common.timeout_ms * CLOCK_NS_PER_MS;

    if (job->common.timeout_ms > 0 && (steps->deadline_ns == 0 || end < steps->deadline_ns))
        steps->deadline_ns = end;
}

/* Gives a step the quantisation parameters of the tensor that the step before has written. Borrows
 * their arrays. */
static void pass_parameters(struct job_spec *job, const struct job_result *before)
{
    job->src.desc.quant = before->dst.quant;
}

/* Takes the output of the last step, which callbacks read. */
static void take_output(struct resolved *whole, struct resolved *last)
{
    static const struct output none = {.fd = -1, .directory = -1};

    whole->output = last->output;
    last->output = none;
}

static int run_steps(const struct execution *steps, struct staging *stage, execution_step *step,
                     struct resolved *r, struct outcome *outcome)
{
    struct outcome before[STAGING_STORE] = {{0}};
    struct job_result *result = &outcome->result;
    int status = 0;

    for (int i = 0; i < STAGING_STEPS && status == 0; i++) {
        struct outcome *of_step = i < STAGING_STORE ? &before[i] : outcome;
        struct resolved resolved;

        if (i > 0)
            pass_parameters(&stage->jobs[i], &before[i - 1].result);
        status = step(steps, &stage->file, &stage->jobs[i], &resolved, of_step);
        if (status && of_step != outcome)
            outcome->fault = of_step->fault;
        if (status)
            staging_blame_step(&outcome->fault, i);
        if (i == STAGING_STORE)
            take_output(r, &resolved);
        resolved_finish(&resolved);
    }
    for (int i = 0; i < STAGING_STORE; i++) {
        if (outcome->moved) {
            result->ns_queued += before[i].result.ns_queued;
            result->ns_moving += before[i].result.ns_moving;
        }
        outcome_finish(&before[i]);
    }
    return status;
}

/* Allocates the two buffers, and runs the steps. */
static int run_in_buffers(const struct execution *execution, struct staging *stage,
                          execution_step *step, struct resolved *r, struct outcome *outcome)
{
    struct execution steps = *execution;
    int status;

    steps.rules = NULL; /* job_rules_check_staging() has checked them */
    steps.moved = NULL; /* called for the whole job */
    limit_steps(&steps, r->job);
    status = job_buffers_extend(&steps.buffers, &execution->buffers, execution->link, &stage->file,
                                &outcome->fault);
    if (status)
        staging_blame(&outcome->fault);
    else
        status = run_steps(&steps, stage, step, r, outcome);
    job_buffers_end(&steps.buffers);
    return status;
}

int execution_run_staging(const struct execution *execution, const struct job_file *file,
                          const struct job_spec *job, execution_step *step, struct resolved *r,
                          struct outcome *outcome)
{
    static const struct produced nothing = {0};
    /* Without `nothing`, the whole job would hold the lock that the last step waits for. */
    const struct produced *produced = execution->produced ? execution->produced : &nothing;
    struct fault *fault = &outcome->fault;
    struct staging stage = {0};
    int status = resolved_plan(r, file, job, produced, fault);

    if (status == 0)
        status = staging_init(&stage, file, r, fault);
    if (status == 0 && execution->rules)
        status = job_rules_check_staging(execution->rules, &stage, produced, fault);
    if (status == 0)
        status = staging_check_capacity(&stage, execution->profile, fault);
    if (status == 0)
        status = run_in_buffers(execution, &stage, step, r, outcome);
    if (outcome->moved && execution->moved)
        execution->moved(execution->context, file, r, outcome);
    if (r->src.header.rank > 0)
        outcome_describe(outcome, r);
    staging_finish(&stage);
    return status;
}
