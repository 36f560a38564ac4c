/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Checksums of files. Thousands of cases read the same few files, so a checksum is kept and used
 * again as long as the inode, size and times of its file are unchanged. Any thread.
 */
#ifndef CLI_BATCH_CONTENTS_H
#define CLI_BATCH_CONTENTS_H

#include <stdbool.h>
#include <sys/stat.h>

#include "cli/batch/basis.h"

struct contents;

/** Null: no memory. */
struct contents *contents_create(void);
void contents_destroy(struct contents *contents);

/** Finds the content of the file; reads the file if no checksum is kept. ^C ends the reading. */
void contents_find(struct contents *contents, const char *path, struct content *content);

/** Returns whether the content of the file is `then`; if not, *now becomes its content. */
bool contents_same(struct contents *contents, const char *path, const struct content *then,
                   struct content *now);

/**
 * Writes the stamp of a file. Returns false if the file changed so recently that its content may
 * still change without changing the stamp.
 */
bool contents_stamp(const struct stat *status, char out[BASIS_DIGITS + 1]);

#endif /* CLI_BATCH_CONTENTS_H */
