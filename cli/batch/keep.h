/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What is kept of a case that failed, in a directory of its own:
 *
 *     job.json        the failed job alone; `mlictl run` of it from anywhere does it again
 *     given.*         what it gave
 *     out.*           what the job writes when it is run again; what it updates
 *     source.*, golden.*   what it read, where that cannot be named: an output of a job before it
 */
#ifndef CLI_BATCH_KEEP_H
#define CLI_BATCH_KEEP_H

#include "evidence.h"

/**
 * Keeps it below `directory`, which is made if it is not there. Returns 0 with *kept the path of
 * the job file (heap), or -1.
 */
int keep_case(const char *directory, const char *name, const struct evidence *evidence, char **kept,
              struct fault *fault);

/** The directory of a case: `name` below `directory`, wherever its dots lead. Heap; null: no
 *  memory. */
char *keep_place(const char *directory, const char *name);

#endif /* CLI_BATCH_KEEP_H */
