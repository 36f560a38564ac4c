/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Parameters of the methods around jobs, as plain data. job.submit and job.prepare take a struct
 * job (job.h). A read function returns 0, or -1 with the fault of `params` filled and nothing to
 * finish; an absent `params` counts as {}. A write function adds the members to the params that
 * rpc_request_begin() has opened.
 */
#ifndef PROTO_JOB_CALLS_H
#define PROTO_JOB_CALLS_H

#include <stdbool.h>
#include <stdint.h>

#include "proto/wire/job_info.h"
#include "proto/wire/job_ref.h"

/* Other memory for a prepared tensor. */
struct start_memory {
    bool has_buffer, has_offset;
    uint32_t buffer;
    uint64_t offset; /* bytes */
};

/* job.start */
struct job_start {
    uint32_t prepared;
    struct start_memory src, dst;
    bool has_priority;
    int32_t priority;    /* -1, 0, 1 */
    uint32_t timeout_ms; /* 0: none */
    bool detach;
    struct job_refs after;
};
int job_start_read(const struct json *params, struct job_start *start);
void job_start_finish(struct job_start *start);
void job_start_write(struct jsonw *w, const struct job_start *start);

/* job.wait */
struct job_wait {
    enum { JOB_WAIT_ONE, JOB_WAIT_SEVERAL, JOB_WAIT_ALL } what;
    struct job_refs jobs; /* one, several or none */
    uint32_t timeout_ms;  /* 0: as long as it takes */
};
int job_wait_read(const struct json *params, struct job_wait *wait);
void job_wait_finish(struct job_wait *wait);
void job_wait_write(struct jsonw *w, const struct job_wait *wait);

/* job.list */
enum { JOB_LIST_LIMIT = 100, JOB_LIST_LIMIT_MAX = 1000 };
struct job_list_query {
    uint32_t states; /* bit 1 << enum job_state; 0: all */
    uint64_t client; /* 0: all */
    char *name;      /* owned; null: all */
    uint64_t before; /* 0: from the latest on */
    uint32_t limit;
};
int job_list_query_read(const struct json *params, struct job_list_query *query);
void job_list_query_finish(struct job_list_query *query);
void job_list_query_write(struct jsonw *w, const struct job_list_query *query);

/** job.status, job.cancel: the one member "job". */
int job_ref_params_read(const struct json *params, struct job_ref *ref);

/** Methods whose only param is a number from 1: "prepared" (job.release), "buffer"
 *  (buffer.release). */
int number_param_read(const struct json *params, const char *key, uint32_t *number);

#endif /* PROTO_JOB_CALLS_H */
