/* SPDX-License-Identifier: BSD-3-Clause */
/* Files for the code under test to read: a private directory in memory, which is removed at exit.
 */
#ifndef TEST_FUZZ_SCRATCH_H
#define TEST_FUZZ_SCRATCH_H

#include <stddef.h>

enum { SCRATCH_PATH_MAX = 512 };

/** Returns the path of the directory, which the first call makes in $TMPDIR, /dev/shm or /tmp. */
const char *scratch_directory(void);
/** Writes the path of a file in the directory. Returns `out`. */
const char *scratch_path(char out[SCRATCH_PATH_MAX], const char *name);
/** Replaces a file of the directory. */
void scratch_write(const char *name, const void *bytes, size_t size);
/**
 * The first call writes in.npy, int8 of shape (6, 10, 8), and in.bin, the same elements without a
 * header. All elements are 0.
 */
void scratch_write_inputs(void);
/** Reads a file of the directory into heap memory with a zero byte after it; null: no such file. */
char *scratch_read(const char *name, size_t *size);
/** Removes a file of the directory, if it exists. */
void scratch_remove(const char *name);
/** Removes all files and directories of the directory. */
void scratch_clear(void);

/**
 * Returns the number of the lowest free file descriptor: if descriptors leak, it grows sooner or
 * later.
 */
int scratch_lowest_fd(void);

/** Returns how many of the first 256 file descriptors are open. */
int scratch_count_fds(void);

#endif /* TEST_FUZZ_SCRATCH_H */
