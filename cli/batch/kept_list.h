/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * DIR/.kept, the list of directories that mlictl batch has made below the directory of --keep. Each
 * line has a path relative to DIR, a tab, and the origin: 8 hexadecimal digits of the working
 * directory of the run, and 8 of its PATHs.
 */
#ifndef CLI_BATCH_KEPT_LIST_H
#define CLI_BATCH_KEPT_LIST_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "cli/file/text.h"
#include "proto/json/fault.h"

enum { KEPT_ORIGIN_DIGITS = 16 };

struct kept_line {
    const char *place;  /* relative to DIR */
    const char *origin; /* empty: unknown */
};

struct kept_list {
    int fd;       /* of the file, locked */
    bool is_ours; /* mlictl batch has made DIR, too */
    struct text text;
    struct kept_line *lines; /* sorted by place, none twice; borrow from the text */
    size_t count;
};

/**
 * Opens the list of the directory `root` and takes its lock; `make`: also makes the file. The lines
 * are not read yet. Returns 0, or -1 with errno. kept_list_close() is legal after both.
 */
int kept_list_open(struct kept_list *list, int root, bool make);
/** Reads the lines; lines that lead out of the directory are left out. Returns 0, or -1 with errno.
 */
int kept_list_read(struct kept_list *list);
/** Whether a list that was read has the directory. */
bool kept_list_has(const struct kept_list *list, const char *place);
/** Adds a line; `is_ours` goes into a new list. Returns 0, or -1 with errno. */
int kept_list_add(struct kept_list *list, const char *place, uint64_t origin, bool is_ours);
/**
 * Writes the lines that the list has now, or removes the file of an empty list. A list that cannot
 * be written loses lines; the directories that they name stay.
 */
void kept_list_write(struct kept_list *list, int root);
void kept_list_close(struct kept_list *list);

/** Writes the digits of an origin. */
void kept_list_origin(uint64_t origin, char out[KEPT_ORIGIN_DIGITS + 1]);

#endif /* CLI_BATCH_KEPT_LIST_H */
