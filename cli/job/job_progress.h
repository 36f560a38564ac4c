/* SPDX-License-Identifier: BSD-3-Clause */
/* The progress of one job on a terminal, from the events of the service (meter.h). */
#ifndef CLI_JOB_PROGRESS_H
#define CLI_JOB_PROGRESS_H

#include "cli/job/job_files.h"
#include "cli/link/daemon_link.h"
#include "cli/term/meter.h"
#include "cli/term/print.h"

enum { JOB_PROGRESS_LABEL_MAX = 192 };

struct job_progress {
    struct print_style style;
    bool subscribed;
    char label[JOB_PROGRESS_LABEL_MAX];
    struct meter meter;
};

/**
 * Subscribes to the progress of the connection's jobs, if a meter would show a line. The
 * connection must have no other subscription, and `progress` must outlive it. If the service
 * refuses, no progress is shown.
 */
void job_progress_follow(struct job_progress *progress, struct daemon_link *link,
                         const struct print_style *style);

/** Call these at the begin and end of each job, one job at a time. `progress` may be null. */
void job_progress_begin(struct job_progress *progress, const struct job_file *file,
                        const struct job_spec *job);
void job_progress_end(struct job_progress *progress);

#endif /* CLI_JOB_PROGRESS_H */
