/* SPDX-License-Identifier: BSD-3-Clause */
/* A queue on beanstalkd: what workers do. beanstalk_store.c adds and reads cases. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "cli/queue/beanstalk_store.h"
#include "cli/queue/beanstalk_tubes.h"
#include "cli/queue/queue.h"

enum { AGAIN_S = 1 };

static int open_tubes(const struct queue_url *url, const char *worker, void **state,
                      struct fault *fault)
{
    struct tubes *tubes = malloc(sizeof(*tubes));

    (void)worker; /* The server keeps no text with a reservation. */
    if (!tubes)
        return fault_no_memory(fault);
    if (tubes_open(tubes, url, fault)) {
        free(tubes);
        return -1;
    }
    *state = tubes;
    return 0;
}

static void close_tubes(void *state)
{
    tubes_close(state);
    free(state);
}

static int unexpected(struct fault *fault)
{
    return fault_set(fault, FAULT_INVALID_PARAMS, NULL,
                     "the tube has jobs that are no cases; use another NAME");
}

/* Reads the case of a reserved job, and what the server counts about it. */
static int read_job(struct tubes *tubes, const struct beanstalk_reply *job,
                    struct queue_lease *lease, struct fault *fault)
{
    struct beanstalk_reply stats;
    const char *rest;
    size_t length;

    lease->id = job->id;
    lease->connection = tubes->connection;
    switch (queue_record_read(job->body, job->length, &lease->item, &rest, &length)) {
    case RECORD_NO_MEMORY:
        return fault_no_memory(fault);
    case RECORD_INVALID:
        return unexpected(fault);
    case RECORD_GOOD:
        break;
    }
    if (tubes_ask(tubes, "stats-job", lease->id, &stats, fault) == 0 &&
        (stats.word == BEANSTALK_OK || beanstalk_unexpected(&stats, fault) == 0)) {
        const uint64_t reserves = beanstalk_stat(&stats, "reserves");
        const uint64_t releases = beanstalk_stat(&stats, "releases");

        lease->priority = (uint32_t)beanstalk_stat(&stats, "pri");
        lease->lease_ms = (uint32_t)beanstalk_stat(&stats, "ttr") * 1000;
        lease->deliveries = (uint32_t)(reserves > releases ? reserves - releases : 1);
        if (lease->priority > PRIORITY_FIRST)
            lease->refusals = lease->priority - PRIORITY_FIRST;
        return 0;
    }
    queue_case_finish(&lease->item);
    return -1;
}

/* Finds out why no job is ready. */
static enum queue_answer take_none(struct tubes *tubes, struct fault *fault)
{
    struct tube_counts cases, enqueued;

    if (tubes_count(tubes, TUBE_CASES, &cases, fault) ||
        tubes_count(tubes, TUBE_ENQUEUED, &enqueued, fault))
        return QUEUE_LOST;
    if (cases.ready + cases.reserved + cases.others > 0)
        return QUEUE_LATER;
    return enqueued.ready + enqueued.reserved > 0 ? QUEUE_DONE : QUEUE_EMPTY;
}

static enum queue_answer take(void *state, struct queue_lease *lease, struct fault *fault)
{
    struct tubes *tubes = state;
    struct beanstalk_reply reply;

    if (tubes_watch(tubes, TUBE_CASES, fault) ||
        tubes_ask(tubes, "reserve-with-timeout", 0, &reply, fault))
        return QUEUE_LOST;
    if (reply.word == BEANSTALK_TIMED_OUT)
        return take_none(tubes, fault);
    if (reply.word == BEANSTALK_DEADLINE_SOON) /* of another case, whose lease is renewed soon */
        return QUEUE_LATER;
    if (reply.word != BEANSTALK_RESERVED) {
        beanstalk_unexpected(&reply, fault);
        return QUEUE_LOST;
    }
    return read_job(tubes, &reply, lease, fault) ? QUEUE_LOST : QUEUE_CASE;
}

/* Returns whether this connection has reserved the job. The server made the jobs of an earlier
 * connection ready again. */
static bool holds(const struct tubes *tubes, const struct queue_lease *lease)
{
    return lease->connection == tubes->connection;
}

static int renew(void *state, const struct queue_lease *lease, struct fault *fault)
{
    struct beanstalk_reply ignored; /* NOT_FOUND: the lease has run out. */

    return holds(state, lease) ? tubes_ask(state, "touch", lease->id, &ignored, fault) : 0;
}

static int put_result(struct tubes *tubes, const struct queue_lease *lease, const char *result,
                      enum queue_grade grade, struct beanstalk_reply *reply, struct fault *fault)
{
    const size_t size = strlen(result) + 2;
    char *flagged = malloc(size);
    size_t length = 0;
    int status = -1;

    if (flagged) {
        flagged[0] = (char)grade;
        memcpy(flagged + 1, result, size - 1);
    }
    char *record = flagged ? queue_record_write(&lease->item, flagged, &length) : NULL;
    if (!record)
        fault_no_memory(fault);
    else if (beanstalk_put(&tubes->link, PRIORITY_FIRST, RECORD_TTR_S, record, length, fault) == 0)
        status = beanstalk_receive(&tubes->link, reply, fault);
    free(record);
    free(flagged);
    return status;
}

/* Returns whether the job with the id of the lease is still the case. A server that was restarted
 * without its log gives ids a second time. */
static int is_same(struct tubes *tubes, const struct queue_lease *lease, bool *same,
                   struct fault *fault)
{
    struct beanstalk_reply reply;
    size_t length = 0;

    *same = true;
    if (holds(tubes, lease))
        return 0;
    if (tubes_ask(tubes, "peek", lease->id, &reply, fault))
        return -1;
    char *record = queue_record_write(&lease->item, NULL, &length);
    *same = record && reply.word == BEANSTALK_FOUND && reply.length == length &&
            memcmp(record, reply.body, length) == 0;
    free(record);
    return 0;
}

/* The result comes first: a worker that dies between the two commands leaves a case that runs
 * again, and the first of its results counts. */
static int finish(void *state, const struct queue_lease *lease, const char *result,
                  const char *brief, enum queue_grade grade, enum queue_outcome *outcome,
                  struct fault *fault)
{
    struct tubes *tubes = state;
    struct beanstalk_reply reply;
    bool same;

    *outcome = QUEUE_COUNTED;
    if (tubes_use(tubes, TUBE_RESULTS, fault) ||
        put_result(tubes, lease, result, grade, &reply, fault))
        return -1;
    if (reply.word == BEANSTALK_JOB_TOO_BIG &&
        put_result(tubes, lease, brief, grade, &reply, fault))
        return -1;
    if (reply.word != BEANSTALK_INSERTED)
        return beanstalk_unexpected(&reply, fault);
    if (is_same(tubes, lease, &same, fault))
        return -1;
    return same ? tubes_ask(tubes, "delete", lease->id, &reply, fault) : 0;
}

static int give_back(void *state, const struct queue_lease *lease, enum queue_return how,
                     struct fault *fault)
{
    struct tubes *tubes = state;
    struct beanstalk_reply reply;

    if (!holds(tubes, lease))
        return 0;
    /* Of two jobs with one priority the older one is first: a delay puts the case behind others. */
    if (beanstalk_send(&tubes->link, fault, "release %" PRIu64 " %" PRIu32 " %d", lease->id,
                       lease->priority + (how == QUEUE_REFUSED),
                       how == QUEUE_REFUSED_AGAIN ? AGAIN_S : 0) ||
        beanstalk_receive(&tubes->link, &reply, fault))
        return -1;
    return reply.word == BEANSTALK_BURIED ? beanstalk_unexpected(&reply, fault) : 0;
}

const struct queue_backend queue_beanstalk = {.connect = open_tubes,
                                              .disconnect = close_tubes,
                                              .add = beanstalk_add,
                                              .take = take,
                                              .renew = renew,
                                              .finish = finish,
                                              .give_back = give_back,
                                              .count = beanstalk_count,
                                              .status = beanstalk_status,
                                              .read = beanstalk_read,
                                              .remove = beanstalk_remove};
