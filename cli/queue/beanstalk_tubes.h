/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The tubes of a queue on beanstalkd, which keeps jobs and has no other store:
 *
 *     NAME            a job for each case without a result (queue_record.h). A worker reserves it,
 *                     and deletes it after its result is in the tube of results.
 *     NAME-enqueued   a job for each case: the case, and the id of its job in NAME
 *     NAME-results    a job for each result: the case, enum queue_grade, JSON
 *
 * The priority of a job in NAME, less PRIORITY_FIRST, is the number of its refusals, and the
 * server counts how often it was reserved.
 *
 * To read a tube, a connection reserves all its jobs, and closes: the server makes them ready
 * again. A second reader finds the tube reserved, and tries again.
 */
#ifndef CLI_QUEUE_BEANSTALK_TUBES_H
#define CLI_QUEUE_BEANSTALK_TUBES_H

#include "cli/queue/beanstalk.h"
#include "cli/queue/queue.h"

enum tube { TUBE_CASES, TUBE_ENQUEUED, TUBE_RESULTS, TUBES };

enum { TUBE_NAME_MAX = QUEUE_NAME_MAX + 16, PRIORITY_FIRST = 1024, RECORD_TTR_S = 3600 };

struct tubes {
    struct beanstalk link;
    struct queue_url url;
    char names[TUBES][TUBE_NAME_MAX];
    int watched, used;   /* enum tube, or -1 */
    uint64_t connection; /* number of the connection in this process */
};

/* Jobs of a tube in this state. */
struct tube_counts {
    uint64_t ready, reserved, others;
};

int tubes_open(struct tubes *tubes, const struct queue_url *url, struct fault *fault);
void tubes_close(struct tubes *tubes);
/** Closes the connection, so that all jobs it has reserved become ready, and opens another one. */
int tubes_reopen(struct tubes *tubes, struct fault *fault);

int tubes_watch(struct tubes *tubes, enum tube tube, struct fault *fault);
int tubes_use(struct tubes *tubes, enum tube tube, struct fault *fault);
int tubes_count(struct tubes *tubes, enum tube tube, struct tube_counts *counts,
                struct fault *fault);

/** Sends a command with one number, and reads its reply. */
int tubes_ask(struct tubes *tubes, const char *command, uint64_t number,
              struct beanstalk_reply *reply, struct fault *fault);

/** Called for a job; the bytes are valid until the call returns. Returns 0, or -1 with the fault.
 */
typedef int tube_each(void *context, uint64_t id, const char *body, size_t length,
                      struct fault *fault);

/** Reserves all jobs of a tube, in their order, and calls `each`. The jobs stay reserved. */
int tubes_read(struct tubes *tubes, enum tube tube, tube_each *each, void *context,
               struct fault *fault);

#endif /* CLI_QUEUE_BEANSTALK_TUBES_H */
