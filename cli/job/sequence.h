/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The jobs of a command line, one after the other. Every file is read and checked before the first
 * job begins. A job whose predecessor failed is skipped, others go on.
 */
#ifndef CLI_SEQUENCE_H
#define CLI_SEQUENCE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "cli/job/execute.h"
#include "cli/job/job_files.h"
#include "cli/options.h"
#include "cli/term/print.h"

struct sequence {
    struct print_style style;
    bool fail_fast;
    struct job_file *files;
    size_t file_count;
};

/* What is done with each job, and how that is told. */
struct sequence_work {
    void (*job)(void *context, const struct job_file *file, const struct job_spec *job,
                struct outcome *outcome);
    void (*report)(const struct print_style *style, const struct job_file *file,
                   const struct job_spec *job, const struct outcome *outcome);
    void *context;
    /* Null: all jobs are. Others are worked through too, for those that need them, but what becomes
       of them is not reported and does not count. */
    bool (*wanted)(void *context, const struct job_file *file, const struct job_spec *job);
};

/** Loads the job files that are the command's arguments; says what is wrong with each of them. */
enum exit_code sequence_init(struct sequence *sequence, const struct options *options);
void sequence_finish(struct sequence *sequence);

/**
 * Works through all jobs. Returns the first exit code other than EXIT_CODE_DONE, in the order in
 * which the jobs ran. A lost connection or a cancel ends it.
 */
enum exit_code sequence_run(struct sequence *sequence, const struct sequence_work *work);

/** The most channels that one of the jobs asks for. */
uint32_t sequence_channels(const struct sequence *sequence);

/** Options of every command that takes job files. */
#define SEQUENCE_OPTIONS                                                                           \
    {                                                                                              \
        "fail-fast", 0, NULL, "Stop at the first job that fails."                                  \
    }

#endif /* CLI_SEQUENCE_H */
