/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The cases of a batch: each is a job file with a name.
 *
 *     PATH -> directory: its job files, with subdirectories
 *          -> *.json: one job file
 *          -> any other file, or "-": a manifest, with a path on each line
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "cli/options.h"
#include "cli/report/result.h"
#include "proto/json/fault.h"

struct queue_lease;

struct batch_case {
    char *name;
    char *file;         /* path of the job file */
    bool read;          /* true: `digest` is known */
    uint64_t digest;    /* digest64() of the text of the job file; 0: it cannot be read */
    char *rerun_reason; /* why the case runs although the state file has a result; or NULL */
    /* Valid earlier result: the case then does not run; or NULL. */
    const struct case_result *known;
    bool ended;                /* the case has ended in this run */
    bool passed;               /* the case has passed in this run, or its known result is a pass */
    struct case_result *held;  /* its result, until the reports can have it; or NULL */
    struct queue_lease *lease; /* the queue's lease of the case, while the case runs; or NULL */
    enum case_reason reason; /* kind of the error that `verdict` states; such a case does not run */
    const char *verdict;
};

struct cases {
    struct batch_case **list;
    size_t count, capacity;
    const char *except;     /* a directory that is skipped at any depth; or NULL */
    struct cases *others;   /* list to which all other files of directories are added; or NULL */
    struct cases *left_out; /* list to which cases that are not selected are moved; or NULL */
};

/**
 * Adds the cases of the arguments from number `first` on, sorts them by name and keeps those that
 * --filter selects. An argument is a job file, a directory or a manifest. Returns 0, or -1 with a
 * fault: no case, two cases with one name, a file that cannot be read. cases_finish() is legal in
 * both cases.
 */
int cases_find(struct cases *cases, const struct options *options, size_t first,
               struct fault *fault);

/**
 * Adds the job file `path`, or the job files of the directory or manifest `path`. Returns 0, or -1
 * with a fault that names the file. cases_finish() is legal in both cases.
 */
int cases_add_path(struct cases *cases, const char *path, struct fault *fault);

/**
 * Adds one job file. The name of the case is `called` without leading "./" and without ".json".
 * `text` is the text of the file (`length` bytes), or NULL if it was not read. Returns 0, or -1 if
 * out of memory.
 */
int cases_add(struct cases *cases, const char *called, const char *file, const void *text,
              size_t length, struct fault *fault);

/** Adds all files of a directory that are not hidden, but not those of subdirectories. Returns 0,
 * or -1 with a fault. */
int cases_add_files(struct cases *cases, const char *directory, struct fault *fault);

/** Adds a case, which `cases` owns from then on. Returns 0, or -1 if out of memory. */
int cases_append(struct cases *cases, struct batch_case *batch_case);

/** Sorts the cases by name. Returns 0, or -1 if two cases have one name. */
int cases_sort(struct cases *cases, struct fault *fault);

/** Removes the cases for which `stays` returns false, or moves them to cases->left_out. The
 * remaining cases stay in order. */
void cases_retain(struct cases *cases, bool (*stays)(const void *context, const char *name),
                  const void *context);

void cases_finish(struct cases *cases);

/** Returns the digest of the job file of a case, which is read on the first call; 0: unreadable. */
uint64_t case_digest(struct batch_case *batch_case);

/**
 * Returns whether a text from a *.json file is a case: invalid JSON (but any numbers), or an
 * object, alone or in an array, that has a member of job files such as "op" or "jobs".
 */
bool cases_is_job_text(const char *text, size_t length);

/** Checks the patterns of --filter. Returns 0, or -1 after printing an error. */
int cases_check_filter(const struct options *options);

/**
 * Returns whether --filter selects a name: the name matches a pattern, or all patterns begin with
 * "!"; and it matches no pattern after a "!".
 */
bool cases_filter_selects(const struct options *options, const char *name);

/* A list of cases, one path on each line, that is being read. */
struct manifest {
    struct cases *cases; /* list to which cases are added */
    const char *shown;   /* path of the manifest in messages */
    int prefix;          /* length of the directory in `path`, with the slash */
    const char *path;
    size_t line; /* number of the current line, from 1 */
    struct fault *fault;
};

/** Adds the cases of one line: none if it is empty or a comment. Returns 0, or -1. */
int manifest_take_line(const struct manifest *manifest, const char *line, size_t length);

/** Sets manifest->fault to "PATH:LINE: why". Returns -1. */
int manifest_refuse(const struct manifest *manifest, const char *why);
