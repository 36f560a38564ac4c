/* SPDX-License-Identifier: BSD-3-Clause */
/* Jobs that are handed to a daemon and not waited for. */
#ifndef CLI_DETACH_H
#define CLI_DETACH_H

#include "cli/job/execute.h"

struct detach {
    struct client *client;
    const struct job_file *file; /* whose jobs' numbers these are */
    uint64_t *numbers;           /* owned; 0: not sent */
};

void detach_finish(struct detach *detach);

/** Hands a job of `file` over, `context` being a struct detach: as execution_run(), but that the
 *  outcome has the job's number and no result. */
void detach_job(void *context, const struct job_file *file, const struct job_spec *job,
                struct outcome *outcome);

#endif /* CLI_DETACH_H */
