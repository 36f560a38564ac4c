/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The timeline of the explained jobs on a board, by the cost model (target/cost/schedule.h). Jobs
 * of one file respect "after"; each file begins when the previous file has ended.
 *
 *     struct explained_board of each job -> timeline_add()
 *          -> timeline_text(), timeline_json()   totals of each file and of all files
 *          -> timeline_trace()                   a trace for Perfetto
 *          -> timeline_draw()                    a drawing (timeline_chart.h)
 *
 * All of them show a measured timeline (struct measured) beside the model's, if there is one.
 */
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "cli/explain/timeline_chart.h"
#include "cli/job/explained_board.h"
#include "cli/job/job_files.h"
#include "proto/json/fault.h"
#include "proto/json/json.h"
#include "proto/json/jsonw.h"
#include "target/cost/schedule.h"

/*
 * A measured timeline: the transfers in a trace that `mlictl trace` or mlid recorded
 * (proto/wire/chrome_trace.h). Times count from the start of the first transfer.
 */
struct measured {
    const char *path;            /* borrowed */
    struct timeline_slot *slots; /* slots in the order of their starts; a transfer on several
                                    channels has a slot on each */
    size_t slot_count;
    uint32_t channels;
    uint64_t end_ns;
    size_t matched;                       /* number of slots that measured_match() matched */
    struct json root;                     /* the trace; owns the names of the slots */
    const struct timeline_slot **by_name; /* all slots, by name and start */
};

/**
 * Reads a trace. Returns 0, or -1 with the fault: the file cannot be read, is not a trace, is the
 * trace of a model, or has no transfer. Call measured_finish() in both cases; it also accepts a
 * structure of zeros.
 */
int measured_load(struct measured *measured, const char *path, struct fault *fault);
void measured_finish(struct measured *measured);

/** Looks for a job with the name of each transfer. If there is one, the transfer gets the kind of
 * the job and is counted in `matched`. All other transfers keep the kind TIMELINE_OTHER. */
void measured_match(struct measured *measured, const struct timeline_slot *jobs, size_t count);

/* Sums over the jobs of one file, or over all jobs. */
struct timeline_total {
    const struct job_file *file; /* null: all files */
    size_t jobs;
    uint64_t bytes, descriptors;
    profile_cost start, end; /* start of the first job and end of the last job */
    profile_cost sum;        /* the sum of the times of all jobs */
    profile_cost memcpy;     /* the time that the core needs to move the same bytes by memcpy */
};

/* The use of a buffer in a memory, from a write to the last read before the next write. */
struct buffer_life {
    uint64_t start_ns, end_ns; /* time of the use; end_ns = 0: no use */
    bool read;                 /* the buffer was read since it was written */
    uint32_t memory;           /* index of the memory */
    uint64_t bytes;
};

struct timeline {
    const struct target_profile *profile;
    struct schedule schedule; /* schedule of the DMA channels */
    struct schedule core;     /* schedule of the jobs that the core does without a descriptor */
    bool has_core; /* true: `core` has a job; its lane follows the lanes of the channels */
    struct timeline_total all;
    struct timeline_total *files;
    size_t file_count;
    /* Array with one entry for each job; `after` of each entry is owned. */
    struct timeline_slot *slots;
    size_t slot_count, slot_capacity;
    struct timeline_use *uses; /* uses of buffers */
    size_t use_count, use_capacity;
    size_t *slot_of; /* slot of each job of the latest file, or SIZE_MAX */
    profile_cost *ends;
    struct buffer_life *lives;       /* for each buffer of the latest file, since when it is used */
    const struct measured *measured; /* a measured timeline, or null; borrowed */
    bool failed;                     /* out of memory */
};

/** Begins an empty timeline. timeline_finish() ends it, and also accepts a zeroed struct. */
void timeline_init(struct timeline *timeline, const struct target_profile *profile);
void timeline_finish(struct timeline *timeline);

/** Adds the job `index` of a file. Borrows the strings of the job. Out of memory: sets
 * timeline->failed. */
void timeline_add(struct timeline *timeline, const struct job_file *file, size_t index,
                  const struct explained_board *board);

/** Adds a resolved job, unless it cannot run on the board. */
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
