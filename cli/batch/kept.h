/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The directory of --keep: makes the directories of cases in it, and removes those that mlictl
 * batch has made. Directories of others are never written and never removed, and symbolic links
 * below DIR are not followed.
 *
 *     DIR/.kept         lists what was made: kept_list.h
 *     DIR/.kept-files   large files that cases share by hard links, while a run lasts
 *     DIR/a/b           of case a/b: keep.h
 */
#ifndef CLI_BATCH_KEPT_H
#define CLI_BATCH_KEPT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <time.h>

#include "proto/json/fault.h"

#define KEPT_POOL ".kept-files"

/* The directory of --keep, as a run uses it. */
struct keeping {
    const char *directory; /* null: nothing is kept */
    bool is_ours;          /* it did not exist when the run began */
    uint64_t origin;       /* kept_origin() of the run */
};

/** The origin of what a run keeps: digests of its working directory and of its PATHs. */
uint64_t kept_origin(char *const *paths, size_t count);

/**
 * Opens the directory `place` of a case below the existing keeping->directory. Makes it and the
 * directories above it if they do not exist, and notes them in the list. Refuses a directory that
 * is not in the list, and symbolic links. Returns a descriptor, or -1.
 */
int kept_open(const struct keeping *keeping, const char *place, struct fault *fault);

/** Removes the files of a kept case from its open directory, and no other files. */
void kept_forget(int fd);

/** Removes the directory `place` of a case from keeping->directory, if it is empty. */
void kept_abandon(const struct keeping *keeping, const char *place);

/** Whether `file` is in a directory of the list, whose files later runs replace and remove. */
bool kept_holds(const char *directory, const char *file);

/** Opens DIR/.kept-files, made if `make` and it does not exist. Returns a descriptor or -1. */
int kept_open_pool(const char *directory, bool make);

/* A case of the run that ends. */
struct kept_case {
    char *place; /* keep_place() of it; owned */
    bool in_use; /* the case did not pass */
};

/**
 * Removes what earlier runs in the same working directory kept of `cases` (by place, sorted by
 * strcmp()) that are not in use. With `all` also removes other cases that runs of the same PATHs
 * kept there. Cases that were kept since `begin` belong to another run and stay. Failures are
 * ignored: what cannot be removed stays.
 */
void kept_clean(const struct keeping *keeping, const struct kept_case *cases, size_t count,
                bool all, const struct timespec *begin);

/** Removes the names of shared files, when a run has ended. */
void kept_end(const char *directory);

#endif /* CLI_BATCH_KEPT_H */
