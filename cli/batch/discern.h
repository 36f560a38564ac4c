/* SPDX-License-Identifier: BSD-3-Clause */
/* Which JSON is a job file, and which is something else that lies beside them. */
#ifndef CLI_BATCH_DISCERN_H
#define CLI_BATCH_DISCERN_H

#include <stdbool.h>
#include <stddef.h>

/**
 * Whether a text is a job file, or was meant to be one: an object, or one of an array, has a member
 * that job files have; or it is no JSON at all.
 */
bool discern_job_file(const char *text, size_t length);

#endif /* CLI_BATCH_DISCERN_H */
