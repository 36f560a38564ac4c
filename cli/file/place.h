/* SPDX-License-Identifier: BSD-3-Clause */
/* Where a file is or would be: its directory and its name in it, however the path is spelt. */
#ifndef CLI_PLACE_H
#define CLI_PLACE_H

#include <limits.h>
#include <stdbool.h>
#include <sys/types.h>

struct place {
    dev_t device; /* of the directory */
    ino_t inode;
    char name[NAME_MAX + 1];
};

/** The path with links followed as its last part, be the file there or not. Heap; null: errno. */
char *place_follow(const char *path);

/**
 * Removes "NAME/.." and "./" from the path, in place. A NAME that is a symbolic link or no
 * directory stays, so that the path means the same file.
 */
void place_simplify(char *path);

/** False where there is no such directory. */
bool place_of(const char *path, struct place *place);

bool place_same(const struct place *a, const struct place *b);

/** Whether two paths mean one file, be it there or not. */
bool place_same_file(const char *a, const char *b);

#endif /* CLI_PLACE_H */
