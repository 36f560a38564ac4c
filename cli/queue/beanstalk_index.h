/* SPDX-License-Identifier: BSD-3-Clause */
/* All cases and results of a queue on beanstalkd, by name. */
#ifndef CLI_QUEUE_BEANSTALK_INDEX_H
#define CLI_QUEUE_BEANSTALK_INDEX_H

#include "cli/queue/beanstalk_tubes.h"

/* A case of the tube NAME-enqueued. */
struct enqueued {
    struct queue_case item;
    uint64_t id;       /* of this record */
    uint64_t job;      /* of the case in the tube NAME */
    char *result;      /* the first result with these inputs: enum queue_grade, JSON; or NULL */
    uint64_t *results; /* jobs of all results with these inputs; owned */
    size_t result_count;
};

struct index {
    void *root; /* a tree of struct enqueued, for twalk_r() */
    uint64_t count, failed, duplicates, changed;
    uint64_t first_result, last_result; /* jobs of results that count; 0: none */
};

/**
 * Reads the cases and results into an index of zeros. This connection holds their jobs until
 * tubes_reopen(). Returns 0, or -1 with the fault filled. Finish the index in both cases.
 */
int index_read(struct index *index, struct tubes *tubes, struct fault *fault);

void index_finish(struct index *index);

/** Returns the case with the name of a case, or NULL. */
struct enqueued *index_find(const struct index *index, const struct queue_case *item);

/** Returns whether the cases `a` and `b` have equal names, paths and inputs. */
bool enqueued_is(const struct queue_case *a, const struct queue_case *b);

#endif /* CLI_QUEUE_BEANSTALK_INDEX_H */
