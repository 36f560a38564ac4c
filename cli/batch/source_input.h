/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The source of `mlictl batch -`: the lines of standard input, of which each is a line of a
 * manifest. A case runs as soon as its line is complete, while the other end of the pipe may still
 * look for further cases.
 */
#ifndef CLI_BATCH_SOURCE_INPUT_H
#define CLI_BATCH_SOURCE_INPUT_H

#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>

#include "cli/batch/manifest.h"
#include "cli/batch/source.h"

struct source_input {
    int fd;
    struct cases *cases; /* gets the admitted cases */
    /** Called for one case at a time. Sets the fault if the case is refused. */
    enum admission (*admit)(void *context, struct batch_case *batch_case, struct fault *fault);
    void *context;
    /* Private: */
    pthread_mutex_t mutex; /* protects the members below and `cases` */
    struct manifest manifest;
    struct cases fresh; /* the cases of the last line, */
    size_t next;        /* of which these have been taken out */
    void *names;        /* tree of the names of all cases */
    char *buffer;       /* bytes of lines that were read */
    size_t begin, end;  /* of the bytes that were not taken */
    bool skips;         /* the current line is too long: skip its rest */
    bool at_end, ended; /* read() has returned 0; and all lines were taken */
};

/** Returns the source of `input`, whose members up to `context` are set. */
struct case_source source_input_init(struct source_input *input);
void source_input_finish(struct source_input *input);

#endif /* CLI_BATCH_SOURCE_INPUT_H */
