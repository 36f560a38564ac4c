/* SPDX-License-Identifier: BSD-3-Clause */
/* Changes the file names of a job, so that they are right in a job file of another directory. */
#pragma once

#include "proto/file/job_file.h"

/**
 * Rewrites the relative file names of the job, which are relative to the working directory, so
 * that they name the same files from the job file `path`, whose directory must exist. ".." is
 * written only for real directories, never for links. Returns 0 or -1.
 */
int relocate(struct job_spec *job, const char *path, struct fault *fault);
/** Rewrites one name, a string on the heap; null stays null. */
int relocate_name(char **name, const char *path, struct fault *fault);
