/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The state file of --resume: one line of JSON for each event.
 *
 *     {"event":"begin",...}     struct batch_outline: the cases of a run
 *     {"event":"case",...}      struct case_result, with its fingerprint: a case has ended
 *     {"event":"end",...}       struct batch_summary; missing if the run was killed
 *     {"event":"begin",...}     the next run
 *
 * A run of `mlictl batch -` begins before its cases are known: its "begin" has "open":true, and a
 * line {"event":"outline",...}, the struct batch_outline of the cases, follows when the input has
 * ended.
 *
 * Of several lines for a case, only the last counts. A run that continues the previous run appends
 * only new results. A run *starts over* if its set of cases differs from that of the previous run,
 * or if it repeats a case that already has a result. It then also writes every result that it
 * reuses. The lines from the "begin" of the latest such run on are *current*: only they are results
 * of the last run, and `merge` reads only them.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "cli/report/result.h"
#include "proto/json/fault.h"

struct state_record {
    struct case_result result;
    size_t line; /* number of the line in the file, from 1 */
    bool current;
};

/* The lines of a state file. */
struct state {
    bool begun;                   /* the file has a "begin" line */
    struct batch_outline outline; /* outline of the last run */
    uint64_t ns;                  /* duration of the current runs, as their "end" lines say */
    struct state_record *records; /* sorted by name, one for each name */
    size_t count;
    off_t whole;  /* bytes up to the end of the last complete line */
    bool foreign; /* the incomplete last line is not the beginning of a line of a state file */
};

/**
 * Reads an open state file. Ignores an incomplete last line, which a killed run leaves, and lines
 * with zero bytes, which a power cut leaves. Returns 0, or -1 with the number of the invalid line
 * in the fault. state_finish() is legal in both cases.
 */
int state_read(struct state *state, int fd, struct fault *fault);
/** Opens and reads the regular file `path`. Returns the same values as state_read(). */
int state_load(struct state *state, const char *path, struct fault *fault);
void state_finish(struct state *state);

/** Returns the record of a case, or NULL. */
struct state_record *state_find(const struct state *state, const char *name);

/*
 * A state file that a run writes (state_file.c). Each line is written completely or removed again,
 * so a run that is killed loses only the cases that had not ended. "begin" is synced to storage
 * before other lines follow, because it says what the lines before it mean. The other lines are
 * synced each second: a power cut may take them.
 *
 *     state_file_open(&state_file, path, &fault)       creates or reads the file; takes its lock
 *     state_file_begin(&state_file, &outline, &fault)
 *     state_file_keep(...)                             for each earlier result that is reused
 *     state_file_add(...)                              for each case that ends
 *     state_file_tick(...)                             several times a second
 *     state_file_end(&state_file, &summary, &fault)
 */
struct state_file {
    const char *path; /* borrowed */
    int fd;
    off_t size, synced; /* bytes of complete lines; bytes that are synced to storage */
    uint64_t next_sync; /* clock_ns() */
    bool anew;          /* true: this run starts over */
    struct state state; /* the lines before this run */
};

/**
 * Opens or creates the file, takes its lock and reads it. Refuses a file that another run has
 * locked, without waiting. Returns 0 or -1; state_file_close() is required in both cases.
 */
int state_file_open(struct state_file *state_file, const char *path, struct fault *fault);

int state_file_begin(struct state_file *state_file, const struct batch_outline *outline,
                     struct fault *fault);
/** Writes a result that was reused from state_file->state again. Does nothing unless this run
 * starts the file over. */
int state_file_keep(struct state_file *state_file, const struct case_result *result,
                    struct fault *fault);
int state_file_add(struct state_file *state_file, const struct case_result *result,
                   struct fault *fault);
/** Syncs the lines to storage if the next sync is due. Call it several times a second. */
int state_file_tick(struct state_file *state_file, struct fault *fault);
/** Writes which cases an open run had, after its last case. */
int state_file_outline(struct state_file *state_file, const struct batch_outline *outline,
                       struct fault *fault);
int state_file_end(struct state_file *state_file, const struct batch_summary *summary,
                   struct fault *fault);

void state_file_close(struct state_file *state_file);
