/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Jobs as C for firmware. c_function() writes a job: tensors and cfg as initialisers, with the
 * calls of embARC MLI. The text follows from the resolved job alone; the plan of libmli has no
 * part in it. c_sequence_write() writes a function that calls the functions of all jobs of a file
 * in the order in which they were printed, which respects "after". A buffer in a memory of the
 * board becomes a constant address, any other buffer an array; the caller gives the addresses of
 * files.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "cli/job/buffer_places.h"
#include "cli/job/explained.h"
#include "cli/job/job_files.h"
#include "proto/json/jsonw.h"

struct c_call;

/** Writes the start of the C file: a comment that names `command`, such as "explain", and the lines
 * that include headers. */
void c_function_begin(struct textw *w, const char *command);

/**
 * Writes the function of a job. `number` is its number in the output, from 0, for the names of
 * functions: "move_tile0" for the job "tile0", or "move_3" for a job without a name. If the name
 * has other characters than letters, digits and '_', or another function may have the same name, it
 * is "move3_tile0".
 */
void c_function(struct textw *w, const struct explained *explained, const struct resolved *resolved,
                size_t number);

struct c_sequence {
    struct c_call *calls;
    size_t count, capacity;
    size_t buffers; /* number of buffers of the jobs */
    bool failed;    /* true: out of memory */
};

/** Frees the calls; accepts zeros. Afterwards the sequence is empty. */
void c_sequence_finish(struct c_sequence *sequence);

/**
 * Adds a call of one of the functions that c_function() wrote: the function with this number.
 * `file` has the buffers of the job; `buffers` has their places in memory, or is null without a
 * profile. Borrows strings of `file` and `buffers`.
 */
void c_sequence_add(struct c_sequence *sequence, const struct explained *explained,
                    const struct resolved *resolved, const struct job_file *file,
                    const struct buffer_places *buffers, size_t number);

/** Writes the function move_all(), or move_all_N() if `number` is not null. */
void c_sequence_write(struct textw *w, const struct c_sequence *sequence, const char *path,
                      const size_t *number);
