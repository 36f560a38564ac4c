/* SPDX-License-Identifier: BSD-3-Clause */
/* mlictl submit: runs jobs on a daemon. */
#include <string.h>

#include "cli/cmd/command.h"
#include "cli/job/job_rules.h"
#include "cli/job/outcome.h"
#include "cli/link/daemon_link.h"
#include "cli/run/execute.h"
#include "cli/run/sequence.h"
#include "proto/wire/methods.h"

static const struct option options_table[] = {
    {"detach", NULL, "Print the jobs' numbers and do not wait for the jobs."},
    {"profile", "NAME",
     "Require a daemon with this target profile, and check its rules first (default: none).",
     .takes = &value_profile},
    ANY_LINK_OPTIONS,
    EXECUTE_OPTIONS,
    SEQUENCE_OPTIONS,
    OPTIONS_COMMON,
};

/* Checks that the daemon has the profile of --profile: equal names and members. */
static int check_profile(struct daemon_link *link, const struct job_rules *rules,
                         struct fault *fault)
{
    char digest[PROFILE_DIGEST_SIZE];
    struct daemon_info info;

    if (!rules->profile)
        return 0;
    if (daemon_link_info(link, &info, fault))
        return -1;
    if (strcmp(info.profile, rules->profile->name) == 0) {
        profile_digest(digest, rules->profile);
        if (!*info.profile_digest || strcmp(info.profile_digest, digest) == 0)
            return 0;
        return fault_set(
            fault, FAULT_INVALID_PARAMS, NULL,
            "--profile: the daemon at %s has another version of \"%s\" (digest %s, "
            "given: %s); give the file that the daemon has read, or restart the daemon",
            link->where, info.profile, info.profile_digest, digest);
    }
    return fault_set(
        fault, FAULT_INVALID_PARAMS, NULL,
        "--profile: \"%s\" given, but the daemon at %s has %s%s%s; give the profile of "
        "the daemon, or start a daemon with `mlid --profile`",
        rules->profile->name, link->where, *info.profile ? "the profile \"" : "no target profile",
        info.profile, *info.profile ? "\"" : "");
}

static enum exit_code submit(const struct options *options)
{
    struct sequence sequence;
    struct daemon_link link = {0};
    struct job_progress progress;
    struct job_rules rules = {0};
    struct execution execution = {
        .link = &link, .progress = &progress, .sync = options_get(options, "sync") != NULL};
    struct detach detach = {.link = &link, .style = &sequence.style};
    struct fault fault;

    if (execution.sync && options_get(options, "detach"))
        return print_invalid(
            "--sync cannot be combined with --detach, which does not wait for the outputs");
    enum exit_code code = sequence_init(&sequence, options);
    if (code != EXIT_CODE_DONE)
        goto out;
    if (daemon_link_open_any(&link, options, &fault)) {
        const struct fault bare = fault;
        if (link.absent)
            fault_set(&fault, bare.code, NULL, "%s; `mlictl run` needs no daemon", bare.text);
        code = print_failure(&sequence.style, NULL, &fault);
        goto out;
    }
    if (options_get(options, "profile") &&
        (job_rules_init(&rules, options, &fault) || check_profile(&link, &rules, &fault))) {
        code = print_failure(&sequence.style, NULL, &fault);
        goto out;
    }
    for (size_t i = 0; options_get(options, "detach") && i < sequence.file_count; i++) {
        if (detach_check(&detach, &sequence.files[i], &fault)) {
            code = print_failure(&sequence.style, sequence.files[i].path, &fault);
            goto out;
        }
    }
    execution.rules = detach.rules = rules.profile ? &rules : NULL;
    job_progress_follow(&progress, &link, &sequence.style);
    if (options_get(options, "detach"))
        code = sequence_run(&sequence, &(struct sequence_work){detach_job, job_report_outcome,
                                                               &detach, detach_begin, detach_end});
    else
        code = sequence_run(&sequence,
                            &(struct sequence_work){execution_run, job_report_outcome, &execution,
                                                    execution_begin, execution_end});
    detach_finish(&detach);
out:
    job_rules_finish(&rules);
    daemon_link_finish(&link);
    sequence_finish(&sequence);
    return code;
}

const struct command cmd_submit = {
    .name = "submit",
    .arguments = "JOB.json...",
    .summary = "run jobs on a daemon",
    .details = "`-` is a job file on standard input; its paths are relative to the working\n"
               "directory. The paths of other job files are relative to the job file.\n"
               "With --detach, output files exist at once and are filled when their jobs run.\n",
    .options = options_table,
    .takes = &value_job_file,
    .examples = {{"on the daemon of this machine", "mlictl submit job.json"},
                 {"without waiting; mlictl jobs lists them later",
                  "mlictl submit --detach job.json"},
                 {"on a board", "mlictl submit -H ssh://root@board job.json"}},
    .run = submit,
};
