/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A case on the server, as bytes that both kinds of servers keep:
 *
 *     case      INPUTS ' ' NAME '\0' PATH
 *     result    case '\0' RESULT      the "case" event of a state file, JSON
 *
 * INPUTS has 16 hexadecimal digits. Two cases are equal if all their bytes are.
 */
#ifndef CLI_QUEUE_RECORD_H
#define CLI_QUEUE_RECORD_H

#include <stddef.h>
#include <stdint.h>

enum { QUEUE_INPUTS_DIGITS = 16 };

struct queue_case {
    char *name;      /* name of the case */
    char *path;      /* path of the job file below the root of each machine */
    uint64_t inputs; /* fingerprint_inputs() of the job file and the files that its jobs read */
};

void queue_case_finish(struct queue_case *item);

/** Returns the bytes of a case, and of a result if `result` is not NULL. Heap; NULL: no memory. */
char *queue_record_write(const struct queue_case *item, const char *result, size_t *length);

enum queue_record_fault { RECORD_GOOD, RECORD_INVALID, RECORD_NO_MEMORY };

/**
 * Reads the bytes of a case. *rest becomes the bytes after the case, without the zero byte before
 * them, or NULL. queue_case_finish() if it returns RECORD_GOOD.
 */
enum queue_record_fault queue_record_read(const char *bytes, size_t length, struct queue_case *item,
                                          const char **rest, size_t *rest_length);

/** Returns whether a path is relative and has no part "..": a worker opens no other files. */
int queue_path_is_below(const char *path);

#endif /* CLI_QUEUE_RECORD_H */
