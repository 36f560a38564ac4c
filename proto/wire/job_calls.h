/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The params of job.start, job.wait, job.list, job.status, job.cancel and job.release; job.h has
 * those of job.submit and job.prepare. A read function returns 0, or -1 with the fault of `params`
 * filled and nothing to finish; it reads absent params as {}. A write function writes the members
 * of the params after rpc_request_begin().
 */
#ifndef PROTO_JOB_CALLS_H
#define PROTO_JOB_CALLS_H

#include <stdbool.h>
#include <stdint.h>

#include "proto/wire/job_info.h"
#include "proto/wire/job_ref.h"

/* The memory of a tensor for one start of a prepared job. */
struct start_memory {
    bool has_buffer, has_offset;
    uint32_t buffer;
    uint64_t offset; /* bytes */
};

/* The params of job.start. */
struct job_start {
    uint32_t prepared;
    struct start_memory src, dst;
    bool has_priority;
    int32_t priority;    /* priority: -1, 0 or 1 */
    uint32_t timeout_ms; /* 0: no timeout */
    bool detach;
    struct job_refs after;
};
int job_start_read(const struct json *params, struct job_start *start);
void job_start_finish(struct job_start *start);
void job_start_write(struct jsonw *w, const struct job_start *start);

/* The params of job.wait. */
struct job_wait {
    enum { JOB_WAIT_ONE, JOB_WAIT_SEVERAL, JOB_WAIT_ALL } what;
    struct job_refs jobs; /* jobs to wait for; empty for JOB_WAIT_ALL */
    uint32_t timeout_ms;  /* 0: no timeout */
};
int job_wait_read(const struct json *params, struct job_wait *wait);
void job_wait_finish(struct job_wait *wait);
void job_wait_write(struct jsonw *w, const struct job_wait *wait);

/* The params of job.list. */
enum { JOB_LIST_LIMIT = 100, JOB_LIST_LIMIT_MAX = 1000 };
struct job_list_query {
    uint32_t states; /* states as bits 1 << enum job_state; 0: all states */
    uint64_t client; /* 0: all clients */
    char *name;      /* name of the jobs; owned; null: all names */
    uint64_t before; /* list only jobs with lower numbers; 0: all jobs */
    uint32_t limit;  /* maximum number of jobs */
};
int job_list_query_read(const struct json *params, struct job_list_query *query);
void job_list_query_finish(struct job_list_query *query);
void job_list_query_write(struct jsonw *w, const struct job_list_query *query);

/** Reads the params of job.status and job.cancel: the only member is "job". */
int job_ref_params_read(const struct json *params, struct job_ref *ref);

/** Reads params with a single member, a number from 1: "prepared" of job.release, "buffer" of
 *  buffer.release. */
int number_param_read(const struct json *params, const char *key, uint32_t *number);

#endif /* PROTO_JOB_CALLS_H */
