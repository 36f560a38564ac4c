/* SPDX-License-Identifier: BSD-3-Clause */
/* Names of the jobs of a file, and references to them in "after". Private to proto/. */
#ifndef PROTO_JOB_NAMES_H
#define PROTO_JOB_NAMES_H

#include "proto/file/job_file.h"

/**
 * Requires unique names, that each entry of an "after" names a job of the list and is unique, and
 * that "after" has no cycle. Fault pointers are relative to the file's root. Returns 0 or -1.
 */
int job_names_check(const struct job_list *list, struct fault *fault);

#endif /* PROTO_JOB_NAMES_H */
