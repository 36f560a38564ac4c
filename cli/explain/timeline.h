/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The timeline of the explained jobs on a board, by the cost model (target/cost/schedule.h). Jobs
 * of one file respect "after"; the jobs of a later file are placed after those of the files before.
 *
 *     struct explained_board of each job -> timeline_add()
 *          -> timeline_report.c     totals for people and programs, of each file and of all
 *          -> timeline_trace.c      a trace for Perfetto
 *          -> timeline_chart.c      a drawing (timeline_chart.h)
 *
 * All three show a measured timeline (measured.h) beside the model's, if there is one.
 */
#ifndef CLI_TIMELINE_H
#define CLI_TIMELINE_H

#include <stddef.h>

#include "cli/explain/job_board.h"
#include "cli/explain/measured.h"
#include "cli/explain/timeline_chart.h"
#include "cli/job/buffer_places.h"
#include "cli/job/job_files.h"
#include "proto/json/textw.h"
#include "target/cost/schedule.h"

/* Sums of jobs: those of one file, or all. */
struct timeline_total {
    const struct job_file *file; /* null: all files */
    size_t jobs;
    uint64_t bytes, descriptors;
    profile_cost start, end; /* of the first and last job */
    profile_cost sum;        /* the sum of the times of all jobs */
    profile_cost memcpy;     /* the time of memcpys by the core instead */
};

/* The use of a buffer in a memory, from a write to the last read before the next write. */
struct buffer_life {
    uint64_t start_ns, end_ns; /* end_ns 0: no use */
    bool read;                 /* the buffer was read since it was written */
    uint32_t memory;           /* index of the memory */
    uint64_t bytes;
};

struct timeline {
    const struct target_profile *profile;
    struct schedule schedule; /* of the DMA channels */
    struct schedule core;     /* of the jobs that the core does without a descriptor */
    bool has_core;            /* there is such a job; its lane follows those of the channels */
    struct timeline_total all;
    struct timeline_total *files;
    size_t file_count;
    struct timeline_slot *slots; /* one for each job; `after` of each is owned */
    uint64_t *bytes;             /* bytes that each job writes */
    size_t slot_count, slot_capacity;
    struct timeline_use *uses; /* at most three for each job */
    size_t use_count;
    size_t *slot_of; /* slots of the jobs of the latest file by their index, or SIZE_MAX */
    profile_cost *ends;
    struct buffer_life *lives;       /* of the buffers of the latest file */
    const struct measured *measured; /* a measured timeline, or null; borrowed */
    bool failed;                     /* out of memory */
};

/** Begins an empty timeline. Finish it with timeline_finish(), which is legal for zeros too. */
void timeline_init(struct timeline *timeline, const struct target_profile *profile);
void timeline_finish(struct timeline *timeline);

/** Adds the job `index` of a file; borrows its strings. Out of memory: sets timeline->failed. */
void timeline_add(struct timeline *timeline, const struct job_file *file, size_t index,
                  const struct explained_board *board);

/** Adds a job that was resolved, unless it cannot be on the board. */
void timeline_predict(struct timeline *timeline, const struct job_board_context *context,
                      const struct resolved *resolved);

/** Ends the use of all buffers. Call it after the last job, before the functions below. */
void timeline_end(struct timeline *timeline);

/** Writes the sums of all jobs, for people and as one object. */
void timeline_text(struct textw *w, const struct timeline *timeline);
void timeline_json(struct jsonw *w, const struct timeline *timeline);

/** Writes the trace: model and measured timeline as two processes. */
void timeline_trace(struct textw *w, const struct timeline *timeline);

/**
 * Writes the trace to a file, or to standard output if `path` is "-". Replaces an existing file
 * only if it is empty or a trace. Returns 0, or -1 with the fault.
 */
int timeline_trace_save(const struct timeline *timeline, const char *path, struct fault *fault);

/** Draws the timeline to an SVG file, or to standard output if `path` is "-". Returns 0, or -1 with
 * the fault. */
int timeline_draw(const struct timeline *timeline, const char *path, struct fault *fault);

#endif /* CLI_TIMELINE_H */
