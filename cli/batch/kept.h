/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The directory of --keep: which of its directories this tool has made, and their removal.
 *
 *     DIR/.kept         a line for each of them, relative to DIR
 *     DIR/.kept-files   large files that cases share by hard links, while a run lasts
 *     DIR/a/b           of case a/b: keep.h
 */
#ifndef CLI_BATCH_KEPT_H
#define CLI_BATCH_KEPT_H

#include <stdbool.h>
#include <stddef.h>
#include <time.h>

#include "fault.h"

#define KEPT_POOL ".kept-files"

/**
 * Notes that `place`, a directory below `directory`, was made, and, in a new list, whether
 * `directory` `is_ours` too: if not, it stays when it is empty. Returns 0 or -1.
 */
int kept_note(const char *directory, bool is_ours, const char *place, struct fault *fault);

/** Removes the files of a kept case from its directory, and no other files. */
void kept_forget(const char *place);

/* A case of the run that ends. */
struct kept_case {
    char *place; /* keep_place() of it; owned */
    bool in_use; /* the current result of the case refers to it */
};

/**
 * Removes what earlier runs kept of `cases` (by place, sorted by strcmp()) that are not in use, and
 * with `all` of cases that are not among them. What was kept since `begin` belongs to another run
 * and stays. Failures are ignored: what cannot be removed stays.
 */
void kept_clean(const char *directory, const struct kept_case *cases, size_t count, bool all,
                const struct timespec *begin);

/** Removes the names of shared files, when a run has ended. */
void kept_end(const char *directory);

#endif /* CLI_BATCH_KEPT_H */
