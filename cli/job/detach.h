/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Detached jobs: resolved (resolve.h), sent to the service (submission.h) and left to the daemon,
 * which fills the output later. A job whose source is the output of an earlier one waits for it, as
 * if it had "after".
 */
#ifndef CLI_DETACH_H
#define CLI_DETACH_H

#include <stdint.h>
#include <sys/types.h>

#include "cli/job/job_buffers.h"
#include "cli/job/job_files.h"
#include "cli/job/job_rules.h"
#include "cli/job/outcome.h"
#include "cli/job/races.h"
#include "cli/link/daemon_link.h"

/** A file that a detached job fills. */
struct detached_output {
    dev_t device;
    ino_t inode;
    uint64_t number; /* of the job, at the daemon; 0: the daemon has not taken it */
};

/** Detached jobs of one daemon. */
struct detach {
    struct daemon_link *link;
    const struct print_style *style; /* of warnings */
    const struct job_file *file;     /* the job file of `numbers` */
    uint64_t *numbers;               /* numbers of the jobs at the daemon; owned; 0: not sent */
    struct job_buffers buffers;      /* of `file`; detached jobs keep the memory that they use */
    struct job_rules *rules;         /* as in struct execution */
    struct races races;              /* of `file` */
    struct detached_output *outputs; /* of all files; owned */
    size_t output_count, output_capacity;
};

void detach_finish(struct detach *detach);

/** Like execution_begin() and execution_end(); `context` is a struct detach. */
int detach_begin(void *context, const struct job_file *file, struct fault *fault);
void detach_end(void *context);

/**
 * Sends a job of `file` and does not wait for it, `context` being a struct detach. As
 * execution_run(), but the outcome has the job's number and no result.
 */
void detach_job(void *context, const struct job_file *file, const struct job_spec *job,
                struct outcome *outcome);

#endif /* CLI_DETACH_H */
