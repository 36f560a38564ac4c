/* SPDX-License-Identifier: BSD-3-Clause */
/* The files that the function of a whole job file gets as arguments, in the order of first use. */
#ifndef CLI_C_FILES_H
#define CLI_C_FILES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct c_file {
    const char *name; /* borrowed */
    uint64_t base;    /* lowest offset of a tensor in the file */
    size_t use;       /* number of its first use; later, its number */
};

struct c_files {
    struct c_file *sorted;   /* by name, after c_files_sort() */
    struct c_file **ordered; /* by first use */
    size_t count;
    bool failed; /* true: out of memory */
};

/** Prepares for at most `uses` calls of c_files_add(). c_files_finish() is required. */
void c_files_init(struct c_files *files, size_t uses);
void c_files_finish(struct c_files *files);

/** Adds a use of a file. */
void c_files_add(struct c_files *files, const char *name, uint64_t offset);
/** Merges the uses of each file, and numbers the files. */
void c_files_sort(struct c_files *files);
/** Returns a file that was added. */
const struct c_file *c_files_find(const struct c_files *files, const char *name);

#endif /* CLI_C_FILES_H */
