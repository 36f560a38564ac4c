/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A state file, read: what became of cases in the runs that were given it with --resume. journal.h
 * writes it.
 *
 *     {"event":"begin",...}     outline.h: what a run is going to do
 *     {"event":"case",...}      result.h, with the fingerprint: as cases end
 *     {"event":"end",...}       summary.h; not there where the run was killed
 *     {"event":"begin",...}     the next run
 *
 * The newest line of a name counts. Lines of a run are *current* as long as no run begins anew: one
 * of other cases than the run before, or one that does a case again which stands there. It writes
 * again what it takes over, so that current lines alone tell what became of the last run's cases.
 */
#ifndef CLI_BATCH_STATE_H
#define CLI_BATCH_STATE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "cli/batch/outline.h"
#include "cli/batch/result.h"
#include "proto/json/fault.h"

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

#endif /* CLI_BATCH_STATE_H */
