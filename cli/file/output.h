/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A file that appears whole or not at all: written without a name, then linked into place. Where
 * the file system knows no nameless files it has a hidden name that output_finish() removes. Or one
 * that never appears, for whoever has the descriptor.
 */
#ifndef CLI_OUTPUT_H
#define CLI_OUTPUT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "proto/json/fault.h"

struct output {
    const char *path;    /* borrowed; for messages */
    const char *pointer; /* JSON pointer for faults, or null */
    char *target;        /* where it will appear; links are followed */
    char *name;          /* last part of target */
    int mode;            /* permissions of the file that it replaces; -1: there is none */
    int directory;       /* -1: it is kept in memory */
    int fd;
    char hidden[32]; /* its name until it is in place; empty: none */
};

/**
 * Begins a file that will appear at `path`; `pointer` goes into faults. Refuses what exists there
 * and is no regular file; the permissions of what exists are kept. The strings must stay alive.
 * Returns 0 or -1; output_finish() is legal after both.
 */
int output_init(struct output *output, const char *path, const char *pointer, struct fault *fault);

/**
 * Begins a file in the open directory `directory`, which stays the caller's. The file gets the last
 * part of `path`; the rest is for messages only. What has this name is replaced and, if it is a
 * symbolic link, not followed. Returns 0 or -1; output_finish() is legal after both.
 */
int output_init_at(struct output *output, int directory, const char *path, struct fault *fault);

/**
 * As output_init(), of a file that is kept in memory: refuses what output_init() would, but for a
 * directory that cannot be written. output_commit() does nothing, output_take() gives it away.
 */
int output_init_memory(struct output *output, const char *path, const char *pointer,
                       struct fault *fault);

/** The descriptor, the caller's from now on. */
int output_take(struct output *output);

/** Refuses a file that is there already, unless it may be replaced. Returns 0 or -1. */
int output_check_fresh(const struct output *output, bool replace, struct fault *fault);

/**
 * Refuses to replace a file that is not empty and does not begin as XML does: a job file or a
 * tensor that slips in where a report or a drawing is to be ("no drawing"). Returns 0 or -1.
 */
int output_check_markup(const struct output *output, const char *what, struct fault *fault);

/** Makes it `size` bytes of zeros and takes the storage, so that a full disk is known now. */
int output_reserve(struct output *output, uint64_t size, struct fault *fault);

/** Fills it with the first `size` bytes of `from`, and takes the storage but of one in memory. */
int output_copy(struct output *output, int from, uint64_t size, struct fault *fault);

/** The same with the holes of `from`, which take no storage, or with storage that both share. */
int output_copy_data(struct output *output, int from, uint64_t size, struct fault *fault);

int output_write(struct output *output, const void *bytes, size_t size, uint64_t offset,
                 struct fault *fault);

/**
 * Puts the file in place; an existing file is replaced, or (`fresh`) is an error. Nothing is
 * synced: after a power cut the file may be missing, empty or incomplete. A sync costs 5 ms per
 * output on a disk where a small output takes 0.15 ms, and most outputs can be made again.
 */
int output_commit(struct output *output, bool fresh, struct fault *fault);

/**
 * The same for a file that must survive a power cut: the content is on the storage before the name
 * leads to it, and the name when this returns.
 */
int output_commit_synced(struct output *output, bool fresh, struct fault *fault);

/** Ends it; without a commit it never was. */
void output_finish(struct output *output);

#endif /* CLI_OUTPUT_H */
