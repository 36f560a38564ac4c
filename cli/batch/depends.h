/* SPDX-License-Identifier: BSD-3-Clause */
/* The files that a case reads, and whether they are still what they were. */
#ifndef CLI_BATCH_DEPENDS_H
#define CLI_BATCH_DEPENDS_H

#include "cli/batch/basis.h"
#include "cli/batch/contents.h"
#include "cli/job/job_files.h"

/**
 * Notes what the jobs of the file read, but for the outputs of jobs before them. *basis is empty
 * before; it stays unknown where there is no memory, or the files are too many. basis_finish() when
 * done.
 */
void depends_begin(struct basis *basis, const struct job_file *file, struct contents *contents);

/** After the jobs have run: marks the files that changed meanwhile. */
void depends_end(struct basis *basis, const struct job_file *file, struct contents *contents);

/**
 * Returns the first file of the basis that changed, or NULL. `path` is the job file, to which names
 * are relative. *how becomes the verb for messages: "changed", "is missing now", "is there now".
 */
const struct basis_file *depends_changed(const struct basis *basis, const char *path,
                                         struct contents *contents, const char **how);

#endif /* CLI_BATCH_DEPENDS_H */
