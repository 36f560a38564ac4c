/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Jobs that have ended, the latest `limits.history` of them: what job.wait, job.status and job.list
 * tell of them afterwards.
 */
#ifndef DAEMON_HISTORY_H
#define DAEMON_HISTORY_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "fault.h"
#include "job.h"
#include "job_info.h"
#include "registry.h"

struct task;

/* What is left of a job. `result.dst.quant` is owned. */
struct record {
    struct entry entry;
    uid_t uid;
    enum job_state state; /* ended */
    int32_t priority;
    uint32_t channels;
    int32_t first_channel; /* -1: it was never started */
    bool detached;
    uint64_t bytes, bytes_done;
    uint64_t ns_queued, ns_moving;
    struct job_result result; /* where it is done */
    struct fault *fault;      /* where it is not; null: memory was short for it */
};

struct history {
    struct registry *registry;
    struct record **ring; /* `capacity` of them, grown as needed up to `limit` */
    uint32_t capacity, limit;
    uint32_t first, count;
    uint64_t quant_bytes; /* of all results: they are not left to grow with the clients' tensors */
};

void history_init(struct history *history, struct registry *registry, uint32_t limit);
void history_finish(struct history *history);
/** A new limit; forgets the oldest beyond it. */
void history_set_limit(struct history *history, uint32_t limit);

/**
 * Takes a record over and enters it in the registry; the oldest may be forgotten for it. With a
 * limit of 0, or no memory, it is this one that is forgotten at once. Do not use it afterwards.
 */
void history_add(struct history *history, struct record *record);

/** The i-th record, the oldest being 0. */
const struct record *history_at(const struct history *history, uint32_t i);

void record_free(struct record *record);
/** *info borrows from the record. */
void record_info(const struct record *record, struct job_info *info);

#endif /* DAEMON_HISTORY_H */
