/* SPDX-License-Identifier: BSD-3-Clause */
/* mlictl run: runs jobs on a service inside this process. */
#include "boards/link/board_address.h"
#include "cli/cmd/command.h"
#include "cli/job/job_rules.h"
#include "cli/job/outcome.h"
#include "cli/link/daemon_link.h"
#include "cli/link/embedded.h"
#include "cli/link/tuning_choice.h"
#include "cli/run/execute.h"
#include "cli/run/sequence.h"
#include "daemon/service.h"

enum { CHANNELS_MIN = 4 };

static const struct option options_table[] = {
    EMBEDDED_OPTIONS("as many as the jobs ask for, at least 4"),
    EMBEDDED_LIMIT_OPTION,
    {"host", 'H', "URL",
     "Run the jobs on the board at qemu:BOARD or serial:PATH (default: in this process)."},
    PROFILE_OPTION,
    TUNING_OPTION,
    EXECUTE_OPTIONS,
    SEQUENCE_OPTIONS,
    OPTIONS_COMMON,
};

/* The jobs of the command, and the rules of --profile. */
struct run {
    struct execution execution;
    struct job_rules rules;
};

/* Called for each job that moved its data. */
static void advise(void *context, const struct job_file *file, const struct resolved *resolved,
                   struct outcome *outcome)
{
    job_rules_advise(context, file, resolved, NULL, &outcome->remarks);
}

static int begin_file(void *context, const struct job_file *file, struct fault *fault)
{
    struct run *run = context;

    if (execution_begin(&run->execution, file, fault))
        return -1;
    return run->rules.profile ? job_rules_begin(&run->rules, file, fault) : 0;
}

static void end_file(void *context)
{
    struct run *run = context;

    job_rules_end(&run->rules);
    execution_end(&run->execution);
}

static void run_job(void *context, const struct job_file *file, const struct job_spec *job,
                    struct outcome *outcome)
{
    struct run *run = context;

    execution_run(&run->execution, file, job, outcome);
}

/* Starts the service in this process, or opens the board of --host. */
static int start(const struct options *options, uint32_t channels, struct service_thread **service,
                 struct daemon_link *link, struct fault *fault)
{
    static const char *const of_service[] = {"engine", "channels", "limit-bytes", "profile",
                                             "tuning"};
    const char *url = options_get(options, "host");

    if (!url)
        return embedded_start(options, channels, service, link, fault);
    if (!board_address_is(url))
        return fault_set(fault, FAULT_INVALID_PARAMS, NULL,
                         "--host %.128s: qemu:BOARD or serial:PATH is needed; `mlictl submit` runs "
                         "jobs on a daemon",
                         url);
    for (size_t i = 0; i < sizeof(of_service) / sizeof(of_service[0]); i++) {
        if (options_get(options, of_service[i]))
            return fault_set(fault, FAULT_INVALID_PARAMS, NULL,
                             "--%s cannot be combined with --host: give channels=N and "
                             "engine=SPEC in the URL, as in qemu:zynq,channels=2",
                             of_service[i]);
    }
    return daemon_link_open_any(link, options, fault);
}

static enum exit_code run_all(const struct options *options)
{
    struct sequence sequence;
    struct daemon_link link = {0};
    struct service_thread *service = NULL;
    struct job_progress progress;
    struct run run = {.execution = {.link = &link,
                                    .progress = &progress,
                                    .sync = options_get(options, "sync") != NULL}};
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
    if (start(options, channels, &service, &link, &fault) ||
        job_rules_init(&run.rules, options, &fault)) {
        code = print_failure(&sequence.style, NULL, &fault);
        goto out;
    }
    job_progress_follow(&progress, &link, &sequence.style);
    if (run.rules.profile) {
        run.execution.moved = advise;
        run.execution.profile = run.rules.profile;
        run.execution.context = &run.rules;
    }
    code = sequence_run(&sequence, &(struct sequence_work){run_job, job_report_outcome, &run,
                                                           begin_file, end_file});
out:
    job_rules_finish(&run.rules);
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
    {"on a board that QEMU emulates", "mlictl run -H qemu:sifive_u job.json"},
    {"a job generated by a program", "mlictl run - < job.json"},
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
    .run = run_all,
};
