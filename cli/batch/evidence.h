/* SPDX-License-Identifier: BSD-3-Clause */
/* What is needed to do a failed job again, held until it is known whether the case stays failed. */
#ifndef CLI_BATCH_EVIDENCE_H
#define CLI_BATCH_EVIDENCE_H

#include "cli/job/outcome.h"
#include "cli/job/produced.h"
#include "cli/job/resolve.h"

/* A file that the job reads. */
struct exhibit {
    char *path; /* as this process opens it */
    int fd;     /* of the file; -1: it has to be opened */
};

struct evidence {
    const struct job *job; /* null: there is none; belongs to the attempt */
    struct exhibit source, golden, before;
    int given; /* the whole output file; -1: there is none */
};

void evidence_init(struct evidence *evidence);

/**
 * Takes what is open of a job that failed. `produced` are the outputs of the jobs before it. What
 * there are no descriptors or no memory for is left out.
 */
void evidence_take(struct evidence *evidence, const struct resolved *resolved,
                   const struct produced *produced, const struct outcome *outcome);

void evidence_finish(struct evidence *evidence);

#endif /* CLI_BATCH_EVIDENCE_H */
