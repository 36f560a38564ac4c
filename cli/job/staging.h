/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A job with "stage", as a board carries it out: three jobs through two buffers in the memory that
 * "stage" names.
 *
 *     load     pad, crop and subsample: from src to the first buffer
 *     permute  the op of the job: from the first buffer to the second buffer
 *     store    place: from the second buffer to dst
 *
 * Both buffers hold exactly the elements that the job writes, packed.
 */
#pragma once

#include "cli/job/job_files.h"
#include "cli/job/resolve.h"
#include "proto/wire/wire_limits.h"
#include "target/profile/target_profile.h"

enum { STAGING_LOAD, STAGING_PERMUTE, STAGING_STORE, STAGING_STEPS };

struct staging {
    /* The three jobs; the buffers of the job's file, followed by the two staging buffers. */
    struct job_file file;
    struct job_spec jobs[STAGING_STEPS]; /* members are borrowed from the job */
    char names[STAGING_STEPS][PROTO_NAME_MAX];
};

/**
 * Divides a job that *whole has resolved into its three steps, which are jobs. `file` is its job
 * file. Returns 0 or -1; call staging_finish() after both.
 */
int staging_init(struct staging *stage, const struct job_file *file, const struct resolved *whole,
                 struct fault *fault);
void staging_finish(struct staging *stage);

/**
 * Checks that the memory of the stage has space for the two buffers if nothing else is there.
 * Returns 0, also without a profile or for an unknown memory; or -1 with FAULT_REFUSED at /stage
 * (rule capacity).
 */
int staging_check_capacity(const struct staging *stage, const struct target_profile *profile,
                           struct fault *fault);

/** Turns a fault of job_buffers_extend() or buffer_places_init() into a fault of the job's member
 * "stage". Returns -1. */
int staging_blame(struct fault *fault);
/** Turns a fault about a buffer of a step into a fault of "stage". Returns -1. */
int staging_blame_step(struct fault *fault, int step);
