/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The directory DIR of --keep, which holds failed cases. Every kept case can run on any machine.
 *
 *     DIR/.kept          list of the directories that mlictl batch has made
 *     DIR/.kept-files    large files that kept cases share by hard links, while a run lasts
 *     DIR/a/b/           the kept case a/b
 *         job.json              the failed job alone, with the names of the files below
 *         source.*, golden.*    copies of the files that the job reads; for a source in a buffer,
 *                               the buffer's bytes
 *         out.*                 the job's output; for an update, the tensor before the update; for
 *                               an output in a buffer, the buffer's bytes
 *         golden.json           a copy of the file of expected parameters
 *         given.*, given.json   the result of the failed job; its parameters if they are compared
 *
 * A file that cannot be opened has no copy: job.json names the original file, and fails alike.
 *
 * A run writes and removes only directories that are in the list, and follows no symbolic links
 * below DIR.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <time.h>

#include "cli/batch/cases.h"
#include "cli/job/outcome.h"
#include "cli/job/produced.h"
#include "cli/job/resolve.h"
#include "proto/json/fault.h"

struct job_buffers;

/* How a run uses DIR. */
struct keeping {
    const char *directory; /* DIR; NULL: keep nothing */
    bool is_ours;          /* DIR did not exist when the run began */
    uint64_t origin;       /* kept_origin() of the run */
    bool sync;             /* sync files, because a state file will name them */
};

/* Evidence of a failed job: what kept_save() needs after the attempt, until the verdict. */

/* A file that the job reads. */
struct evidence_file {
    char *path; /* path with which this process opens the file */
    int fd;     /* open descriptor; -1: open the path */
};

struct evidence {
    const struct job_spec *job; /* owned by the attempt; NULL: no job failed */
    const struct buffer_spec *src_buffer, *dst_buffer;   /* owned by the attempt; or NULL */
    struct evidence_file source, golden, before, wanted; /* wanted: the expected parameters */
    uint32_t timeout_ms;                                 /* limit of the kept job; 0: no limit */
    int given;          /* descriptor of the complete output file; -1: the job has no result */
    char *given_params; /* text of the result's parameters; NULL: they are not compared */
    bool params_differ; /* the parameters are the difference */
    bool into_source, into_golden; /* the output is the same file, which is refused */
};

void evidence_init(struct evidence *evidence);

/**
 * Duplicates the descriptors of the files that a failed job has open, and of the buffers that it
 * uses. `produced` are the outputs of earlier jobs of the case. Leaves out a file if descriptors or
 * memory are exhausted.
 */
void evidence_take(struct evidence *evidence, const struct resolved *resolved,
                   const struct produced *produced, const struct job_buffers *buffers,
                   const struct outcome *outcome);

void evidence_finish(struct evidence *evidence);

/* The paths of the files of a kept case; heap strings, owned by this struct. */
struct kept {
    char *job;
    char *given; /* NULL: the job has no result */
};

/**
 * Keeps the case `name` below keeping->directory, which it creates if necessary. Returns 0 with
 * *kept filled, or -1 with *kept empty.
 */
int kept_save(const struct keeping *keeping, const char *name, const struct evidence *evidence,
              struct kept *kept, struct fault *fault);

/** Returns the path of the directory for the case `name`, which is always below `directory`. The
 * caller frees the path. NULL: out of memory. */
char *kept_place(const char *directory, const char *name);

/** Returns the origin of the cases that a run keeps: digests of working directory and PATHs. */
uint64_t kept_origin(char *const *paths, size_t count);

/** Returns whether `file` is in a listed directory: later runs replace and remove such files. */
bool kept_holds(const char *directory, const char *file);

/**
 * Removes the cases of `cases` that an earlier run kept and that pass now. With `all` also removes
 * cases that are not in `cases`, if the earlier run had equal PATHs. Never removes cases of runs in
 * another working directory, and none that were kept after `begin`, because a parallel run kept
 * them. Ignores failures to remove a file.
 */
void kept_clean(const struct keeping *keeping, const struct cases *cases, bool all,
                const struct timespec *begin);

/** Calls `unused` with the path of each kept job that belongs to none of the cases. */
void kept_list_unused(const struct keeping *keeping, const struct cases *cases,
                      void (*unused)(void *context, const char *path), void *context);

/** Removes DIR/.kept-files when a run has ended; the hard links in kept cases stay. */
void kept_end(const char *directory);
