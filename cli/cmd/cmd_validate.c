/* SPDX-License-Identifier: BSD-3-Clause */
/* mlictl validate: checks jobs without moving data. */
#include "cli/cmd/command.h"
#include "cli/job/job_rules.h"
#include "cli/job/outcome.h"
#include "cli/job/produced.h"
#include "cli/job/races.h"
#include "cli/job/resolve.h"
#include "cli/job/staging.h"
#include "cli/run/execute.h"
#include "cli/run/job_limits.h"
#include "cli/run/sequence.h"

static const struct option options_table[] = {
    LIMITS_OPTIONS,
    PROFILE_OPTION,
    SEQUENCE_OPTIONS,
    OPTIONS_COMMON,
};

/* The limits and rules for jobs, and the files that earlier jobs would have written. */
struct validation {
    struct job_limits limits;
    struct job_rules rules;
    struct produced produced;
    struct races races; /* races in the current job file */
    const struct print_style *style;
};

/* Checks the rules; for a staged job, the rules of each step. */
static int check_rules(const struct validation *validation, const struct job_file *file,
                       const struct resolved *resolved, const struct explained *explained,
                       struct fault *fault)
{
    struct staging stage;

    if (!is_staged(resolved->job))
        return job_rules_check(&validation->rules, resolved, explained, fault);
    int status = staging_init(&stage, file, resolved, fault);
    if (status == 0)
        status = job_rules_check_staging(&validation->rules, &stage, &validation->produced, fault);
    staging_finish(&stage);
    return status;
}

static int check_job(struct validation *validation, const struct job_file *file,
                     const struct resolved *resolved, struct outcome *outcome)
{
    struct fault *fault = &outcome->fault;
    struct explained explained;

    if (explained_init(&explained, file, resolved, resolved->job->common.channels, fault))
        return -1;
    if (job_limits_check(&validation->limits, resolved, &explained, fault) ||
        explained_check_apart(&explained, resolved, fault) ||
        check_rules(validation, file, resolved, &explained, fault))
        return -1;
    races_add(&validation->races, resolved, &explained);
    job_rules_advise(&validation->rules, file, resolved, &validation->produced, &outcome->remarks);
    return 0;
}

static int begin_file(void *context, const struct job_file *file, struct fault *fault)
{
    struct validation *validation = context;

    races_begin(&validation->races, file);
    if (job_limits_check_buffers(&validation->limits, file, fault))
        return -1;
    return job_rules_begin(&validation->rules, file, fault);
}

static void end_file(void *context)
{
    struct validation *validation = context;

    races_report_params(&validation->races, validation->style);
    races_report(&validation->races, validation->style);
    races_finish(&validation->races);
    job_rules_end(&validation->rules);
}

static void validate_job(void *context, const struct job_file *file, const struct job_spec *job,
                         struct outcome *outcome)
{
    struct validation *validation = context;
    struct produced *produced = &validation->produced;
    struct resolved resolved;
    struct fault *fault = &outcome->fault;

    outcome->validated = true;
    if (resolved_init(&resolved, file, job, produced, fault) ||
        check_job(validation, file, &resolved, outcome) ||
        resolved_produce(&resolved, produced, fault)) {
        outcome_judge_failure(job, false, outcome);
        fault_prefix(fault, job->pointer);
    } else {
        outcome_describe(outcome, &resolved);
        outcome_judge_plan(&resolved, outcome);
    }
    resolved_finish(&resolved);
}

static enum exit_code validate(const struct options *options)
{
    struct sequence sequence;
    struct validation validation = {.style = &sequence.style};
    struct fault fault;
    enum exit_code code = sequence_init(&sequence, options);

    if (code == EXIT_CODE_DONE && (job_limits_find(&validation.limits, options, &fault) ||
                                   job_rules_init(&validation.rules, options, &fault)))
        code = print_failure(&sequence.style, NULL, &fault);
    if (code == EXIT_CODE_DONE)
        code = sequence_run(&sequence, &(struct sequence_work){validate_job, job_report_validated,
                                                               &validation, begin_file, end_file});
    produced_finish(&validation.produced);
    job_rules_finish(&validation.rules);
    sequence_finish(&sequence);
    return code;
}

const struct command cmd_validate = {
    .name = "validate",
    .arguments = "JOB.json...",
    .summary = "check jobs without moving data",
    .details =
        "Reads tensor headers, computes the shape of the result, and checks that the output\n"
        "can be written. Jobs may read files that earlier jobs would write.\n",
    .options = options_table,
    .takes = &value_job_file,
    .examples = {{"all job files here", "mlictl validate *.json"},
                 {"print only errors", "mlictl validate -q job.json"},
                 {"against the rules of a board", "mlictl validate --profile vpx5-nsim job.json"},
                 {"against the limits of a board's daemon",
                  "mlictl validate -H ssh://root@board job.json"}},
    .run = validate,
};
