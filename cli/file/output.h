/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * An output file that is created atomically: written without a name (O_TMPFILE), then linked into
 * place. On file systems without O_TMPFILE, it has a hidden name that output_finish() removes.
 * output_init_memory() makes an output in memory, which never gets a name.
 *
 * The other files of this folder: place.h (which file a path means, hints for missing files),
 * regular.h (opening, locking and hashing regular files, files in memory), text.h (reading a whole
 * file), file_map.c (mapping a file; in regular.h), calls.h (system calls).
 * To add a kind of output, start here, with an output_init_... function.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "proto/json/fault.h"
#include "proto/json/jsonw.h"

enum { OUTPUT_BEGIN_MAX = 64 };

struct output {
    const char *path;    /* borrowed; for messages */
    const char *pointer; /* JSON pointer for faults, or null */
    char *target;        /* the final path, with links resolved */
    char *name;          /* last part of `target` */
    int mode;            /* permissions of the file that is replaced; -1: the file is new */
    int directory;       /* open directory of the target; -1: the file is in memory */
    int fd;
    char hidden[32]; /* temporary name, or empty */
    bool standard;   /* output_commit() writes it to standard output */
};

/**
 * Begins a file that output_commit() puts at `path`, or writes to standard output if it is "-". An
 * existing file there must be regular; the new file gets its permissions. `pointer` is for faults.
 * Borrows both strings. Returns 0 or -1; call output_finish() in both cases.
 */
int output_init(struct output *output, const char *path, const char *pointer, struct fault *fault);

/**
 * Begins a file in the open directory `directory`, which the caller keeps. Its name is the last
 * part of `path`; the rest of `path` is for messages. The file replaces an existing file or
 * symbolic link with this name. Returns 0 or -1; call output_finish() in both cases.
 */
int output_init_at(struct output *output, int directory, const char *path, struct fault *fault);

/**
 * Begins a file in memory. Checks `path` like output_init(), but not whether the directory can be
 * written. output_commit() does nothing; take the descriptor with output_take(). Returns 0 or -1.
 */
int output_init_memory(struct output *output, const char *path, const char *pointer,
                       struct fault *fault);

/** Returns the descriptor, which the caller closes. */
int output_take(struct output *output);

/** Refuses an existing file unless `replace` is set. Returns 0, or -1 with the fault. */
int output_check_fresh(const struct output *output, bool replace, struct fault *fault);

/**
 * Refuses to replace a file that is neither empty nor begins with the text `begin` (at most
 * OUTPUT_BEGIN_MAX bytes), so that a report or a drawing never overwrites a job file or a tensor.
 * `what` names the expected content in the message: "a drawing". Call it after output_init(), which
 * refuses FIFOs and devices: opening them may wait forever. Returns 0, or -1 with the fault.
 */
int output_check_begin(const struct output *output, const char *begin, const char *what,
                       struct fault *fault);

/** Refuses to replace a file that is neither empty nor begins with '<'. See output_check_begin().
 */
int output_check_markup(const struct output *output, const char *what, struct fault *fault);

/** Sets the size, with zeros, and allocates the storage, so that a full disk is noticed now. */
int output_reserve(struct output *output, uint64_t size, struct fault *fault);

/** Copies the first `size` bytes of `from` and allocates all storage. For an output in memory,
 * equal to output_copy_data().
 */
int output_copy(struct output *output, int from, uint64_t size, struct fault *fault);

/** Copies the first `size` bytes of `from`; keeps its holes, or shares its storage. */
int output_copy_data(struct output *output, int from, uint64_t size, struct fault *fault);

/** Writes bytes at an offset. Returns 0, or -1 with the fault. */
int output_write(struct output *output, const void *bytes, size_t size, uint64_t offset,
                 struct fault *fault);

/**
 * Puts the file in place. Replaces an existing file; with `fresh`, an existing file is an error.
 * Does not sync, so after a power cut the file may be missing, empty or incomplete. For tensors
 * only: a sync costs 5 ms per output on a disk where a small output takes 0.15 ms, and most
 * tensors can be reproduced.
 */
int output_commit(struct output *output, bool fresh, struct fault *fault);

/** Syncs the content to storage, before output_commit(). */
int output_sync(struct output *output, struct fault *fault);

/**
 * Like output_commit(), for a file that must survive a power cut, such as a report, a job file or a
 * golden file: syncs the content before the file gets its name, and then the name.
 */
int output_commit_synced(struct output *output, bool fresh, struct fault *fault);

/** Releases the output. A file that was not committed disappears. */
void output_finish(struct output *output);

/**
 * Writes a whole file with output_commit_synced(). With `replace` an existing file is replaced,
 * else refused. Fails if `bytes` is null, which means that memory was short. Returns 0, or -1
 * with the fault.
 */
int output_save(const char *path, const void *bytes, size_t size, bool replace,
                struct fault *fault);

/**
 * Writes a drawing or a trace, the text of `w`, to the file `path`, like output_save(); to
 * standard output if `path` is "-". Replaces only an empty file or one that begins with `begin`;
 * `what` names such a file in the fault ("a drawing"). Finishes `w`. Returns 0, or -1 with the
 * fault, even if there was no memory for the text.
 */
int output_save_text(struct textw *w, const char *path, const char *begin, const char *what,
                     struct fault *fault);
