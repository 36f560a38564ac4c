/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef CLI_BATCH_STATE_FILE_H
#define CLI_BATCH_STATE_FILE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "cli/batch/result.h"
#include "proto/json/fault.h"

/*
 * A state file, read: what became of cases in the runs that were given it with --resume.
 *
 *     {"event":"begin",...}     struct batch_outline: what a run is going to do
 *     {"event":"case",...}      struct case_result: as cases end
 *     {"event":"end",...}       struct batch_summary; not there where the run was killed
 *     {"event":"begin",...}     the next run
 *
 * The newest line of a name counts. Lines of a run are *current* as long as no run begins anew: one
 * of other cases than the run before, or one that does a case again which stands there. It writes
 * again what it takes over, so that current lines alone tell what became of the last run's cases.
 */
struct state_record {
    struct case_result result;
    size_t line;  /* of the file, from 1 */
    bool current; /* of a run since one began anew */
};

struct state {
    bool begun;                   /* a run has begun in it */
    struct batch_outline outline; /* of the last run */
    uint64_t ns;                  /* of the runs since one began anew, as far as told */
    struct state_record *records; /* by name, one for each */
    size_t count;
    off_t whole;  /* bytes up to the end of the last whole line: what follows was cut off */
    bool foreign; /* what follows is no beginning of a line that a run writes */
};

/**
 * Reads a state file that is open. A last line without its newline is what a run was killed at and
 * is left out; any other line that is none of the three is a fault, with its line.
 * Returns 0 or -1; state_finish() is legal after both.
 */
int state_read(struct state *state, int fd, struct fault *fault);
/** The same of a regular file by its name. */
int state_load(struct state *state, const char *path, struct fault *fault);
void state_finish(struct state *state);

/** What became of a case; null where it is not in there. */
struct state_record *state_find(const struct state *state, const char *name);

/*
 * A state file, written: a line for each case as it ends. A line is written at once and whole, or
 * taken back, so that a run that is killed loses the cases that were under way and no others.
 *
 *     state_file_open(&journal, path, &fault)      made, or read; locked
 *     state_file_begin(&journal, &outline, &fault)
 *     state_file_keep(...)                         for each case that is not run again
 *     state_file_add(...)                          for each case that ends
 *     state_file_end(&journal, &summary, &fault)
 */
struct state_file {
    const char *path; /* borrowed */
    int fd;
    off_t size;
    bool anew;          /* this run does not just go on where the one before it was */
    struct state state; /* what stood in it */
};

/**
 * Opens or makes the file and takes its lock, which state_file_close() gives back; refuses at once
 * where another run has it. Reads what stands in it. Returns 0 or -1; state_file_close() is legal
 * after both.
 */
int state_file_open(struct state_file *state_file, const char *path, struct fault *fault);

int state_file_begin(struct state_file *state_file, const struct batch_outline *outline,
                     struct fault *fault);
/** A case that this run takes over from `journal->state`: written again only where it must be. */
int state_file_keep(struct state_file *state_file, const struct case_result *result,
                    struct fault *fault);
int state_file_add(struct state_file *state_file, const struct case_result *result,
                   struct fault *fault);
int state_file_end(struct state_file *state_file, const struct batch_summary *summary,
                   struct fault *fault);

void state_file_close(struct state_file *state_file);

#endif /* CLI_BATCH_STATE_FILE_H */
