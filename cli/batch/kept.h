/* SPDX-License-Identifier: BSD-3-Clause */
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

/*
 * The directory of --keep: makes the directories of cases in it, and removes those that mlictl
 * batch has made. Directories of others are never written and never removed, and symbolic links
 * below DIR are not followed.
 *
 *     DIR/.kept         lists what was made: kept_list.c
 *     DIR/.kept-files   large files that cases share by hard links, while a run lasts
 *     DIR/a/b           of case a/b: kept_case.c
 */
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
    char *place; /* kept_place() of it; owned */
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

/* What is needed to do a failed job again, held until it is known whether the case stays failed. */
/* A file that the job reads. */
struct evidence_file {
    char *path; /* as this process opens it */
    int fd;     /* of the file; -1: it has to be opened */
};

struct evidence {
    const struct job_spec *job; /* null: there is none; belongs to the attempt */
    struct evidence_file source, golden, before;
    int given; /* the whole output file; -1: there is none */
};

void evidence_init(struct evidence *evidence);

/**
 * Takes what is open of a job that failed. `produced` are the outputs of the jobs before it. What
 * there are no descriptors or no memory for is left out.
 */
void evidence_take(struct evidence *evidence, const struct resolved *resolved,
                   const struct produced *produced, const struct outcome *outcome);

void evidence_finish(struct evidence *evidence);

/*
 * Keeps a failed case in a directory of its own, from which the job runs on any machine:
 *
 *     job.json             the failed job alone, with the names of the files below
 *     source.*, golden.*   copies of the files that it reads
 *     out.*                the tensor that it updates; what it writes when it runs again
 *     given.*              its result
 */
/* Paths of what was kept, on the heap. */
struct kept {
    char *job;
    char *given; /* null: the job gave no result */
};

/**
 * Keeps the case `name` below keeping->directory, which is made if it does not exist. Returns 0
 * with *kept filled, or -1 with *kept empty.
 */
int kept_save(const struct keeping *keeping, const char *name, const struct evidence *evidence,
              struct kept *kept, struct fault *fault);

/** The directory of a case: `name` below `directory`, wherever its dots lead. Heap; null: no
 *  memory. */
char *kept_place(const char *directory, const char *name);

/*
 * DIR/.kept, the list of directories that mlictl batch has made below the directory of --keep. Each
 * line has a path relative to DIR, a tab, and the origin: 8 hexadecimal digits of the working
 * directory of the run, and 8 of its PATHs.
 */
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

#endif /* CLI_BATCH_KEPT_H */
