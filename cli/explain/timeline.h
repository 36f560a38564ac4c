/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The timeline of the explained jobs on a board, by the cost model (target/cost/schedule.h): the
 * total time for people and programs, and a trace for Perfetto. Jobs of one file respect "after";
 * the jobs of a later file are placed after those of the files before.
 */
#ifndef CLI_TIMELINE_H
#define CLI_TIMELINE_H

#include <stddef.h>

#include "cli/explain/explained_board.h"
#include "cli/job/job_files.h"
#include "proto/json/textw.h"
#include "proto/wire/chrome_trace.h"
#include "target/cost/schedule.h"

struct timeline {
    const struct target_profile *profile;
    struct schedule schedule;
    size_t jobs;
    const struct job_file *file; /* file of the latest job */
    profile_cost file_ready;     /* end of the files before */
    profile_cost *ends;          /* ends of the jobs of `file`, by index; owned */
    struct chrome_trace chrome;
    struct textw trace; /* the trace, in the trace event format */
};

/** Begins an empty timeline. Finish it with timeline_finish(). */
void timeline_init(struct timeline *timeline, const struct target_profile *profile);
void timeline_finish(struct timeline *timeline);

/** Adds the job `index` of a file. Out of memory: sets timeline->trace.failed. */
void timeline_add(struct timeline *timeline, const struct job_file *file, size_t index,
                  const struct explained_board *board);

/** Writes the sum of all jobs, for people and as one object. */
void timeline_text(struct textw *w, const struct timeline *timeline);
void timeline_json(struct jsonw *w, const struct timeline *timeline);

/** Writes the trace to a file. Returns 0, or -1 with the fault. Call it once, after the last job.
 */
int timeline_save(struct timeline *timeline, const char *path, struct fault *fault);

#endif /* CLI_TIMELINE_H */
