/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A C function that calls the functions of all jobs of a file (c_function.h), in the order in which
 * they were printed: that of "after". Buffers in a memory of the board have their addresses there
 * as constants, other buffers become arrays, and the caller gives the addresses of files.
 */
#ifndef CLI_C_SEQUENCE_H
#define CLI_C_SEQUENCE_H

#include "cli/explain/c_function.h"
#include "cli/job/buffer_places.h"
#include "cli/job/job_files.h"

struct c_call;

struct c_sequence {
    struct c_call *calls;
    size_t count, capacity;
    bool failed; /* out of memory */
};

/** Frees the calls; legal for zeros. The sequence is empty then. */
void c_sequence_finish(struct c_sequence *sequence);

/**
 * Adds the call of the function that c_function() wrote with this number. `file` has the buffers of
 * the job, `buffers` their places, or null places without a profile. Borrows strings of both.
 */
void c_sequence_add(struct c_sequence *sequence, const struct explained *explained,
                    const struct resolved *resolved, const struct job_file *file,
                    const struct buffer_places *buffers, size_t number);

/** Writes the function move_all(), or move_all_N() if `number` is not null. */
void c_sequence_write(struct textw *w, const struct c_sequence *sequence, const char *path,
                      const size_t *number);

#endif /* CLI_C_SEQUENCE_H */
