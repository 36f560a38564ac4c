/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A queue of cases on a server, from which workers on several machines pull. Terms:
 *
 *     case      a job file, with the checksum of its inputs (queue_record.h)
 *     lease     the right of a worker to run a case, for a limited time. The worker renews it while
 *               the case runs. When the lease runs out, the case is handed out again.
 *     result    the first result of a case that comes with the inputs that were enqueued. It
 *               counts; further results of the case do not.
 *
 *     waiting --take--> leased --finish--> done
 *        ^                 |
 *        '-- give back, or the lease runs out
 *
 * A server may lose the connection at any point, and a worker may die at any point: the case is
 * then waiting, leased until the lease runs out, or done, and no result counts twice.
 *
 *     queue_url.h       the address of a queue
 *     queue_record.h    a case and a result as bytes
 *     queue.c           the connection, which is made again when it is lost; renews leases
 *     redis_queue.c     a queue on a Redis server: keys, and scripts that change them atomically
 *     beanstalk.h       the protocol of beanstalkd
 *     beanstalk_queue.c a queue on beanstalkd: three tubes
 *
 * To add a kind of server, write a struct queue_backend, and list it in queue.c and queue_url.c.
 */
#ifndef CLI_QUEUE_H
#define CLI_QUEUE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "cli/queue/queue_record.h"
#include "cli/queue/queue_url.h"
#include "proto/json/fault.h"

enum {
    QUEUE_DELIVERIES_MAX = 5, /* a case is handed out as often; then its workers are to blame */
    QUEUE_REFUSALS_MAX = 3,   /* workers that refuse a case because of its files */
    QUEUE_WORKER_MAX = 128,
    QUEUE_TOKEN_MAX = 33,
};

/* A case that this process has taken. */
struct queue_lease {
    struct queue_case item;
    uint32_t lease_ms;             /* duration of the lease */
    uint32_t deliveries, refusals; /* how often the case was handed out, with this time; by
                                      how many workers it was refused */
    char token[QUEUE_TOKEN_MAX];   /* of a Redis server */
    uint64_t id;                   /* of beanstalkd, */
    uint32_t priority;
    uint64_t connection; /* and the number of the connection that reserved the job */
    /* Private to queue.c: */
    uint64_t renew_ns;
    struct queue_lease *next;
};

enum queue_answer {
    QUEUE_CASE,
    QUEUE_LATER, /* no case waits, but others may come back */
    QUEUE_DONE,  /* every case has a result */
    QUEUE_EMPTY, /* no case was ever enqueued */
    QUEUE_LOST   /* the fault says why */
};

/* Ways to give a case back. */
enum queue_return {
    QUEUE_UNTOUCHED,    /* the next worker takes it first */
    QUEUE_REFUSED,      /* its inputs are others here: counts a refusal; other cases go first */
    QUEUE_REFUSED_AGAIN /* as QUEUE_REFUSED, but the refusal of this worker counts already */
};

/* The grade of a result, as the servers keep it. */
enum queue_grade {
    QUEUE_BAD = '0',
    QUEUE_GOOD = '1',
    QUEUE_UNTRIED = '2' /* not good, because no worker could run the case */
};

/* The answer to a result. */
enum queue_outcome {
    QUEUE_COUNTED,
    QUEUE_DUPLICATE, /* another result of the case counts already */
    QUEUE_CHANGED,   /* the case was enqueued again with other inputs */
    QUEUE_UNKNOWN    /* the queue has no such case */
};

struct queue_counts {
    uint64_t cases, waiting, leased, done, failed;
};

/* A leased case, for reports. */
struct queue_holder {
    char *name, *worker;      /* worker NULL: the server does not know it */
    uint64_t age_ms, left_ms; /* since the case was taken (0: unknown), until the lease runs out */
};

struct queue_status {
    struct queue_counts counts;
    struct queue_holder *holders;
    size_t count, capacity;
};

struct queue_added {
    uint64_t added, replaced, known;
};

/* All cases of a queue, sorted by name. */
struct queue_entry {
    struct queue_case item;
    char *result; /* JSON; NULL: the case is not done */
};

struct queue_entries {
    struct queue_entry *list;
    size_t count, capacity;
    uint64_t duplicates, changed; /* results that do not count, as far as the server keeps them */
    uint64_t ns;                  /* from the first case taken to the last result; 0: unknown */
};

/* The functions of one kind of server. They return 0, or -1 with the fault filled: STREAM_ERROR if
 * the connection is lost or the server busy, so that the call should be repeated on a new
 * connection. */
struct queue_backend {
    /** Connects, and sets *state. `worker` names this process in leases. */
    int (*connect)(const struct queue_url *url, const char *worker, void **state,
                   struct fault *fault);
    void (*disconnect)(void *state);
    /**
     * Adds cases that the queue does not have. Replaces a case of the queue if its inputs are
     * others, if its grade is QUEUE_UNTRIED, or if `again` is set and its grade is QUEUE_BAD. Adds
     * no case if the queue has one of the names with another path: INVALID_PARAMS.
     */
    int (*add)(void *state, const struct queue_case *cases, size_t count, uint32_t lease_ms,
               bool again, struct queue_added *added, struct fault *fault);
    enum queue_answer (*take)(void *state, struct queue_lease *lease, struct fault *fault);
    int (*renew)(void *state, const struct queue_lease *lease, struct fault *fault);
    /** `result` is JSON; `brief` is a shorter form for a server that refuses the size. */
    int (*finish)(void *state, const struct queue_lease *lease, const char *result,
                  const char *brief, enum queue_grade grade, enum queue_outcome *outcome,
                  struct fault *fault);
    /** Makes the case wait again. */
    int (*give_back)(void *state, const struct queue_lease *lease, enum queue_return how,
                     struct fault *fault);
    int (*count)(void *state, struct queue_counts *counts, struct fault *fault);
    int (*status)(void *state, struct queue_status *status, struct fault *fault);
    int (*read)(void *state, struct queue_entries *entries, struct fault *fault);
    int (*remove)(void *state, struct fault *fault);
};

extern const struct queue_backend queue_redis, queue_beanstalk;

struct queue;

/**
 * Connects to a queue. Retries for `patience_ms` after a connection is lost or refused. Returns 0,
 * or -1 with the fault filled.
 */
int queue_open(const struct queue_url *url, uint32_t patience_ms, struct queue **out,
               struct fault *fault);
/** Closes the connection. Cases that are still leased are handed out again when their leases run
 * out. */
void queue_close(struct queue *queue);

/* These functions call those of the backend, from any thread, on a new connection if the old one is
 * lost. */
int queue_add(struct queue *queue, const struct queue_case *cases, size_t count, uint32_t lease_ms,
              bool again, struct queue_added *added, struct fault *fault);
/** Takes a case, and renews its lease until it is finished or given back. */
enum queue_answer queue_take(struct queue *queue, struct queue_lease *lease, struct fault *fault);
int queue_finish(struct queue *queue, struct queue_lease *lease, const char *result,
                 const char *brief, enum queue_grade grade, enum queue_outcome *outcome,
                 struct fault *fault);
int queue_give_back(struct queue *queue, struct queue_lease *lease, enum queue_return how,
                    struct fault *fault);
int queue_count(struct queue *queue, struct queue_counts *counts, struct fault *fault);
int queue_status(struct queue *queue, struct queue_status *status, struct fault *fault);
/** Reads all cases and results. Several readers may wait for each other. */
int queue_read(struct queue *queue, struct queue_entries *entries, struct fault *fault);
/** Removes the queue with its cases and results. */
int queue_remove(struct queue *queue, struct fault *fault);

void queue_status_finish(struct queue_status *status);
void queue_entries_finish(struct queue_entries *entries);

/* For backends. */

/** Adds a holder, which `status` owns. Returns 0, or -1 if out of memory. */
int queue_status_add(struct queue_status *status, const struct queue_holder *holder);
/** Adds an entry, which `entries` owns. Returns 0, or -1 if out of memory. */
int queue_entries_add(struct queue_entries *entries, const struct queue_entry *entry);
/** Sets the fault of a case that the queue knows with another path. Returns -1. */
int queue_refuse_path(const struct queue_case *known, struct fault *fault);
/** Sorts the entries by name, and drops repeated ones. */
void queue_entries_sort(struct queue_entries *entries);

#endif /* CLI_QUEUE_H */
