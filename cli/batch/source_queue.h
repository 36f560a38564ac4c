/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The source of `mlictl batch --queue`: cases from a queue on a server, one for each worker at a
 * time. A case runs only if its files are equal to the enqueued files.
 */
#ifndef CLI_BATCH_SOURCE_QUEUE_H
#define CLI_BATCH_SOURCE_QUEUE_H

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>

#include "cli/batch/source.h"
#include "cli/queue/queue.h"
#include "cli/report/fingerprint.h"
#include "cli/report/result.h"

/* Cases of which a worker remembers that it has refused them. */
enum { REFUSED_MAX = 256 };

struct source_queue {
    struct cases *cases;       /* gets the cases */
    const char *root;          /* directory of the paths in the queue */
    struct contents *contents; /* checksums of files */
    bool follow;               /* wait for further cases at the end */
    /* Private: */
    struct queue *queue;
    pthread_mutex_t mutex;      /* protects the members below and `cases` */
    uint32_t in_row;            /* refusals since the last result */
    char *refused[REFUSED_MAX]; /* names of cases that this worker has refused */
    size_t refused_count;
    bool ended; /* every case has a result */
};

/** Opens the queue of the options; the members of `source` before `contents` are not set. Returns
 * 0, or -1 with the fault filled; source_queue_finish() is legal in both cases. */
int source_queue_open(struct source_queue *source, const struct options *options,
                      struct fault *fault);
struct case_source source_queue_of(struct source_queue *source);
void source_queue_finish(struct source_queue *source);

#endif /* CLI_BATCH_SOURCE_QUEUE_H */
