/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Keeps a failed case in a directory of its own, from which the job runs on any machine:
 *
 *     job.json             the failed job alone, with the names of the files below
 *     source.*, golden.*   copies of the files that it reads
 *     out.*                the tensor that it updates; what it writes when it runs again
 *     given.*              its result
 */
#ifndef CLI_BATCH_KEEP_H
#define CLI_BATCH_KEEP_H

#include "cli/batch/evidence.h"
#include "cli/batch/kept.h"

/* Paths of what was kept, on the heap. */
struct kept {
    char *job;
    char *given; /* null: the job gave no result */
};

/**
 * Keeps the case `name` below keeping->directory, which is made if it does not exist. Returns 0
 * with *kept filled, or -1 with *kept empty.
 */
int keep_case(const struct keeping *keeping, const char *name, const struct evidence *evidence,
              struct kept *kept, struct fault *fault);

/** The directory of a case: `name` below `directory`, wherever its dots lead. Heap; null: no
 *  memory. */
char *keep_place(const char *directory, const char *name);

#endif /* CLI_BATCH_KEEP_H */
