/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * State and description of a job, in job.status, job.list, job.wait and events. To add a member,
 * start here: add it to struct job_info, to job_info.c and to PROTOCOL.md.
 */
#ifndef PROTO_JOB_INFO_H
#define PROTO_JOB_INFO_H

#include <stdbool.h>
#include <stdint.h>

#include "proto/json/fault.h"
#include "proto/json/json.h"
#include "proto/json/jsonw.h"
#include "proto/wire/wire_limits.h"

/* X(name, word on the wire) */
#define JOB_STATE_TABLE(X)                                                                         \
    X(WAITING, "waiting")                                                                          \
    X(QUEUED, "queued")                                                                            \
    X(RUNNING, "running")                                                                          \
    X(DONE, "done")                                                                                \
    X(FAILED, "failed")                                                                            \
    X(CANCELLED, "cancelled")

enum job_state {
#define JOB_STATE_ENUM(name, word) JOB_STATE_##name,
    JOB_STATE_TABLE(JOB_STATE_ENUM)
#undef JOB_STATE_ENUM
        JOB_STATE_COUNT
};

/** Returns the name of a state. Static storage. */
const char *job_state_name(enum job_state state);
/** Reads the name of a job state. Returns 0, or -1 with a fault. */
int job_state_read(const struct json *value, enum job_state *state);

/** Read and write arrays of state names as bits 1 << enum job_state. */
int job_states_read(const struct json *array, uint32_t *states);
void job_states_write(struct jsonw *w, const char *key, uint32_t states);

static inline bool job_state_ended(enum job_state state)
{
    return state >= JOB_STATE_DONE;
}

/* The result of a detached job.submit and of job.cancel, and an item of job.wait's "jobs". */
struct job_brief {
    uint64_t job;
    enum job_state state;
};
void job_brief_write_members(struct jsonw *w, const struct job_brief *brief);
/** Reads a brief description. Returns 0 or -1 (fault); skips unknown members. */
int job_brief_read(const struct json *value, struct job_brief *brief);

struct job_info {
    uint64_t job;
    char name[PROTO_NAME_MAX + 1]; /* name of the job; empty: no name */
    enum job_state state;
    uint64_t client;
    uint32_t uid;
    int32_t priority;
    uint32_t channels;
    int32_t first_channel; /* first channel of the job; -1: not started */
    uint64_t bytes, bytes_done;
    bool detached;
    uint64_t ns_queued, ns_moving;
    const struct fault *error; /* null: no error. job_info_read() makes it point at `fault` */
    struct fault fault;        /* storage for the error; only job_info_read() fills it */
};

/** Writes the description as an object; `key` is null inside an array. */
void job_info_write(struct jsonw *w, const char *key, const struct job_info *info);
/** Writes only the members of the description, into the object that is open. */
void job_info_write_members(struct jsonw *w, const struct job_info *info);
/**
 * Reads a description. Returns 0 or -1 (fault); skips unknown members. Do not copy *info: `error`
 * may point into it.
 */
int job_info_read(const struct json *value, struct job_info *info);

#endif /* PROTO_JOB_INFO_H */
