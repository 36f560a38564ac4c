/* SPDX-License-Identifier: BSD-3-Clause */
/* mlictl validate: everything that can be said about jobs without moving a byte. */
#include "command.h"
#include "execute.h"
#include "judge.h"
#include "produced.h"
#include "report.h"
#include "resolve.h"
#include "sequence.h"

static const struct option options_table[] = {
    SEQUENCE_OPTIONS,
    OPTIONS_COMMON,
};

static void validate_job(void *context, const struct job_file *file, const struct job *job,
                         struct outcome *outcome)
{
    struct produced *produced = context;
    struct resolved resolved;
    struct fault *fault = &outcome->fault;
    outcome->validated = true;
    if (resolved_init(&resolved, file, job, produced, fault) ||
        resolved_produce(&resolved, produced, fault)) {
        judge_failure(job, false, outcome);
        fault_prefix(fault, job->pointer);
    } else {
        outcome_describe(outcome, &resolved);
        judge_plan(&resolved, outcome);
    }
    resolved_finish(&resolved);
}

static enum exit_code validate(const struct options *options)
{
    struct sequence sequence;
    struct produced produced = {0};
    enum exit_code code = sequence_init(&sequence, options);
    if (code == EXIT_CODE_DONE)
        code = sequence_run(&sequence,
                            &(struct sequence_work){validate_job, report_validated, &produced});
    produced_finish(&produced);
    sequence_finish(&sequence);
    return code;
}

static const struct example examples[] = {
    {"all job files here", "mlictl validate *.json"},
    {"only complaints", "mlictl validate -q job.json"},
    {0},
};

const struct command cmd_validate = {
    .name = "validate",
    .arguments = "JOB.json...",
    .summary = "check jobs without moving anything",
    .details = "Reads tensor headers, computes the result's shape, and checks that the output can\n"
               "be written. Jobs may read what jobs before them would write.\n",
    .options = options_table,
    .takes = &value_job_file,
    .examples = examples,
    .run = validate,
};
