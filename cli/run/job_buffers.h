/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The buffers of a job file at the service: allocated before the first job of the file, released
 * after the last one, without being saved.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "cli/job/job_files.h"
#include "cli/job/resolve.h"
#include "cli/link/daemon_link.h"

struct job_buffers {
    struct daemon_link *link;
    mli_client_buffer *live; /* one entry for each buffer of the file, with id 0 if not allocated;
                                null: no buffers */
    size_t count, borrowed;  /* number of buffers; the first `borrowed` are not released */
    bool keep_fds; /* set by the caller: keep the descriptors, so that the caller can read the
                      buffers */
};

/** Refuses a file with buffers if the connection cannot hold buffers. Returns 0 or -1. */
int job_buffers_check_link(const struct job_file *file, bool remote, struct fault *fault);

/**
 * Allocates the buffers of `file`, first those with an address. *buffers must be empty except for
 * keep_fds; the caller calls job_buffers_end() even on failure. Returns 0, or -1 with the fault
 * and a pointer relative to the file.
 */
int job_buffers_begin(struct job_buffers *buffers, struct daemon_link *link,
                      const struct job_file *file, struct fault *fault);

/**
 * Borrows the buffers of `base`, and allocates the further buffers of `file`. The first buffers of
 * `file` are the buffers of `base`. Apart from that, like job_buffers_begin().
 */
int job_buffers_extend(struct job_buffers *buffers, const struct job_buffers *base,
                       struct daemon_link *link, const struct job_file *file, struct fault *fault);

/**
 * Releases the buffers and empties *buffers except for keep_fds. Jobs that still use a buffer keep
 * its memory.
 */
void job_buffers_end(struct job_buffers *buffers);

/** Returns a descriptor of the bytes of a buffer, which the caller closes; or -1. A board sends
 * the bytes; a daemon's buffers have descriptors only with keep_fds. */
int job_buffers_open(const struct job_buffers *buffers, size_t index);

/** Sets the numbers of the buffers that a job uses. */
void job_buffers_refer(const struct job_buffers *buffers, struct resolved *resolved);
