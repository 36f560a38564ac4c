/* SPDX-License-Identifier: BSD-3-Clause */
/* The place of a file that need not exist: its directory and its name, for any form of the path.
 * Also makes hints for messages about missing files. */
#pragma once

#include <limits.h>
#include <stdbool.h>
#include <sys/types.h>

#include "cli/term/print.h"

struct place {
    dev_t device; /* device of the directory */
    ino_t inode;
    char name[NAME_MAX + 1]; /* name in the directory; after place_of_planned() the name may be a
                                path, because directories are missing */
};

/**
 * Follows symbolic links in the last part of the path; the file need not exist. Returns the path,
 * which the caller frees, or null with errno set.
 */
char *place_follow(const char *path);

/** Returns whether the path names an open descriptor, as /dev/stdout and /dev/fd/63 do. */
bool place_is_descriptor(const char *path);

/**
 * Removes "NAME/.." and "./" from the path, in place. Keeps "NAME/.." if NAME is a symbolic link
 * or not a directory, because the path would then mean another file.
 */
void place_simplify(char *path);

/** Finds the directory and the name of a path. Returns false with errno set if its directory does
 * not exist. */
bool place_of(const char *path, struct place *place);

/**
 * Like place_of(), but if directories of the path do not exist, finds the last one that exists.
 * Returns false with errno: no file can be at the path, or (ENAMETOOLONG) the rest of the path is
 * longer than `name`.
 */
bool place_of_planned(const char *path, struct place *place);

/** Returns whether `error`, the errno of place_of_planned(), means that no file can be at the path.
 */
bool place_is_impossible(int error);

/** Compares two places, or structures that begin with a place, for tsearch(); 0: the same file. */
int place_compare(const void *a, const void *b);

/** Returns whether two paths mean the same file, which need not exist. */
bool place_same_file(const char *a, const char *b);

enum { NEAR_FILE_MAX = 64 + PRINT_PATH_MAX };

/**
 * Writes a hint for a path without a file. For a symbolic link: "; it is a link to TARGET, which
 * does not exist". Else "; did you mean PATH?" with the most similar name in the directory, or ""
 * if no name is similar. Returns `out`.
 */
const char *near_file(char out[NEAR_FILE_MAX], const char *path);
