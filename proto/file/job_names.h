/* SPDX-License-Identifier: BSD-3-Clause */
/* Names of a file's jobs and the order that "after" puts them into. Private to proto/. */
#ifndef PROTO_JOB_NAMES_H
#define PROTO_JOB_NAMES_H

#include "proto/file/job_file.h"

/**
 * Requires that no name is used twice, that every "after" names a job of the list, once, and that
 * no job waits for itself by way of others. Pointers are from the file's root. Returns 0 or -1.
 */
int job_names_check(const struct job_list *list, struct fault *fault);

#endif /* PROTO_JOB_NAMES_H */
