/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A state file, written: a line for each case as it ends. A line is written at once and whole, or
 * taken back, so that a run that is killed loses the cases that were under way and no others.
 *
 *     journal_open(&journal, path, &fault)      made, or read; locked
 *     journal_begin(&journal, &outline, &fault)
 *     journal_keep(...)                         for each case that is not run again
 *     journal_add(...)                          for each case that ends
 *     journal_end(&journal, &summary, &fault)
 */
#ifndef CLI_BATCH_JOURNAL_H
#define CLI_BATCH_JOURNAL_H

#include <stdbool.h>
#include <sys/types.h>

#include "cli/batch/outline.h"
#include "cli/batch/result.h"
#include "cli/batch/state_file.h"
#include "cli/batch/summary.h"
#include "proto/json/fault.h"

struct journal {
    const char *path; /* borrowed */
    int fd;
    off_t size;
    bool anew;          /* this run does not just go on where the one before it was */
    struct state state; /* what stood in it */
};

/**
 * Opens or makes the file and takes its lock, which journal_close() gives back; refuses at once
 * where another run has it. Reads what stands in it. Returns 0 or -1; journal_close() is legal
 * after both.
 */
int journal_open(struct journal *journal, const char *path, struct fault *fault);

int journal_begin(struct journal *journal, const struct batch_outline *outline,
                  struct fault *fault);
/** A case that this run takes over from `journal->state`: written again only where it must be. */
int journal_keep(struct journal *journal, const struct case_result *result, struct fault *fault);
int journal_add(struct journal *journal, const struct case_result *result, struct fault *fault);
int journal_end(struct journal *journal, const struct batch_summary *summary, struct fault *fault);

void journal_close(struct journal *journal);

#endif /* CLI_BATCH_JOURNAL_H */
