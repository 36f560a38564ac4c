/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A queue of cases on a Redis server, from which workers on several machines pull. Terms:
 *
 *     case      a job file, with the checksum of its inputs
 *     lease     the right of a worker to run a case, for a limited time. The worker renews it while
 *               the case runs. When the lease runs out, the case is handed out again.
 *     result    the first result of a case whose inputs are the enqueued inputs. Only this result
 *               counts; further results of the case do not.
 *
 *     waiting --take--> leased --finish--> done
 *        ^                 |
 *        '-- give back, or the lease runs out
 *
 * The connection to the server may be lost at any point, and a worker may die at any point: the
 * case is then waiting, leased until the lease runs out, or done, and no result counts twice.
 *
 *     queue_url.c       the address of a queue
 *     queue_case.c      a case as bytes, and lists of cases
 *     queue.c           the connection, which is made again when it is lost; renews leases
 *     redis.c           the server: keys, and scripts that change them atomically
 *
 * A build without hiredis has only the first two files.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "proto/json/fault.h"

/*
 * The address of a queue:
 *
 *     redis://[[USER]:PASSWORD@]HOST[:PORT][/DB]/NAME
 *     redis+unix://[[USER]:PASSWORD@]/PATH/OF/SOCKET[/DB]:NAME
 *
 * HOST may be an IPv6 address in brackets. USER and PASSWORD may have %XX escapes.
 */
enum {
    QUEUE_NAME_MAX = 100,   /* bytes of NAME: letters, digits, and _ . - after the first */
    QUEUE_PLACE_MAX = 256,  /* bytes of a host, or of the path of a socket */
    QUEUE_SECRET_MAX = 512, /* bytes of USER and of PASSWORD */
    QUEUE_SHOWN_MAX = QUEUE_PLACE_MAX + QUEUE_NAME_MAX + 64
};

struct queue_url {
    bool local; /* `place` is the path of a socket, not a host */
    char place[QUEUE_PLACE_MAX];
    uint16_t port;
    uint32_t db;
    char name[QUEUE_NAME_MAX + 1];
    char user[QUEUE_SECRET_MAX], password[QUEUE_SECRET_MAX]; /* "": none */
    char shown[QUEUE_SHOWN_MAX];                             /* the URL without user and password */
};

/** Reads a URL. Returns 0, or -1 with a fault, whose text shows neither user nor password. */
int queue_url_parse(const char *text, struct queue_url *url, struct fault *fault);

/** Overwrites the user and the password in the text of a URL, for lists of processes. */
void queue_url_hide(char *text);

/* A case on the server, as bytes: INPUTS ' ' NAME '\0' PATH. INPUTS has 16 hexadecimal digits. Two
 * cases are equal if all their bytes are equal. */
enum { QUEUE_INPUTS_DIGITS = 16 };

struct queue_case {
    char *name;      /* name of the case */
    char *path;      /* path of the job file below the root of each machine */
    uint64_t inputs; /* fingerprint_inputs() of the job file and the files that its jobs read */
};

void queue_case_finish(struct queue_case *item);

/** Returns the bytes of a case. On the heap; NULL if out of memory. */
char *queue_record_write(const struct queue_case *item, size_t *length);

enum queue_record_fault { RECORD_GOOD, RECORD_INVALID, RECORD_NO_MEMORY };

/** Decodes the bytes of a case. If it returns RECORD_GOOD, release the case with
 * queue_case_finish(). */
enum queue_record_fault queue_record_read(const char *bytes, size_t length,
                                          struct queue_case *item);

/** Returns whether a path is relative and has no part "..": a worker opens no other files. */
int queue_path_is_below(const char *path);

enum {
    QUEUE_DELIVERIES_MAX = 5, /* a case that was leased more often without a result is an error */
    QUEUE_REFUSALS_MAX = 3,   /* a case that 3 workers refused because of its files is an error */
    QUEUE_WORKER_MAX = 128,
    QUEUE_TOKEN_MAX = 33,
};

/* A case that this process has taken. */
struct queue_lease {
    struct queue_case item;
    uint32_t lease_ms;             /* duration of the lease */
    uint32_t deliveries, refusals; /* number of leases of the case, with this one; number of workers
                                      that refused the case */
    char token[QUEUE_TOKEN_MAX];   /* token with which the server identifies this lease */
    /* Private to queue.c: */
    uint64_t renew_ns;
    struct queue_lease *next;
};

enum queue_answer {
    QUEUE_CASE,
    QUEUE_LATER, /* no case waits, but leased cases may come back */
    QUEUE_DONE,  /* every case has a result */
    QUEUE_EMPTY, /* no case was ever enqueued */
    QUEUE_LOST   /* the fault has the reason */
};

/* Ways to give a case back. */
enum queue_return {
    QUEUE_UNTOUCHED,    /* the case is first in the queue for the next worker */
    QUEUE_REFUSED,      /* this worker's inputs of the case differ: count a refusal, and lease other
                           cases first */
    QUEUE_REFUSED_AGAIN /* like QUEUE_REFUSED, but the refusal of this worker was counted before */
};

/* The server's class of a result: good, bad or not run. */
enum queue_grade {
    QUEUE_BAD = '0',
    QUEUE_GOOD = '1',
    QUEUE_UNTRIED = '2' /* bad, because no worker could run the case */
};

/* What the queue answers to a worker that reports a result. */
enum queue_outcome {
    QUEUE_COUNTED,
    QUEUE_DUPLICATE, /* another result of the case was counted before */
    QUEUE_CHANGED,   /* the case was enqueued again with other inputs */
    QUEUE_UNKNOWN    /* the queue has no such case */
};

struct queue_counts {
    uint64_t cases, waiting, leased, done, failed;
};

/* A leased case, for reports. */
struct queue_holder {
    char *name, *worker;
    /* Time since the case was taken (0: unknown); time until the lease runs out. */
    uint64_t age_ms, left_ms;
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
    uint64_t ns; /* time from the first lease of a case to the last result; 0: unknown */
};

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

/* These functions may be called from any thread. They call the server, on a new connection if the
 * old one is lost. */

/**
 * Adds cases that the queue does not have. Replaces a case of the queue if its inputs have
 * changed, if its grade is QUEUE_UNTRIED, or if `again` is set and its grade is QUEUE_BAD. If the
 * queue has one of the names with another path, adds no case and fails with INVALID_PARAMS.
 */
int queue_add(struct queue *queue, const struct queue_case *cases, size_t count, uint32_t lease_ms,
              bool again, struct queue_added *added, struct fault *fault);
/** Takes a case, and renews its lease until it is finished or returned to the queue. */
enum queue_answer queue_take(struct queue *queue, struct queue_lease *lease, struct fault *fault);
/** Hands in a result, which is JSON. */
int queue_finish(struct queue *queue, struct queue_lease *lease, const char *result,
                 enum queue_grade grade, enum queue_outcome *outcome, struct fault *fault);
/** Returns a leased case to the queue, where it waits again. */
int queue_give_back(struct queue *queue, struct queue_lease *lease, enum queue_return how,
                    struct fault *fault);
int queue_count(struct queue *queue, struct queue_counts *counts, struct fault *fault);
int queue_status(struct queue *queue, struct queue_status *status, struct fault *fault);
/** Reads all cases and results. Concurrent readers may wait for one another. */
int queue_read(struct queue *queue, struct queue_entries *entries, struct fault *fault);
/** Removes the queue with its cases and results. */
int queue_remove(struct queue *queue, struct fault *fault);

void queue_status_finish(struct queue_status *status);
void queue_entries_finish(struct queue_entries *entries);

/* The server: redis.c. These functions return 0, or -1 with the fault filled: STREAM_ERROR if the
 * connection is lost or the server busy, so that the call should be repeated on a new connection.
 */

struct redis;

/** Connects; returns NULL with the fault filled. `worker` names this process in leases. */
struct redis *redis_open(const struct queue_url *url, const char *worker, struct fault *fault);
void redis_close(struct redis *redis);
int redis_add(struct redis *redis, const struct queue_case *cases, size_t count, uint32_t lease_ms,
              bool again, struct queue_added *added, struct fault *fault);
enum queue_answer redis_take(struct redis *redis, struct queue_lease *lease, struct fault *fault);
int redis_renew(struct redis *redis, const struct queue_lease *lease, struct fault *fault);
int redis_finish(struct redis *redis, const struct queue_lease *lease, const char *result,
                 enum queue_grade grade, enum queue_outcome *outcome, struct fault *fault);
int redis_give_back(struct redis *redis, const struct queue_lease *lease, enum queue_return how,
                    struct fault *fault);
int redis_count(struct redis *redis, struct queue_counts *counts, struct fault *fault);
int redis_status(struct redis *redis, struct queue_status *status, struct fault *fault);
int redis_read(struct redis *redis, struct queue_entries *entries, struct fault *fault);
int redis_remove(struct redis *redis, struct fault *fault);
