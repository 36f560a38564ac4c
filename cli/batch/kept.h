/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The directory DIR of --keep, which holds failed cases. Each kept case runs on any machine.
 *
 *     DIR/.kept          list of the directories that mlictl batch has made (kept_list.c)
 *     DIR/.kept-files    large files that kept cases share by hard links, while a run lasts
 *     DIR/a/b/           the kept case a/b (kept_case.c)
 *         job.json              the failed job alone, with the names of the files below
 *         source.*, golden.*    copies of the files that it reads; of a buffer, its bytes
 *         out.*                 its output; for an update, the tensor before the update; for a
 *                               buffer, its bytes
 *         given.*               the result of the failed job
 *
 * kept_directory.c makes the directories, kept_cleaner.c removes those of earlier runs. Both write
 * and remove only directories that are in the list, and follow no symbolic links below DIR.
 */
#ifndef CLI_BATCH_KEPT_H
#define CLI_BATCH_KEPT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <time.h>

#include "cli/file/text.h"
#include "cli/job/outcome.h"
#include "cli/job/produced.h"
#include "cli/job/resolve.h"
#include "proto/json/fault.h"

struct job_buffers;

/* The use of DIR by a run. */
struct keeping {
    const char *directory; /* DIR; NULL: keep nothing */
    bool is_ours;          /* DIR did not exist when the run began */
    uint64_t origin;       /* kept_origin() of the run */
    bool sync;             /* sync files to storage: a state file will name them */
};

/* Evidence of a failed job: what kept_save() needs after the attempt, until the verdict. */

/* A file that the job reads. */
struct evidence_file {
    char *path; /* path with which this process opens the file */
    int fd;     /* open descriptor; -1: open the path */
};

struct evidence {
    const struct job_spec *job; /* belongs to the attempt; NULL: no job failed */
    const struct buffer_spec *src_buffer, *dst_buffer; /* belong to the attempt, too; or NULL */
    struct evidence_file source, golden, before;
    int given; /* descriptor of the complete output file; -1: the job has no result */
};

void evidence_init(struct evidence *evidence);

/**
 * Duplicates the descriptors of the files that a failed job has open, and of the buffers that it
 * uses. `produced` are the outputs of earlier jobs of the case. Leaves out a file if descriptors or
 * memory are exhausted.
 */
void evidence_take(struct evidence *evidence, const struct resolved *resolved,
                   const struct produced *produced, const struct job_buffers *buffers,
                   const struct outcome *outcome);

void evidence_finish(struct evidence *evidence);

/* Kept cases: kept_case.c */

/* The paths of the files of a kept case; heap strings, owned by this struct. */
struct kept {
    char *job;
    char *given; /* NULL: the job has no result */
};

/**
 * Keeps the case `name` below keeping->directory, which it creates if necessary. Returns 0 with
 * *kept filled, or -1 with *kept empty.
 */
int kept_save(const struct keeping *keeping, const char *name, const struct evidence *evidence,
              struct kept *kept, struct fault *fault);

/**
 * Returns the path of the directory for the case `name`, which is always below `directory`. Heap;
 * NULL if out of memory.
 */
char *kept_place(const char *directory, const char *name);

/* The directories in DIR: kept_directory.c and kept_cleaner.c */

#define KEPT_POOL ".kept-files"

/** Returns the origin of the cases that a run keeps: digests of working directory and PATHs. */
uint64_t kept_origin(char *const *paths, size_t count);

/**
 * Opens the directory `place` of a case; keeping->directory must exist. Creates missing directories
 * and adds them to the list. Refuses symbolic links, and an existing directory that is not in the
 * list. Returns a descriptor, or -1.
 */
int kept_open(const struct keeping *keeping, const char *place, struct fault *fault);

/** Removes the files of a kept case from its open directory, and no other files. */
void kept_forget(int fd);

/* Flags to open a directory for the *at() functions. */
#define KEPT_DIRECTORY (O_PATH | O_DIRECTORY | O_CLOEXEC)

/**
 * Opens an existing directory below the open directory `root`, or its parent directory if `parent`
 * is set. Follows no links. Returns a descriptor, or -1 with errno.
 */
int kept_walk(int root, const char *place, bool parent);

/** Removes a directory below `root` if it is empty. Returns 0, or -1 with errno. */
int kept_remove_empty(int root, const char *place);

/** Removes the directory `place` of a case if it is empty. */
void kept_abandon(const struct keeping *keeping, const char *place);

/** Returns whether `file` is in a listed directory: later runs replace and remove such files. */
bool kept_holds(const char *directory, const char *file);

/** Opens DIR/.kept-files; creates it if `make` is set. Returns a descriptor or -1. */
int kept_open_pool(const char *directory, bool make);

/* A case of the run, for kept_clean(). */
struct kept_case {
    char *place; /* kept_place() of the case; owned */
    bool in_use; /* the case did not pass */
};

/**
 * Removes cases of `cases` (sorted by place with strcmp()) that an earlier run kept and that are
 * not in use. With `all` also removes cases that are not in `cases`, if the earlier run had equal
 * PATHs. Never removes cases of runs in another working directory, and none that were kept after
 * `begin`, because a parallel run kept them. Ignores failures to remove a file.
 */
void kept_clean(const struct keeping *keeping, const struct kept_case *cases, size_t count,
                bool all, const struct timespec *begin);

/** Removes DIR/.kept-files when a run has ended; the hard links in kept cases stay. */
void kept_end(const char *directory);

/* The list DIR/.kept: kept_list.c */

/*
 * Each line has a path relative to DIR, a tab, and the origin: 8 hexadecimal digits of the working
 * directory of the run, then 8 digits of its PATHs.
 */
enum { KEPT_ORIGIN_DIGITS = 16 };

struct kept_line {
    const char *place;  /* path relative to DIR */
    const char *origin; /* digits of the origin; empty: unknown */
};

struct kept_list {
    int root;     /* descriptor of DIR; borrowed */
    int fd;       /* descriptor of DIR/.kept, with the lock */
    bool is_ours; /* mlictl batch has also made DIR */
    struct text text;
    struct kept_line *lines; /* sorted by place, without duplicates; borrow from the text */
    size_t count;
};

/**
 * Opens the list of the open directory `root` and takes its lock; with `make` creates a missing
 * list.
 * Does not read the lines. Returns 0, or -1 with errno. kept_list_close() is legal in both cases.
 */
int kept_list_open(struct kept_list *list, int root, bool make);
/** Reads the lines; ignores lines that lead out of DIR. Returns 0, or -1 with errno. */
int kept_list_read(struct kept_list *list);
/** Returns whether the lines that were read have the directory. */
bool kept_list_has(const struct kept_list *list, const char *place);
/**
 * Appends a line for a directory of the run; a new list also gets keeping->is_ours. Returns 0, or
 * -1 with errno.
 */
int kept_list_add(struct kept_list *list, const char *place, const struct keeping *keeping);
/**
 * Replaces the file by the lines of `list`, or removes it if there are no lines. If writing fails,
 * the file stays as it is.
 */
void kept_list_write(struct kept_list *list);
void kept_list_close(struct kept_list *list);

/** Writes the digits of an origin. */
void kept_list_origin(uint64_t origin, char out[KEPT_ORIGIN_DIGITS + 1]);

#endif /* CLI_BATCH_KEPT_H */
