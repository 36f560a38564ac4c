/* SPDX-License-Identifier: BSD-3-Clause */
/* mlictl run: runs jobs on a service inside this process. */
#include "cli/command.h"
#include "cli/job/execute.h"
#include "cli/job/job_report.h"
#include "cli/job/sequence.h"
#include "cli/link/daemon_link.h"
#include "cli/link/embedded.h"
#include "daemon/service.h"

enum { CHANNELS_MIN = 4 };

static const struct option options_table[] = {
    EMBEDDED_OPTIONS("as many as the jobs ask for, at least 4"),
    EMBEDDED_LIMIT_OPTION,
    PROFILE_OPTION,
    EXECUTE_OPTIONS,
    SEQUENCE_OPTIONS,
    OPTIONS_COMMON,
};

static enum exit_code run(const struct options *options)
{
    struct sequence sequence;
    struct daemon_link link = {0};
    struct service_thread *service = NULL;
    struct job_progress progress;
    struct execution execution = {
        .link = &link, .progress = &progress, .sync = options_get(options, "sync") != NULL};
    struct fault fault;
    uint32_t channels = 0;

    if (embedded_channels(options, &channels))
        return EXIT_CODE_INVALID;
    enum exit_code code = sequence_init(&sequence, options);
    if (code != EXIT_CODE_DONE)
        goto out;
    if (channels == 0) /* --channels was not given */
        channels = sequence_channels(&sequence) > CHANNELS_MIN ? sequence_channels(&sequence)
                                                               : CHANNELS_MIN;
    if (embedded_start(options, channels, &service, &link, &fault)) {
        code = print_failure(&sequence.style, NULL, &fault);
        goto out;
    }
    job_progress_follow(&progress, &link, &sequence.style);
    code = sequence_run(&sequence,
                        &(struct sequence_work){execution_run, job_report_outcome, &execution});
out:
    daemon_link_finish(&link);
    service_thread_stop(service);
    sequence_finish(&sequence);
    return code;
}

static const struct example examples[] = {
    {"run a job, and stop at the first failure of several",
     "mlictl run --fail-fast job.json jobs.json"},
    {"every transfer on its channels, however small",
     "mlictl run --engine threads:tiny=0 job.json"},
    {"with the memories and rules of a board", "mlictl run --profile vpx5-nsim job.json"},
    {"a job that a program writes", "mlictl run - < job.json"},
    {0},
};

const struct command cmd_run = {
    .name = "run",
    .arguments = "JOB.json...",
    .summary = "run jobs without a daemon",
    .details = "The same as submit, but the service runs inside this process and ends with it.\n",
    .options = options_table,
    .takes = &value_job_file,
    .examples = examples,
    .run = run,
};
