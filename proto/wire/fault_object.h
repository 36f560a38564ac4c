/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The object "error" of a reply and of a job that failed. `job` is the number of the failed job,
 * 0 if the error belongs to no job.
 */
#pragma once

#include <stdint.h>

#include "proto/json/fault.h"
#include "proto/json/json.h"
#include "proto/json/jsonw.h"

void fault_object_write(struct jsonw *w, const char *key, const struct fault *fault, uint64_t job);
/** Reads the object "error". Returns 0, or -1 with error's fault filled. Skips unknown members. */
int fault_object_read(const struct json *error, struct fault *fault, uint64_t *job);
