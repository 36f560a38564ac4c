/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The registry of jobs, and the history: records of ended jobs, for job.wait, job.status, job.list
 * and "after".
 *
 * Each user has up to `limits.history` records, with up to HISTORY_QUANT_MAX bytes of per-axis
 * parameters. A record is delivered when the result was sent to a client; the record of a detached
 * job is undelivered until a job.wait reports it. At the limit, a new record replaces an old record
 * of the same user. If more than a quarter of the user's records are delivered, it replaces the
 * oldest delivered record, else the oldest undelivered one. So this quarter is never lost to
 * detached jobs for which nobody waits, and "after" finds the previous jobs in it. All users
 * together have up to HISTORY_SHARES times the limits of one user. Beyond that, the user with the
 * most records loses the oldest one. If users have equally many records, the user whose records
 * changed last loses one. Counts of 128 and more are equal if they differ by less than 1/64.
 *
 * The cost of adding and forgetting a record does not depend on the number of records.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "daemon/base/hash_table.h"
#include "daemon/base/link.h"
#include "daemon/job/user.h"
#include "proto/json/fault.h"
#include "proto/wire/job.h"

/*
 * The registry finds jobs by number and by name: tasks and records of ended jobs.
 * Both embed an entry. No call walks more than one chain of a hash table.
 */
struct entry {
    struct hash_node by_number;
    struct hash_node by_name; /* link in the table of names, if no later job has the name */
    struct link of_user;      /* link in the list user->entries */
    struct link of_all;       /* link in the list registry->entries */
    struct user *user;
    uint64_t number;
    uint64_t client;  /* number of the connection that submitted the job */
    const char *name; /* borrowed from the owner; null: no name */
    bool ended;       /* true: the entry is in a struct record; false: it is in a struct task */
};

struct registry {
    struct hash_table by_number, by_name;
    struct link entries; /* entries in the order of their numbers, like user->entries */
};

void registry_init(struct registry *registry);
/** Frees an empty registry. */
void registry_finish(struct registry *registry);

/**
 * Adds an entry. Its number must be higher than all numbers before. The name now finds this entry,
 * no longer an earlier entry of the same connection.
 */
void registry_add(struct registry *registry, struct entry *entry);
/** Replaces `from` by `to`, which must have the number, connection, user and name (or no name) of
 * `from`. */
void registry_replace(struct registry *registry, struct entry *from, struct entry *to);
/**
 * Removes an entry; does nothing if the entry is not in the registry. If registry_find_name() found
 * this entry by its name, it then finds none, because an earlier job of that name is another job.
 */
void registry_remove(struct registry *registry, struct entry *entry);
/** Makes registry_find_name() return null for this name, until an entry with that name is added. */
void registry_hide_name(struct registry *registry, uint64_t client, const char *name);

/** Returns the job with this number, or NULL. */
struct entry *registry_find(const struct registry *registry, uint64_t number);
/** Returns the latest job with this name and connection, or NULL. */
struct entry *registry_find_name(const struct registry *registry, uint64_t client,
                                 const char *name);

/* The history. */

enum {
    HISTORY_QUANT_MAX = 8 * 1024 * 1024, /* bytes of per-axis parameters of one user */
    HISTORY_QUANT_MIN = 4096,            /* minimum bytes counted for a record with parameters */
    HISTORY_SHARES = 16 /* all users together have at most 16 times the limit of one user */
};

/* The record of an ended job. Owns `result.dst.quant`. */
struct record {
    struct entry entry;           /* first */
    struct link in_all, in_heavy; /* links in lists of struct shelf, the records of one user */
    bool undelivered;             /* true: the job was detached, and no job.wait has reported it */
    bool refused;                 /* true: the job was refused, and there was no task */
    enum job_state state;         /* ended */
    int32_t priority;
    uint32_t channels;
    int32_t first_channel; /* first channel of the job; -1: the job was never started */
    bool detached;
    uint64_t bytes, bytes_done;
    uint64_t ns_queued, ns_moving;
    struct job_result result; /* result of the job, if the job is done */
    struct fault *fault;      /* fault, if the job is not done; null: no memory for a copy */
};

/*
 * Sorts shelves by an amount: the number or the bytes of their records. Each list has the shelves
 * whose amounts are nearly equal. List number i * HISTORY_STEPS + k begins with the amount
 * 2^i + k * 2^i / HISTORY_STEPS. A shelf whose amount changes moves to the end of a list.
 */
enum { HISTORY_RANKS = 24, HISTORY_STEP_BITS = 6, HISTORY_STEPS = 1 << HISTORY_STEP_BITS };

struct ranks {
    struct link lists[HISTORY_RANKS * HISTORY_STEPS];
};

struct history {
    struct registry *registry;
    uint32_t limit; /* largest number of records of a user */
    uint64_t count, quant_bytes;
    struct link shelves; /* list of the users' shelves that are not empty, by in_history */
    uint32_t shelf_count,
        to_check; /* to_check: number of shelves, from the first on, that may exceed the limit */
    struct ranks by_count, by_quant;
};

void history_init(struct history *history, struct registry *registry, uint32_t limit);
/** Forgets all records. */
void history_finish(struct history *history);
/**
 * Sets the limit of each user. Takes O(1) time: call history_trim() until it returns false to
 * forget the records beyond the limit.
 */
void history_set_limit(struct history *history, uint32_t limit);
/** Forgets one record or checks one user. Returns false when no record exceeds the limit. */
bool history_trim(struct history *history);

/**
 * Adds a record that is in the registry. Takes ownership, and holds the user of the record while
 * the record exists. Forgets a bounded number of other records to make space. With a limit of 0
 * forgets the new record too, so do not use the record after the call.
 */
void history_add(struct history *history, struct record *record);

/** Marks the record as delivered: a job.wait has reported it. */
void history_delivered(struct record *record);

/**
 * Creates a record of the job of `entry`; the record is in no registry yet. Copies the name and the
 * fault; `fault` is null for a job that is done. Returns NULL if out of memory.
 */
struct record *record_create(const struct entry *entry, const struct fault *fault);
void record_free(struct record *record);
/** Fills *info; its pointers point into the record. */
void record_info(const struct record *record, struct job_info *info);
