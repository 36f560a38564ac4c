/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef CLI_BATCH_CASES_H
#define CLI_BATCH_CASES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "cli/options.h"
#include "proto/json/fault.h"

/*
 * The cases of a batch, by name.
 *
 *     PATH... -> directory.c  directories
 *             -> cases.c      lists of paths; named, sorted, none twice
 */
struct batch_case {
    char *name;
    char *file;         /* its job file, as it is opened */
    bool read;          /* `digest` is that of the text when the cases were looked for */
    uint64_t digest;    /* 0: the file could not be read */
    char *rerun_reason; /* why it runs although the state file has a result; or null */
};

struct cases {
    struct batch_case *list;
    size_t count, capacity;
    const char *except; /* a directory that is not looked into, wherever it is met; or null */
};

/**
 * Adds what `path` is: a job file, a directory's, or a manifest's. Returns 0; or -1 where there is
 * no such file, or it is no manifest (the sentence names it). cases_finish() is legal after both.
 */
int cases_add_path(struct cases *cases, const char *path, struct fault *fault);

/**
 * Adds one job file. `called` is what its name is made of: without "./" in front, and ".json"
 * behind. `text`: of the file, where it has been read. Returns 0 or -1 (no memory).
 */
int cases_add(struct cases *cases, const char *called, const char *file, const void *text,
              size_t length, struct fault *fault);

/** By name, once all are there. Two of one name are refused: -1. */
int cases_sort(struct cases *cases, struct fault *fault);

/** Leaves those that `stays` says; the order stays too. */
void cases_retain(struct cases *cases, bool (*stays)(const void *context, const char *name),
                  const void *context);

/** The digest of the case's job file as it is now, 0 where it cannot be read. */
uint64_t case_digest(struct batch_case *batch_case);

void cases_finish(struct cases *cases);

/** Whether the path ends as those of job files. */
bool case_is_job_file(const char *path);

/* The job files of a directory and of those below it. */
/**
 * Adds every *.json that is a job file, called by its path below `directory`. What cannot be read,
 * be it a directory, is a case too: it fails. Links are followed, but no directory is looked into
 * twice. Returns 0, or -1 where `directory` itself cannot be read, or without memory.
 */
int cases_add_directory(struct cases *cases, const char *directory, struct fault *fault);

/* Lists of cases: a path to each line, relative to the list; comments behind #. */
/**
 * Adds what the manifest `path` names, "-" being standard input: job files, and the job files of
 * directories. Returns 0, or -1 with a sentence that names the line.
 */
int cases_add_manifest(struct cases *cases, const char *path, struct fault *fault);

/* Which cases --filter selects. */
#define FILTER_OPTION                                                                              \
    {                                                                                              \
        "filter", 0, "GLOB", "only cases whose name matches (!GLOB: not those); several: any",     \
            .repeats = true                                                                        \
    }

/** Returns 0, or -1 after saying which pattern is none. */
int cases_check_filter(const struct options *options);

/** Whether a name matches one of the patterns, if there are any, and none of those behind a !. */
bool cases_filter_selects(const struct options *options, const char *name);

/* Which JSON is a job file, and which is something else that lies beside them. */
/**
 * Whether a text is a job file, or was meant to be one: an object, or one of an array, has a member
 * that job files have; or it is no JSON at all.
 */
bool cases_is_job_text(const char *text, size_t length);

#endif /* CLI_BATCH_CASES_H */
